"""The offline model: the same answer every time, what a cache would have held, a record of what it was shown."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest

from server_stub.engine.conversation import AssistantMessage, Message, ToolMessage, ToolRequest, UserMessage
from server_stub.engine.models.model import ModelEvent, ModelFailed, ModelRequest, ReasoningPart, TextPart, TurnDone
from server_stub.engine.models.offline import OfflineModel
from server_stub.engine.models.recorder import Recorder, RecordUnusable, body_of
from server_stub.engine.models.script import Script
from tests.support.script import Step, ask, call, fail, pause, rule, say, think, wait_for, write_script

LAST = "\n\nThis is the offline model: it reports what it was given and does no more."


def request(*messages: Message | str, session: str = "s", tools: bytes = b"[]") -> ModelRequest:
    shown = tuple(UserMessage(one, one) if isinstance(one, str) else one for one in messages)
    return ModelRequest(session, 1, tools, "system", shown)


async def events(model: OfflineModel, *messages: Message | str, session: str = "s") -> list[ModelEvent]:
    return [event async for event in model.stream(request(*messages, session=session))]


async def text(model: OfflineModel, *messages: Message | str) -> str:
    return "".join(event.text for event in await events(model, *messages) if isinstance(event, TextPart))


async def usage(model: OfflineModel, *messages: Message | str, session: str = "s") -> TurnDone:
    *_, last = await events(model, *messages, session=session)
    assert isinstance(last, TurnDone)
    return last


def scripted(folder: Path, *turns: list[Step]) -> OfflineModel:
    return OfflineModel(Script.read(write_script(folder / "script.json", rule("", *turns))))


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        (("hällo",), "- Your message has 6 bytes."),
        (("# Title\nx",), "- Your message has 9 bytes."),
        (
            (UserMessage("# Review\n\nLook.", "/review `x`"),),
            "- `/review` became a text of 15 bytes, first heading `Review`.",
        ),
        ((UserMessage("no heading #x", "/a"),), "- `/a` became a text of 13 bytes, without a heading."),
        ((UserMessage("x\n\n###### Deep `code`  \n# Second", "/a"),), "first heading `Deep 'code'`."),
        ((UserMessage("x" * 1234, "/a"),), "1,234 bytes"),
        ((UserMessage("# " + "h" * 200, "/a"),), f"first heading `{'h' * 80}`."),
    ],
)
async def test_answer_tells_what_was_given(messages: tuple[Message | str, ...], said: str) -> None:
    told = await text(OfflineModel(), *messages)
    assert said in told
    assert told.endswith(LAST)
    assert told == await text(OfflineModel(), *messages)


async def test_answer_tells_of_each_result_since_the_message() -> None:
    asked = ToolRequest("1", "Skill", {"name": "review"}), ToolRequest("2", "Skill", {}), ToolRequest("3", "Do", {})
    told = await text(
        OfflineModel(),
        "earlier",
        AssistantMessage("", "", (ToolRequest("0", "Skill", {"name": "old"}),)),
        ToolMessage("0", "# Old"),
        "now",
        AssistantMessage("", "", asked),
        ToolMessage("1", "Skill: review\n\n# Review\n"),
        ToolMessage("2", "{}", is_error=True),
        ToolMessage("3", ""),
    )
    assert told.removesuffix(LAST).splitlines() == [
        "- Your message has 3 bytes.",
        "- `Skill review` gave a text of 24 bytes, first heading `Review`.",
        "- `Skill` gave an error of 2 bytes, without a heading.",
        "- `Do` gave a text of 0 bytes, without a heading.",
    ]


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("use the skill review", "review"),
        ("Please LOAD skill `größe`, then go on", "größe"),
        ("run skill 'a.b:c'.", "a.b:c"),
        ("call the skill \u201creview\u201d", "\u201creview\u201d"),
    ],
)
async def test_skill_that_a_person_names_is_called_once(typed: str, name: str) -> None:
    first = await events(OfflineModel(), typed)
    assert [event.args for event in first if isinstance(event, ToolRequest)] == [{"name": name}]
    (asked,) = (event for event in first if isinstance(event, ToolRequest))
    after = await events(OfflineModel(), typed, AssistantMessage("", "", (asked,)), ToolMessage(asked.call_id, "x"))
    assert not [event for event in after if isinstance(event, ToolRequest)]


@pytest.mark.parametrize("typed", ["reuse the skill x", "the skill review", "use skill", "useskill x"])
async def test_other_sentences_call_nothing(typed: str) -> None:
    assert not [event for event in await events(OfflineModel(), typed) if isinstance(event, ToolRequest)]


async def test_script_is_played_in_order_with_ids_of_their_own(tmp_path: Path) -> None:
    steps = [think("hm"), say("abcde", chunk=2), call("Absent", x=1), ask("rm"), say(""), pause(0)]
    model = scripted(tmp_path, steps, [call("Skill", name="a")])
    first = await events(model, "go")
    assert first[:-1] == [
        ReasoningPart("hm"),
        TextPart("ab"),
        TextPart("cd"),
        TextPart("e"),
        ToolRequest("call_1_2", "Absent", {"x": 1}),
        ToolRequest("call_1_3", "OfflineAction", {"label": "rm"}),
    ]
    second = await events(model, "go", AssistantMessage("", "", ()), ToolMessage("call_1_2", ""))
    assert second[:-1] == [ToolRequest("call_3_0", "Skill", {"name": "a"})]
    third = await text(model, "go", AssistantMessage(""), AssistantMessage(""))
    assert third.endswith(LAST)


async def test_script_may_fail_as_a_provider_would(tmp_path: Path) -> None:
    model = scripted(tmp_path, [say("a"), fail("no quota"), say("b")])
    async with aclosing(model.stream(request("go"))) as told:
        assert await anext(told) == TextPart("a")
        with pytest.raises(ModelFailed, match="no quota"):
            await anext(told)


@pytest.mark.parametrize("waiting", ["pause", "wait"])
async def test_cancel_ends_a_wait_at_once(waiting: str, tmp_path: Path) -> None:
    step = pause(86_400) if waiting == "pause" else wait_for(tmp_path / "never")
    model = scripted(tmp_path, [say("a"), step])
    reached = asyncio.Event()

    async def read(stream: AsyncGenerator[ModelEvent]) -> None:
        async with aclosing(stream) as told:
            async for _ in told:
                reached.set()

    task = asyncio.create_task(read(model.stream(request("go"))))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 10)


async def test_wait_ends_when_the_file_is_there(tmp_path: Path) -> None:
    model = scripted(tmp_path, [say("a"), wait_for(tmp_path / "go"), say("gone")])
    async with aclosing(model.stream(request("x"))) as told:
        assert await anext(told) == TextPart("a")
        waits = asyncio.ensure_future(anext(told))
        done, _ = await asyncio.wait([waits], timeout=0.05)
        assert not done
        (tmp_path / "go").touch()
        assert await asyncio.wait_for(waits, 10) == TextPart("gone")


async def test_usage_counts_the_prefix_that_was_seen_before_in_the_same_session() -> None:
    model, long = OfflineModel(), "x" * 4000
    first = (await usage(model, long)).usage
    assert (first.cache_read_tokens, first.input_tokens) == (0, first.cache_write_tokens)
    second = (await usage(model, long, AssistantMessage("a"), "more")).usage
    assert second.cache_read_tokens >= first.input_tokens - 1
    assert second.input_tokens < 50
    assert (await usage(model, long, session="other")).usage == first
    changed = (await usage(model, "y" + long)).usage
    assert changed.cache_read_tokens < 40
    assert changed.output_tokens > 0


async def test_record_holds_what_was_shown_byte_for_byte(tmp_path: Path) -> None:
    recorder = Recorder.open(tmp_path / "record.jsonl")
    tools = '[{"name":"Skill","description":"größe \\u0000 \u2028"}]'.encode()
    asked = request(
        "hi \u2028 \x1b", AssistantMessage("", "hm", (ToolRequest("1", "Skill", {"name": "é"}),)), tools=tools
    )
    async for _ in OfflineModel(recorder=recorder).stream(asked):
        pass
    (line,) = (tmp_path / "record.jsonl").read_bytes().split(b"\n")[:-1]
    noted = json.loads(line)
    assert noted["tools"].encode() == tools
    assert noted["body"].encode() == body_of(asked)
    assert body_of(asked).startswith(b'{"tools":' + tools + b',"system": "system","messages":[')
    assert json.loads(body_of(asked))["messages"] == [
        {"role": "user", "content": "hi \u2028 \x1b"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "Skill", "args": {"name": "é"}}]},
    ]


def test_record_is_appended_to_and_must_be_writable(tmp_path: Path) -> None:
    (tmp_path / "record.jsonl").write_text("earlier\n")
    Recorder.open(tmp_path / "record.jsonl").record(request("x"), b"body")
    assert (tmp_path / "record.jsonl").read_text().startswith("earlier\n{")
    with pytest.raises(RecordUnusable, match="No such file or directory"):
        Recorder.open(tmp_path / "absent" / "record.jsonl")
