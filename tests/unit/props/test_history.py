"""Histories, against a checker that tries every permutation of every subset."""

from dataclasses import dataclass
from itertools import permutations
from random import Random
from typing import Any

import pytest

from presage.errors import PropertyError
from presage.props.history import (
    History,
    Invoke,
    Linearizable,
    Read,
    Register,
    Return,
    SequentiallyConsistent,
    Write,
    linearizable,
    sequentially_consistent,
)
from presage.props.order import Client, Done, Pending, SequentialSpec, find_order

Event = tuple[str, Any]  # client, record


def observed(observer: Any, events: list[Event]) -> Any:
    state = observer.initial()
    for client, record in events:
        state = observer.observe(state, client, record)
    return state


class OneObserver:
    """A world as far as these properties look."""

    def __init__(self, state: Any) -> None:
        self.state = state

    def observer(self, name: str) -> Any:
        assert name == "history"
        return self.state


@dataclass
class Op:
    """One operation as it happened: places of its call and answer in the event list."""

    client: str
    op: Any
    called: int
    answered: int | None = None
    result: Any = None


def operations(events: list[Event]) -> list[Op]:
    found: list[Op] = []
    for place, (client, record) in enumerate(events):
        if isinstance(record, Invoke):
            found.append(Op(client, record.op, place))
        else:
            op = next(o for o in found if o.client == client and o.answered is None)
            op.answered, op.result = place, record.value
    return found


def explained(order: tuple[Op, ...], spec: SequentialSpec, *, real_time: bool) -> bool:
    for i, later in enumerate(order):
        for earlier in order[i + 1 :]:
            same = earlier.client == later.client
            # `earlier` is placed after `later`; was it over before `later` was called?
            if earlier.answered is not None and earlier.answered < later.called:
                if same or real_time:
                    return False
    state = spec.initial()
    for op in order:
        outcome = spec.apply(state, op.op)
        if outcome is None:
            return False
        state, result = outcome
        if op.answered is not None and result != op.result:
            return False
    return True


def brute_force(events: list[Event], spec: SequentialSpec, *, real_time: bool) -> bool:
    ops = operations(events)
    done = [op for op in ops if op.answered is not None]
    pending = [op for op in ops if op.answered is None]
    for chosen in range(2 ** len(pending)):
        placed = done + [op for i, op in enumerate(pending) if chosen >> i & 1]
        if any(explained(order, spec, real_time=real_time) for order in permutations(placed)):
            return True
    return False


def random_events(random: Random, *, clients: int, length: int) -> list[Event]:
    """Calls and answers in turn per client; reads return something plausible."""
    events: list[Event] = []
    asked: dict[str, Any] = {}
    value = None
    while len(events) < length:
        client = f"c{random.randrange(clients)}"
        if client not in asked:
            asked[client] = random.choice([Read(), Read(), Write(random.choice("AB"))])
            events.append((client, Invoke(asked[client])))
            continue
        op = asked.pop(client)
        if isinstance(op, Write):
            value = op.value
            events.append((client, Return(None)))
        else:
            # Mostly right answers, or hardly any long history would be in order.
            plausible = value if random.random() < 0.7 else random.choice([None, "A", "B"])
            events.append((client, Return(plausible)))
    return events


@pytest.mark.parametrize("clients", [2, 3])
@pytest.mark.parametrize("real_time", [True, False])
def test_verdicts_agree_with_trying_every_permutation(clients: int, real_time: bool) -> None:
    random = Random(f"{clients} {real_time}")
    observer = (Linearizable if real_time else SequentiallyConsistent)(Register(None))
    verdicts = []
    for _ in range(200):
        events = random_events(random, clients=clients, length=random.randint(1, 10))
        verdict = observed(observer, events).verdict()
        assert verdict.holds == brute_force(events, Register(None), real_time=real_time), events
        assert verdict.holds or verdict.why.startswith("no order of the operations explains")
        verdicts.append(verdict.holds)
    # Both answers must have been exercised, or this test says little.
    assert 30 < sum(verdicts) < 190


def test_an_order_keeps_every_answer_and_may_use_what_is_in_flight() -> None:
    clients = (
        Client("c0", pending=Pending(Write("A"))),
        Client("c1", done=(Done(Read(), None), Done(Read(), "A"))),
    )
    assert find_order(Register(None), clients) == [(1, 0), (0, 0), (1, 1)]


def test_a_stale_read_is_not_linearizable_but_sequentially_consistent() -> None:
    events = [
        ("c0", Invoke(Write("A"))),
        ("c0", Return(None)),
        ("c1", Invoke(Read())),
        ("c1", Return(None)),
    ]
    history = observed(Linearizable(Register(None)), events)
    verdict = linearizable().judge(OneObserver(history))
    assert not verdict
    assert verdict.why == (
        "no order of the operations explains: c1 Read() -> None, begun after c0 Write('A')"
    )
    assert sequentially_consistent().judge(OneObserver(history))


def test_the_reason_names_only_the_answers_at_odds() -> None:
    events = [
        ("c0", Invoke(Write("A"))),
        ("c1", Invoke(Read())),
        ("c1", Return("A")),
        ("c1", Invoke(Read())),
        ("c1", Return(None)),
        ("c2", Invoke(Read())),
        ("c2", Return("A")),
    ]
    assert observed(Linearizable(Register(None)), events).verdict().why == (
        "no order of the operations explains together: c1 Read() -> 'A';"
        " c1 Read() -> None, begun after c1 Read() -> 'A' (in flight: c0 Write('A'))"
    )


def test_equal_pasts_are_equal_states_and_real_time_makes_them_differ() -> None:
    write = [("c0", Invoke(Write("A"))), ("c0", Return(None))]
    read = [("c1", Invoke(Read())), ("c1", Return(None))]
    strict, loose = Linearizable(Register(None)), SequentiallyConsistent(Register(None))
    assert observed(loose, write + read) == observed(loose, read + write)
    assert observed(strict, write + read) != observed(strict, read + write)
    overlapped = [write[0], read[0], write[1], read[1]]
    other_way = [read[0], write[0], read[1], write[1]]
    assert observed(strict, overlapped) == observed(strict, other_way)


def test_an_operation_remembers_the_last_answer_of_every_other_client() -> None:
    events = [
        ("c0", Invoke(Write("A"))),
        ("c0", Return(None)),
        ("c0", Invoke(Read())),
        ("c0", Return("A")),
        ("c2", Invoke(Read())),
        ("c1", Invoke(Read())),
    ]
    history = observed(Linearizable(Register(None)), events)
    assert history.client("c1") == Client("c1", (), Pending(Read(), (("c0", 1),)))
    assert [client.name for client in history.clients] == ["c0", "c1", "c2"]


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ([("c0", Return(1))], "c0 was answered 1 but had asked nothing"),
        (
            [("c0", Invoke(Read())), ("c0", Invoke(Write(1)))],
            "c0 invoked Write(1) while its Read() was in flight",
        ),
    ],
)
def test_a_record_out_of_turn_makes_the_history_malformed_for_good(
    events: list[Event], why: str
) -> None:
    observer = Linearizable(Register(None))
    history = observed(observer, events)
    verdict = history.verdict()
    assert not verdict
    assert why in verdict.why
    assert observer.observe(history, "c0", Return(None)) == history


def test_records_of_other_kinds_are_left_to_other_observers() -> None:
    observer = Linearizable(Register(None))
    assert observer.observe(observer.initial(), "c0", "something else") == observer.initial()


@dataclass(frozen=True)
class Lock:
    """Acquire blocks while someone holds it."""

    def initial(self) -> str | None:
        return None

    def apply(self, state: str | None, op: tuple[str, str]) -> tuple[str | None, None] | None:
        kind, who = op
        if kind == "acquire":
            return None if state is not None else (who, None)
        return (None, None) if state == who else None


def test_an_operation_that_cannot_happen_yet_waits_for_another_order() -> None:
    events = [
        ("c0", Invoke(("acquire", "c0"))),
        ("c1", Invoke(("acquire", "c1"))),
        ("c1", Return(None)),
        ("c0", Return(None)),
    ]
    observer = Linearizable(Lock())
    both_hold_it = observed(observer, events)
    assert both_hold_it.verdict().why == (
        "no order of the operations is possible, whatever they return"
    )
    given_back = observed(observer, [*events[:3], ("c1", Invoke(("release", "c1"))), events[3]])
    assert given_back.verdict()


def test_a_register_refuses_operations_it_does_not_know() -> None:
    with pytest.raises(TypeError, match=r"not 'pop'"):
        Register(None).apply(None, "pop")


def test_the_wrong_observer_is_an_error_and_not_a_weaker_check() -> None:
    loose: History = SequentiallyConsistent(Register(None)).initial()
    assert sequentially_consistent().judge(OneObserver(loose))
    with pytest.raises(PropertyError, match="does not keep the order"):
        linearizable().judge(OneObserver(loose))
    with pytest.raises(PropertyError, match="not a history"):
        linearizable().judge(OneObserver(3))
