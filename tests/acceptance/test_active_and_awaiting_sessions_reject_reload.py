"""An active or awaiting session rejects a reload with a stable failed precondition; nothing is swapped or closed."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from client.contract.approvals import Verdict
from client.contract.errors import ErrorCode, RefusalReason
from client.contract.events import Event, MessageDelta, PermissionAsked, RunEnded, SessionInit, SkillsReloaded, Stop
from client.contract.sessions import SessionState
from client.errors import ServerRefused
from tests.acceptance.stage import Stage, staged
from tests.support.script import ask, rule, say, wait_for


class Watching:
    """A prompt whose events are read one by one while the test does other things."""

    def __init__(self, stage: Stage, session_id: str, text: str) -> None:
        self._events = stage.client.prompt(session_id, text)

    async def until(self, kind: type[Event]) -> Event:
        async for event in self._events:
            if isinstance(event, kind):
                return event
        raise AssertionError(f"no {kind.__name__} came")

    async def __aenter__(self) -> "Watching":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._events.aclose()


async def _refused(stage: Stage, session_id: str) -> ServerRefused:
    with pytest.raises(ServerRefused) as refused:
        await stage.client.reload_skills(session_id)
    return refused.value


async def test_a_running_session_is_not_reloaded(tmp_path: Path) -> None:
    go = tmp_path / "go"
    slow = rule("slow", [say("begun"), wait_for(go), say("ended")])
    async with staged(tmp_path, rules=[slow], alpha="V1") as stage:
        a = await stage.session()
        stage.write("alpha", "V2")
        async with Watching(stage, a, "slow") as run:
            begun = await run.until(SessionInit)
            await run.until(MessageDelta)
            before = await stage.client.expansions(a), await stage.client.skills(a)
            for _ in range(2):
                refusal = await _refused(stage, a)
                assert (refusal.status, refusal.code) == (412, ErrorCode.FAILED_PRECONDITION)
                assert refusal.reason is RefusalReason.SESSION_RUNNING
                assert isinstance(begun, SessionInit)
                assert refusal.run_id == begun.run_id
            assert (await stage.client.expansions(a), await stage.client.skills(a)) == before
            assert (await stage.client.session(a)).state is SessionState.RUNNING
            go.touch()
            assert isinstance(await run.until(RunEnded), RunEnded)
        assert await stage.expands(a, "/alpha") == "V1"
        assert (await stage.client.reload_skills(a)).changed == 1
        assert await stage.expands(a, "/alpha") == "V2"


async def test_an_awaiting_session_is_not_reloaded_and_its_ask_can_still_be_answered(tmp_path: Path) -> None:
    careful = rule("careful", [ask("paint")], [say("painted")])
    async with staged(tmp_path, rules=[careful], alpha="V1") as stage:
        a = await stage.session()
        stage.write("alpha", "V2")
        async with Watching(stage, a, "careful") as run:
            asked = await run.until(PermissionAsked)
            assert isinstance(asked, PermissionAsked)
            refusal = await _refused(stage, a)
            assert (refusal.status, refusal.code) == (412, ErrorCode.FAILED_PRECONDITION)
            assert refusal.reason is RefusalReason.SESSION_AWAITING
            assert refusal.ask_id == asked.ask.ask_id
            assert (await stage.client.session(a)).state is SessionState.AWAITING
            assert (await stage.client.session(a)).skills_generation == 1
            await stage.client.approve(a, asked.ask.ask_id, Verdict.ALLOW_ONCE)
            ended = await run.until(RunEnded)
            assert isinstance(ended, RunEnded)
            assert (ended.result.stop, ended.result.text) == (Stop.END_TURN, "painted")
        assert await stage.expands(a, "/alpha") == "V1"


async def test_a_refused_reload_is_not_queued(tmp_path: Path) -> None:
    go = tmp_path / "go"
    async with staged(tmp_path, rules=[rule("slow", [wait_for(go), say("ended")])], alpha="V1") as stage:
        a = await stage.session()
        async with Watching(stage, a, "slow") as run:
            await run.until(SessionInit)
            stage.write("alpha", "V2")
            await _refused(stage, a)
            go.touch()
            await run.until(RunEnded)
        assert await stage.expands(a, "/alpha") == "V1"
        assert (await stage.client.session(a)).skills_generation == 1


async def test_every_inactive_state_can_be_reloaded_and_stays_as_it_is(tmp_path: Path) -> None:
    go = tmp_path / "never"
    rules = [rule("fail", [{"fail": "the provider said no"}]), rule("hang", [say("x"), wait_for(go)])]
    async with staged(tmp_path, rules=rules, alpha="V1") as stage:
        idle, completed, failed, cancelled = [await stage.session() for _ in range(4)]
        await stage.run(completed, "hello")
        await stage.run(failed, "fail")
        async with Watching(stage, cancelled, "hang") as run:
            await run.until(MessageDelta)
            await stage.client.cancel(cancelled)
        wanted = {
            idle: SessionState.IDLE,
            completed: SessionState.COMPLETED,
            failed: SessionState.FAILED,
            cancelled: SessionState.CANCELLED,
        }
        for session_id, state in wanted.items():
            before = await stage.client.session(session_id)
            assert before.state is state
            transcript = await stage.client.transcript(session_id)
            await stage.client.reload_skills(session_id)
            after = await stage.client.session(session_id)
            assert after == before.model_copy(update={"skills_generation": 2})
            assert await stage.client.transcript(session_id) == transcript


async def test_one_reload_at_a_time(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="V1") as stage:
        a = await stage.session()
        answers = await asyncio.gather(*(stage.client.reload_skills(a) for _ in range(20)), return_exceptions=True)
        refused = [answer for answer in answers if isinstance(answer, ServerRefused)]
        assert {refusal.reason for refusal in refused} <= {RefusalReason.RELOAD_IN_FLIGHT}
        assert {refusal.status for refusal in refused} <= {412}
        done = len(answers) - len(refused)
        assert done >= 1
        assert (await stage.client.session(a)).skills_generation == 1 + done


async def test_absent_and_malformed_requests_are_told_apart_from_refusals(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="V1") as stage:
        with pytest.raises(ServerRefused) as absent:
            await stage.client.reload_skills("0" * 32)
        assert (absent.value.status, absent.value.code) == (404, ErrorCode.SESSION_NOT_FOUND)


async def test_whoever_watches_the_session_is_told_once_and_no_replay_tells_it_again(tmp_path: Path) -> None:
    async with staged(tmp_path, alpha="V1") as stage:
        a = await stage.session()
        await stage.run(a, "hello")
        async with aclosing(stage.client.watch(a)) as events:
            async for watched in events:
                if isinstance(watched.event, RunEnded):
                    await stage.client.reload_skills(a)
                if isinstance(watched.event, SkillsReloaded):
                    assert watched.event.generation == 2
                    break
        await stage.run(a, "again")
        async with aclosing(stage.client.watch(a)) as events:
            seen = []
            async for watched in events:
                seen.append(watched.event)
                if sum(isinstance(event, RunEnded) for event in seen) == 2:
                    break
        assert not [event for event in seen if isinstance(event, SkillsReloaded)]
