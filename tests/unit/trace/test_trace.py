"""A trace is made of live steps, and holds plain data only."""

from dataclasses import dataclass
from enum import Enum
from types import SimpleNamespace
from typing import Any, cast

from presage.model.world.event import Act, Crash, Deliver, Drop, Envelope, Event, Fire, Made, Step
from presage.trace.trace import Sent, Trace, TraceStep, plain_parameters


@dataclass(frozen=True)
class Join:
    ttl: int


class Mode(Enum):
    FAST = "f"


def live(event: Event, **more: Any) -> Step:
    facts: dict[str, Any] = {
        "index": 7,
        "choices": (),
        "sends": (),
        "records": (),
        "logs": (),
        "changes": {},
        "fingerprint": 2**64 - 1,
    }
    return Step(event=event, **facts | more)


def recorded(*events: Event) -> Trace:
    system = cast(Any, SimpleNamespace(name="tree", nodes={"n0": None, "n1": None}, seals=()))
    steps = [live(event) for event in events]
    return Trace.of(system, steps, initial=1, prop="one_root", kind="safety", message="two roots")


def test_a_step_is_recorded_as_text_and_numbers() -> None:
    step = live(
        Deliver("n0", "n1", Join(3)),
        choices=((1, 3),),
        sends=(Envelope("n0", "n1", Join(2)),),
        records=({"b", "a"},),
        logs=("a lone surrogate \ud800",),
        changes={"n0": {"children": (set(), {"n1"})}, "n1": {}},
        failure="ValueError: no",
    )
    assert TraceStep.of(step, 1) == TraceStep(
        index=1,
        node="n0",
        kind="deliver",
        label="Join n1 -> n0",
        detail="Join(ttl=3)",
        source="n1",
        choices=((1, 3),),
        sends=(Sent("n0", "n1", "Join(ttl=2)"),),
        records=("{'a', 'b'}",),
        logs=("a lone surrogate \\ud800",),
        changes={"n0": {"children": ("set()", "{'n1'}")}},
        failure="ValueError: no",
        fingerprint=2**64 - 1,
    )


def test_a_recorded_step_matches_its_event_and_no_other() -> None:
    events: list[Event] = [
        Deliver("n0", "n1", Join(3)),
        Deliver("n0", "n1", Join(4)),
        Deliver("n0", "n2", Join(3)),
        Deliver("n1", "n1", Join(3)),
        Drop("n0", "n1", Join(3)),
        Fire("n0", "retry", (1,)),
        Fire("n0", "retry", (2,)),
        Act("n0", "retry", (1,)),
        Made("n0", "retry", (1,)),
        Crash("n0"),
        Crash("n1"),
    ]
    for event in events:
        step = TraceStep.of(live(event), 1)
        assert [other for other in events if step.matches(other)] == [event]


def test_steps_are_numbered_from_one_and_the_last_is_the_bad_one() -> None:
    trace = recorded(Crash("n0"), Crash("n1"), Crash("n0"))
    assert [step.index for step in trace.steps] == [1, 2, 3]
    assert trace.step == 3
    assert trace.nodes == ("n0", "n1")


def test_a_prefix_keeps_the_first_steps_and_a_projection_those_of_one_node() -> None:
    trace = recorded(Crash("n0"), Crash("n1"), Crash("n0"))
    assert [step.index for step in trace.prefix(2).steps] == [1, 2]
    assert repr(trace.prefix(2)) == f"<Trace of {trace.system}: {trace.prop}, 2 steps>"
    assert [step.index for step in trace.project("n0")] == [1, 3]


def test_parameters_are_kept_as_json_can_hold_them() -> None:
    parameters = {"mode": Mode.FAST, "n": 3, "on": True, "x": None, "s": "a", "f": 0.5}
    assert plain_parameters(parameters) == parameters | {"mode": "FAST"}
    assert plain_parameters({"f": float("inf"), "n": 2**70}) == {"f": "inf", "n": str(2**70)}
    assert plain_parameters(None) == {}
