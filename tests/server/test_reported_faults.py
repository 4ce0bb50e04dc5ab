"""Faults that people reported of other products, each played through the real server: start, list, invoke, load by the
model, edit, reload, list and invoke again. Whatever the fault was about, nothing may crash, hang or disagree."""

import asyncio
import logging
import os
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from client.contract.skills import SkillListing, SkillsReload
from client.errors import ServerRefused
from client.http_client import HttpClient
from server_stub.build import skill_options
from server_stub.skills.resolve import resolve
from tests.support.case_changes import change, change_again
from tests.support.cases import Case, all_cases, needs_cases, serving, settings
from tests.support.server import ServerProcess
from tests.support.session import Session, plain_http

pytestmark = needs_cases

MANY = 4
"""Of very many skills so many are invoked."""

FOR_AN_ORDINARY_USER = frozenset({"D21", "L08"})
"""They take permissions away, which does not bind root."""

ALIKE = frozenset({"C16", "G04"})
"""Two thousand small skills once more; the app is opened on them."""

ELSEWHERE = {
    **dict.fromkeys(("completion_first", "enter_runs", "completion_order", "one_row_each", "min_rows_visible"), "app"),
    **dict.fromkeys(("can_reveal", "tab_result", "single_enter_runs", "popup_closed_after_space", "popup"), "app"),
    **dict.fromkeys(("empty_message", "draft_kept", "inserted", "sent", "help_text_in_both", "lit_row_runs"), "app"),
    **dict.fromkeys(("suggests", "no_model_turn", "builtin_wins", "note_for", "tui_alive", "screen_contains"), "app"),
    **dict.fromkeys(("palette_single_row", "type_slash_survives", "no_control_chars_on_screen"), "app"),
    **dict.fromkeys(("history_recall", "model_requests_delta", "visible_outcome", "old_palette_kept"), "app"),
    **dict.fromkeys(("menu_never_empty", "raw_output_lacks"), "app"),
    **dict.fromkeys(("key_echo_ms_max", "open_seconds_max", "key_seconds_max", "reload_seconds_max"), "measured"),
    **dict.fromkeys(("max_seconds", "max_rss_growth_mb"), "measured"),
    **dict.fromkeys(("wrapper_intact", "no_contradictory_refusal", "text_unchanged_or_expanded"), "own input"),
    **dict.fromkeys(("reload_refused_while", "permission_prompt_still_shown"), "own input"),
    "decide": "a decision of ours; the docs say it, and the other keys of the case hold it to it",
}
"""Keys that this page does not judge: they are about the screen, about time, or their input is prose."""

LATER = {
    "final_absent": "skills cannot be disabled",
}
"""Keys of a capability that this server does not have."""

NOT_HERE = {
    ("L23", "final_invoke"): "sessions do not outlive their server",
    ("I27", "never_sent"): "about a command that is typed before the app has a list",
    ("I30", "never_sent"): "about Enter on a bare slash; the play itself invokes the skill",
}
"""Single expectations that say nothing of this play."""


@dataclass
class Play:
    """One case while it is played, and everything that was seen."""

    case: Case
    root: Path
    http: httpx.AsyncClient
    session: Session
    listings: list[SkillListing] = field(default_factory=list)
    """One before the reload, one after it, one after the second."""
    reports: list[SkillsReload | ServerRefused] = field(default_factory=list)
    sizes: set[int] = field(default_factory=set)
    """How many skills a list held that was asked for during a reload."""
    wire: list[bytes] = field(default_factory=list)
    """Every answer that was given about skills."""

    @property
    def expect(self) -> dict[str, Any]:
        return self.case.expect

    @property
    def names(self) -> list[str]:
        return names_of(self.listings[-1])

    async def look(self) -> None:
        """List everything, and see that all lists agree."""
        base = f"/v1/sessions/{self.session.session_id}"
        places = [f"/v1/{noun}?session_id={self.session.session_id}" for noun in ("skills", "commands")]
        answers = [await self.http.get(place) for place in [*places, f"{base}/expansions"]]
        assert [answer.status_code for answer in answers] == [200] * 3
        self.wire += [answer.content for answer in answers]
        listing, commands, expansions = (answer.json() for answer in answers)
        rows = {row["name"]: row for row in listing.get("skills", []) if row.get("in_inventory")}
        offered = [row["name"] for row in commands.get("commands", [])]
        assert len(rows) == len([row for row in listing.get("skills", []) if row.get("in_inventory")])
        assert offered == [row["name"] for row in expansions.get("expansions", [])]
        assert set(offered) == {name for name, row in rows.items() if row.get("user_invocable")}
        assert offered == sorted(offered)
        assert len(offered) == len(set(offered))
        # A description may have lines where there is a page for it; in the palette it is one.
        harmless(
            {
                **listing,
                "skills": [{**row, "description": row["description"].replace("\n", "")} for row in rows.values()],
            }
        )
        harmless(commands)
        self.listings.append(await self.session.client.skills(self.session.session_id))

    async def invoke(self) -> None:
        """Run what is listed, for the person and by the model: both are given the text that the owner is shown."""
        session, client = self.session, self.session.client
        has_tool = bool(await tools_of(self))
        listed = {row.name: row for row in self.listings[-1].skills if row.in_inventory}
        for name in list(listed)[:MANY]:
            detail = await client.skill(session.session_id, name)
            body = detail.body.strip("\n")
            if listed[name].user_invocable:
                assert (await session.typed(f"/{name}")).startswith(body.partition("$ARGUMENTS")[0])
            if listed[name].model_invocable and has_tool:
                told = await session.load(name)
                assert not told.is_error
                assert body[:1000] in told.content

    async def reload(self) -> None:
        """Reload, where it matters asking for the list all the while; the conversation stays as it is."""
        client, session_id = self.session.client, self.session.session_id
        before = await self.conversation()
        work = asyncio.create_task(client.reload_skills(session_id))
        while "sizes_allowed" in self.expect and not work.done():
            self.sizes.add(len(names_of(await client.skills(session_id))))
        try:
            self.reports.append(await work)
        except ServerRefused as refused:
            self.reports.append(refused)
        assert await self.conversation() == before

    async def conversation(self) -> list[object]:
        """What no reload may touch."""
        client, session_id = self.session.client, self.session.session_id
        row = (await client.session(session_id)).model_copy(update={"skills_generation": 0})
        return [row, await client.transcript(session_id)]

    @property
    def diagnosed(self) -> set[str]:
        """Every name that something a person can see speaks of."""
        names: set[str] = set()
        for listing in self.listings:
            names |= {row.name for row in (*listing.skipped, *listing.near_misses, *listing.shadowed)}
            names |= {row.name for row in listing.skills if row.warnings}
        return names

    @property
    def shown(self) -> str:
        """All that the model was ever shown in this play."""
        record = self.root / "record.jsonl"
        return record.read_text() if record.exists() else ""


def names_of(listing: SkillListing) -> list[str]:
    return [row.name for row in listing.skills if row.in_inventory]


def harmless(told: Any) -> None:
    """No text that is listed holds what a terminal would obey or a line break."""
    if isinstance(told, dict):
        harmless(list(told.values()))
    elif isinstance(told, list):
        for one in told:
            harmless(one)
    elif isinstance(told, str):
        assert not [c for c in told if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}], told
        assert not set(told) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069"), told


async def check_listed(play: Play, wanted: list[str]) -> None:
    assert set(wanted) <= set(names_of(play.listings[0]))


async def check_listed_nfc(play: Play, wanted: list[str]) -> None:
    await check_listed(play, [unicodedata.normalize("NFC", name) for name in wanted])


async def check_absent(play: Play, unwanted: list[str]) -> None:
    for listing in play.listings:
        assert not set(unwanted) & set(names_of(listing))


async def check_diagnosed(play: Play, wanted: list[str]) -> None:
    # A skill that bears the name of a builtin is pointed out by the app, which alone knows its builtins.
    assert set(wanted) - {"help", "quit", "clear", "reload-skills"} <= play.diagnosed


async def check_unwarned(play: Play, wanted: list[str]) -> None:
    assert not set(wanted) & play.diagnosed


async def check_each(play: Play, wanted: list[str]) -> None:
    assert set(wanted) <= play.diagnosed | set(play.names)


async def check_description(play: Play, wanted: dict[str, str]) -> None:
    told = {row.name: row.description for row in play.listings[0].skills}
    assert {name: told.get(name) for name in wanted} == wanted


async def check_parts(play: Play, wanted: dict[str, list[str]]) -> None:
    told = {row.name: row.description for row in play.listings[0].skills}
    assert [part for name, parts in wanted.items() for part in parts if part not in told[name]] == []


async def check_invoked(play: Play, wanted: list[dict[str, Any]]) -> None:
    for one in wanted:
        sent = await play.session.typed(one["text"])
        assert [part for part in one.get("contains", []) if part not in sent] == []
        assert [part for part in one.get("not_contains", []) if part in sent] == []


async def check_verbatim(play: Play, texts: list[str]) -> None:
    assert [await play.session.typed(text) for text in texts] == texts


async def check_not_offered(play: Play, names: list[str]) -> None:
    assert not set(names) & (await play.session.palette()).keys()


async def check_told_to_the_model(play: Play, names: list[str]) -> None:
    tools = await tools_of(play)
    assert [name for name in names if tools.count(f"- {name}: ") != 1] == []


async def check_number(play: Play, wanted: int) -> None:
    assert len(await play.session.palette()) == wanted


async def check_told_of_the_budget(play: Play, _: object) -> None:
    (notice,) = play.listings[0].notices
    shortened = sum(not row.description_stale for row in play.listings[0].skills)
    assert f"it shortens {shortened} descriptions" in notice
    tools = await tools_of(play)
    assert [name for name in play.names if f"- {name}: " not in tools] == []


async def check_round_trip(play: Play, _: object) -> None:
    assert await play.session.typed("good morning") == "good morning"


async def check_title(play: Play, unwanted: list[str]) -> None:
    fresh = await Session.begin(play.session.client, play.root / "record.jsonl")
    await fresh.send("/plain-skill fix it")
    title = (await play.session.client.session(fresh.session_id)).title_metadata.title
    assert title == "/plain-skill fix it"
    assert not [part for part in unwanted if part in title]


async def check_either(play: Play, alternatives: list[dict[str, Any]]) -> None:
    failures = []
    for alternative in alternatives:
        try:
            await judge(play, alternative, AT_START)
        except AssertionError as failure:
            failures.append(failure)
        else:
            return
    raise AssertionError(failures)


async def check_reloaded(play: Play, _: object) -> None:
    assert [report for report in play.reports if isinstance(report, ServerRefused)] == []


async def check_reload_failed(play: Play, _: object) -> None:
    refused, later = play.reports
    assert isinstance(refused, ServerRefused)
    assert (refused.status, "user" in refused.error, "/" in refused.error) == (503, True, False)
    assert isinstance(later, SkillsReload)


async def check_report(play: Play, wanted: dict[str, int]) -> None:
    assert isinstance(play.reports[0], SkillsReload)
    assert {name: getattr(play.reports[0], name) for name in wanted} == wanted


async def check_listed_after(play: Play, wanted: list[str]) -> None:
    assert set(wanted) <= set(names_of(play.listings[1]))


async def check_absent_after(play: Play, unwanted: list[str]) -> None:
    assert not set(unwanted) & set(names_of(play.listings[1]))


async def check_palette_says(play: Play, wanted: dict[str, str]) -> None:
    assert (await play.session.palette()) | wanted == await play.session.palette()


async def check_sizes(play: Play, allowed: list[int]) -> None:
    assert play.sizes <= set(allowed)


async def check_no_diagnostics(play: Play, wanted: int) -> None:
    assert len(play.diagnosed) == wanted


async def check_final(play: Play, wanted: list[str]) -> None:
    assert set(wanted) <= set(play.names)


async def check_invoked_after_clear(play: Play, wanted: list[dict[str, Any]]) -> None:
    fresh = await play.session.clear()
    for one in wanted:
        sent = await fresh.typed(one["text"])
        assert [part for part in one["contains"] if part not in sent] == []


async def check_told_after_clear(play: Play, names: list[str]) -> None:
    fresh = await play.session.clear()
    await fresh.send("good morning")
    assert [name for name in names if fresh.shown[0].tools.count(f"- {name}: ") != 1] == []


async def check_never_sent(play: Play, secrets: list[str]) -> None:
    assert [secret for secret in secrets if secret in play.shown or secret.encode() in b"".join(play.wire)] == []


async def check_wire(play: Play, unwanted: list[str]) -> None:
    assert [part for part in unwanted if part.encode() in b"".join(play.wire)] == []


def project(folder: str) -> Callable[[Play, list[str]], Awaitable[None]]:
    async def check(play: Play, wanted: list[str]) -> None:
        """A server for a project of its own, reloaded, lists its own skills and the person's."""
        async with in_process(play.case, play.root, play.root / folder) as (client, _):
            session = await Session.begin(client, play.root / "record.jsonl")
            assert sorted(await session.palette()) == wanted
            await session.reload()
            assert sorted(await session.palette()) == wanted

    return check


async def holds_anyway(play: Play, _: object) -> None:
    """Held for every case by `Play` or `sound`."""


Check = Callable[[Play, Any], Awaitable[None]]

AT_START: dict[str, Check] = {
    "listed": check_listed,
    "listed_nfc": check_listed_nfc,
    "absent": check_absent,
    "each_listed_or_diagnosed": check_each,
    "no_warning_for": check_unwarned,
    "warning_for": check_diagnosed,
    "either": check_either,
    "any_of": check_either,
    "description": check_description,
    "description_contains": check_parts,
    "invoke": check_invoked,
    "sent_verbatim": check_verbatim,
    "not_in_palette": check_not_offered,
    "palette_count": check_number,
    "tool_spec_has": check_told_to_the_model,
    "listing_in_request": check_told_to_the_model,
    "times": holds_anyway,
    "message_roundtrip": check_round_trip,
    "budget_notice": check_told_of_the_budget,
    "title_not_contains": check_title,
    "session_a": project("project-a"),
    "session_b": project("project-b"),
}
AFTER_RELOAD: dict[str, Check] = {
    "diagnostic_for": check_diagnosed,
    "absent": check_absent,
    "reload_ok": check_reloaded,
    "reload_report": check_report,
    "after_reload_listed": check_listed_after,
    "after_reload": check_listed_after,
    "after_reload_absent": check_absent_after,
    "after_reload_invoke": check_invoked,
    "palette_contains": check_palette_says,
    "sizes_allowed": check_sizes,
    "diagnostics": check_no_diagnostics,
}
AT_THE_END: dict[str, Check] = {
    "reload_fails": check_reload_failed,
    "final_listed": check_final,
    "final_invoke": check_invoked,
    "after_clear_invoke": check_invoked_after_clear,
    "listing_in_first_request": check_told_after_clear,
    "never_sent": check_never_sent,
    "wire_lacks": check_wire,
}
HELD_FOR_EVERY_CASE = {
    "tool_spec_identical",
    "prefix_identical",
    "prompt_size_stable",
    "session_preserved",
    "no_duplicates",
    "order_stable",
    "stable_over_reloads",
    "surfaces_agree",
    "palette_rows_invocable",
    "catalogue_well_formed",
    "no_broken_graphemes",
    "counts_equal_list",
    "list_never_empty",
    "final_matches_disk",
}


async def tools_of(play: Play) -> str:
    view = await play.session.client.model_view(play.session.session_id)
    return "\n".join(tool.description for tool in view.tools)


async def judge(play: Play, expect: dict[str, Any], checks: dict[str, Check]) -> None:
    for key, wanted in expect.items():
        if key in checks and (play.case.case_id, key) not in NOT_HERE:
            await checks[key](play, wanted)


def sound(play: Play) -> None:
    """What holds whatever is played: the model's tools and all that it was shown before stay, byte for byte."""
    shown = play.session.shown
    assert len({request.tools for request in shown}) <= 1
    for earlier, later in pairwise(shown):
        assert later.body.startswith(earlier.body.removesuffix("]}"))
    report, listing = play.reports[-1], play.listings[-1]
    assert isinstance(report, SkillsReload)
    assert (report.skills, report.skipped) == (len(play.names), len(listing.skipped))
    assert not [answer for answer in play.wire if str(play.root).encode() in answer]


@asynccontextmanager
async def in_process(case: Case, root: Path, workspace: Path | None = None) -> AsyncIterator[tuple[HttpClient, str]]:
    async with serving(case, root, workspace) as address, HttpClient.connect(address) as client:
        yield client, address


@asynccontextmanager
async def as_nobody(root: Path) -> AsyncIterator[tuple[HttpClient, str]]:
    """The real server as a process of an ordinary user."""
    with ServerProcess.start(root, "--trust-project", as_nobody=True) as server:
        async with HttpClient.connect(server.address) as client:
            yield client, server.address
        assert "Traceback" not in server.log


@asynccontextmanager
async def played(case: Case, root: Path) -> AsyncIterator[Play]:
    binding = case.case_id in FOR_AN_ORDINARY_USER
    started = as_nobody(root) if binding else in_process(case, root)
    async with started as (client, address), plain_http(address) as http:
        yield Play(case, root, http, await Session.begin(client, root / "record.jsonl"))


@pytest.fixture
def ground(open_ground: Path) -> Iterator[Path]:
    """A root whose permissions are opened again at the end."""
    yield open_ground
    for folder, _, _ in os.walk(open_ground):
        Path(folder).chmod(0o755)


@pytest.mark.parametrize(
    "case", [case for case in all_cases() if case.case_id not in ALIKE], ids=lambda case: case.case_id
)
async def test_fault_is_not_ours(case: Case, ground: Path, caplog: pytest.LogCaptureFixture) -> None:
    case.lay_out(ground)
    async with played(case, ground) as play:
        await play.look()
        await judge(play, case.expect, AT_START)
        await play.invoke()
        change(case.case_id, ground)
        await play.reload()
        await play.look()
        await judge(play, case.expect, AFTER_RELOAD)
        change_again(case.case_id, ground)
        await play.reload()
        await play.look()
        if case.area in {"reload", "session"}:
            await play.invoke()
        await judge(play, case.expect, AT_THE_END)
        sound(play)
        if case.case_id not in FOR_AN_ORDINARY_USER:
            on_disk = resolve(skill_options(settings(case, ground))).snapshot
            assert play.names == [skill.name for skill in on_disk.skills]
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_every_key_is_judged_or_excused() -> None:
    keys = {key for case in all_cases() for key in case.expect}
    assert keys - {*AT_START, *AFTER_RELOAD, *AT_THE_END, *HELD_FOR_EVERY_CASE, *ELSEWHERE, *LATER} == set()
