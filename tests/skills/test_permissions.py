import os
import resource
from pathlib import Path

from server_stub.skills.diagnostic import SourceFault
from tests.skills.folders import options, put, resolved
from tests.skills.ordinary import as_ordinary_user


def test_unreadable_skills_are_reported_as_unreadable_and_the_others_load(open_ground: Path) -> None:
    root = open_ground / "skills"
    put(root, "good")
    put(root, "locked-dir").parent.chmod(0)
    put(root, "locked-file").chmod(0)
    (root / "locked-collection").mkdir(mode=0)

    def listed() -> str:
        resolution = resolved(open_ground, root, conventional=False)
        skips = [(skip.name, skip.code.value, "permission" in skip.reason) for skip in resolution.snapshot.skipped]
        return repr(([skill.name for skill in resolution.snapshot.skills], skips, resolution.faults))

    unreadable = [(name, "unreadable", True) for name in ("locked-collection", "locked-dir", "locked-file")]
    assert as_ordinary_user(listed) == repr((["good"], unreadable, ()))


def test_folder_that_may_be_entered_but_not_listed_is_reported(open_ground: Path) -> None:
    root = open_ground / "skills"
    put(root / "collection", "inner")
    (root / "collection").chmod(0o111)

    def listed() -> str:
        snapshot = resolved(open_ground, root, conventional=False).snapshot
        return repr([(skip.name, skip.code.value) for skip in snapshot.skipped])

    assert as_ordinary_user(listed) == repr([("collection", "unreadable")])


def test_root_that_may_not_be_listed_is_a_fault(open_ground: Path) -> None:
    put(open_ground / "skills", "good")
    put(open_ground / "others", "other")
    (open_ground / "skills").chmod(0)

    def faults() -> str:
        resolution = resolved(open_ground, open_ground / "skills", open_ground / "others", conventional=False)
        return repr((resolution.faults, [skill.name for skill in resolution.snapshot.skills]))

    fault = SourceFault("explicit", "the skills folder `skills`", "cannot be listed: permission denied")
    assert as_ordinary_user(faults).replace("<Tier.EXPLICIT: 'explicit'>", "'explicit'") == repr(((fault,), ["other"]))


def test_running_out_of_descriptors_is_a_fault_and_no_skill_vanishes_silently(open_ground: Path) -> None:
    put(open_ground / "skills", "good")
    decided = options(open_ground, open_ground / "skills", conventional=False)

    def faults() -> str:
        from server_stub.skills.resolve import resolve

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        lowest = os.dup(0)
        os.close(lowest)
        answers = []
        for spare in (0, 1):
            resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + spare, hard))
            answers.append([fault.reason for fault in resolve(decided).faults])
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return repr(answers)

    assert as_ordinary_user(faults) == repr(
        [["cannot be listed: too many open files"], ["cannot be read: too many open files"]]
    )


def test_trust_file_that_may_not_be_read_means_untrusted(open_ground: Path) -> None:
    put(open_ground / "project" / ".agents" / "skills", "theirs")
    trust_file = open_ground / "state" / "trust.json"
    trust_file.parent.mkdir()
    trust_file.write_text(f'{{"version": 1, "trusted": ["{open_ground}/project"]}}')
    trust_file.chmod(0)

    def snapshot() -> str:
        found = resolved(open_ground, trust_project=False).snapshot
        return repr((found.skills, found.withheld, len(found.notices)))

    assert as_ordinary_user(snapshot) == repr(((), 1, 1))
