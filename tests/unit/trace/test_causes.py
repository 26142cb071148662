"""Cause and effect in a trace: direct causes, causal past, vector clocks, rows."""

import random

from unit.ui.samples import step, trace

from presage.trace.causes import Causes
from presage.trace.trace import Sent, TraceStep


def sends(*pairs: tuple[str, str]) -> tuple[Sent, ...]:
    return tuple(Sent(source, to, "m") for source, to in pairs)


def got(index: int, source: str, to: str, **more: object) -> TraceStep:
    facts = {"source": source, "detail": "m"} | more
    return step(index, to, str(facts.pop("kind", "deliver")), "m", **facts)


def test_a_delivery_follows_its_sending_and_the_step_before_at_its_node() -> None:
    told = Causes(
        trace(
            [
                step(1, "n0", "timer", sends=sends(("n0", "n1"))),
                step(2, "n2", "timer"),
                step(3, "n1", "timer"),
                got(4, "n0", "n1"),
            ]
        )
    )
    assert told.direct == {1: (), 2: (), 3: (), 4: (1, 3)}
    assert told.past(4) == (1, 3, 4)
    assert told.clocks[4] == {"n0": 1, "n1": 2}
    assert told.rows == {1: 1, 2: 1, 3: 1, 4: 2}


def test_what_the_network_does_is_no_step_of_the_receiver() -> None:
    told = Causes(
        trace(
            [
                step(1, "n0", "timer", sends=sends(("n0", "n1"), ("n0", "n1"))),
                got(2, "n0", "n1", kind="drop"),
                step(3, "n1", "timer"),
                got(4, "n0", "n1", kind="duplicate"),
                got(5, "n0", "n1"),
            ]
        )
    )
    assert told.lanes == {1: "n0", 2: "network", 3: "n1", 4: "network", 5: "n1"}
    assert told.direct == {1: (), 2: (1,), 3: (), 4: (1,), 5: (1, 3, 4)}


def test_hearing_of_a_broken_connection_follows_what_broke_it() -> None:
    told = Causes(
        trace(
            [
                step(1, "n1", "reset"),
                step(2, "n0", "broken", detail="n1"),
                step(3, "n2", "cut", detail="n0"),
                step(4, "n0", "broken", detail="n2"),
                step(5, "n1", "timer"),
                step(6, "n1", "refused", detail="n2"),
            ]
        )
    )
    assert told.direct[2] == (1,)
    assert told.direct[3] == (2,)
    assert told.direct[4] == (2, 3)
    assert told.direct[6] == (1, 5)


def test_what_a_step_of_a_process_follows_is_told_by_the_trace() -> None:
    told = Causes(
        trace([step(1, "a", "create", "b"), step(2, "b", "recv"), step(3, "b", "x", follows=(1,))])
    )
    assert told.direct == {1: (), 2: (), 3: (1, 2)}
    assert told.rows == {1: 1, 2: 1, 3: 2}


def random_trace(seed: int) -> Causes:
    """Steps of three nodes that send to each other, lose and hear."""
    draw, steps, flying = random.Random(seed), [], []
    nodes = ("n0", "n1", "n2")
    for index in range(1, 30):
        if flying and draw.random() < 0.6:
            source, to = flying.pop(draw.randrange(len(flying)))
            kind = draw.choice(["deliver", "deliver", "drop"])
            sent = [(to, draw.choice(nodes))] if kind == "deliver" else []
            steps.append(got(index, source, to, kind=kind, sends=sends(*sent)))
        else:
            node = draw.choice(nodes)
            sent = [(node, draw.choice(nodes)) for _ in range(draw.randrange(3))]
            steps.append(step(index, node, "timer", sends=sends(*sent)))
        flying += sent
    return Causes(trace(steps))


def test_clocks_tell_the_past_of_every_step() -> None:
    for seed in range(60):
        told = random_trace(seed)
        for later in told.clocks:
            past = told.past(later)
            for earlier in told.clocks:
                known = all(
                    count <= told.clocks[later].get(lane, 0)
                    for lane, count in told.clocks[earlier].items()
                )
                if "network" in (told.lanes[later], told.lanes[earlier]):
                    assert known or earlier not in past  # its steps are put in one line
                else:
                    assert known == (earlier in past)
                assert (
                    earlier == later
                    or earlier not in past
                    or (told.rows[earlier] < told.rows[later])
                )
