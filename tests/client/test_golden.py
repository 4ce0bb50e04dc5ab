"""One file of JSON for each wire type: what is written is pinned byte for byte, and read back as the same value."""

from pathlib import Path
from typing import get_args

import pytest

from client.contract import approvals, commands, errors, events, model_view, sessions, skills
from client.contract.base import Request, Response
from tests.support.wire_samples import SAMPLES

GOLDEN = Path(__file__).parent / "golden"
MODULES = (approvals, commands, errors, events, model_view, sessions, skills)


def wire_types() -> set[type]:
    """Every public value of the contract."""
    found = (value for module in MODULES for name, value in vars(module).items() if not name.startswith("_"))
    return {v for v in found if isinstance(v, type) and issubclass(v, Request | Response)} - {Request, Response}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_wire_form_is_the_golden_one_both_ways(sample: Request | Response) -> None:
    golden = (GOLDEN / f"{type(sample).__name__}.json").read_bytes().removesuffix(b"\n")
    assert sample.to_json() == golden
    assert type(sample).from_json(golden) == sample


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_sample_sets_every_field_so_that_none_goes_unpinned(sample: Request | Response) -> None:
    fields = type(sample).model_fields
    unset = [
        name for name, field in fields.items() if getattr(sample, name) == field.get_default(call_default_factory=True)
    ]
    assert unset == (["type"] if "type" in fields and not isinstance(sample, events.UnknownEvent) else [])


def test_every_wire_type_has_a_sample_and_a_golden_file() -> None:
    assert {type(sample) for sample in SAMPLES} == wire_types()
    assert {path.stem for path in GOLDEN.glob("*.json")} == {kind.__name__ for kind in wire_types()}


@pytest.mark.parametrize("sample", [s for s in SAMPLES if isinstance(s, get_args(events.Event))], ids=lambda s: s.type)
def test_event_is_told_by_its_type(sample: events.Event) -> None:
    assert events.event_from_json(sample.to_json()) == sample


@pytest.mark.parametrize("kind", sorted(wire_types(), key=lambda kind: kind.__name__))
def test_response_reads_past_unknown_fields_and_a_request_does_not(kind: type[Request | Response]) -> None:
    sample = next(sample for sample in SAMPLES if type(sample) is kind)
    longer = sample.to_json()[:-1] + b',"from_the_future":{"deep":[1,null]}}'
    if issubclass(kind, Request):
        with pytest.raises(ValueError, match="from_the_future"):
            kind.from_json(longer)
    else:
        assert kind.from_json(longer) == sample


@pytest.mark.parametrize("kind", sorted(wire_types(), key=lambda kind: kind.__name__))
def test_response_reads_nothing_as_its_zero_value(kind: type[Request | Response]) -> None:
    if issubclass(kind, Response):
        assert kind.from_json(b"{}") == kind()
        if "type" not in kind.model_fields:
            assert kind().to_json() == b"{}"
