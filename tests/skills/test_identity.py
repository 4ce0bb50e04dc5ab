import pytest

from tests.skills.folders import codes, front, loaded, parsed


@pytest.mark.parametrize(
    ("declared", "folder", "identity", "warned"),
    [
        ("tidy", "tidy", "tidy", set()),
        ("vendor-tidy", "tidy", "vendor-tidy", {"name_differs"}),
        ("Data_Cleaner", "Data_Cleaner", "Data_Cleaner", {"name_unusual"}),
        ("__demo", "__demo", "__demo", {"name_unusual"}),
        ("vendor::list-maker", "list-maker", "vendor::list-maker", {"name_differs", "name_unusual"}),
        ("yes", "tidy", "yes", {"name_differs"}),
        ("2026-01-02", "tidy", "2026-01-02", {"name_differs"}),
        ("~", "tidy", "tidy", {"name_missing"}),
        ("[a, b]", "tidy", "a-b", {"name_differs", "name_rewritten", "value_as_text"}),
        ("virtual/ios", "ios", "virtual-ios", {"name_differs", "name_rewritten"}),
        ('"foo\\" inject=\'bad\'"', "foo", "foo-inject-bad", {"name_differs", "name_rewritten"}),
        ("'<x>'", "x", "x", {"name_differs", "name_rewritten"}),
        ("'..'", "tidy", "tidy", {"name_differs", "name_rewritten"}),
        ("\u4f1a\u8bae\u7eaa\u8981", "\u4f1a\u8bae\u7eaa\u8981", "\u4f1a\u8bae\u7eaa\u8981", set()),
        ("cafe\u0301", "caf\u00e9", "caf\u00e9", set()),
        ("\u0939\u093f\u0928\u094d\u0926\u0940", "x", "\u0939\u093f\u0928\u094d\u0926\u0940", {"name_differs"}),
        ("x" * 65, "x" * 65, "x" * 65, {"name_long"}),
    ],
)
def test_identity_is_the_declared_name_or_its_slug(declared: str, folder: str, identity: str, warned: set[str]) -> None:
    skill = loaded(front(f"name: {declared}", "description: x"), folder)
    assert (skill.name, codes(skill)) == (identity, warned)


def test_declared_name_stays_visible_when_it_is_rewritten() -> None:
    assert loaded(front("name: virtual/ios", "description: x")).declared_name == "virtual/ios"


@pytest.mark.parametrize("name", ["'!!!'", "x" * 2000])
def test_skill_is_skipped_when_nothing_of_its_name_can_be_typed(name: str) -> None:
    outcome = parsed(front(f"name: {name}", "description: x"), "---")
    assert getattr(outcome, "code", "") == "unusable_name"
