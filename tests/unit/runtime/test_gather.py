"""Gathering: who is asked, who answers, and what becomes of those who do not."""

import random

import pytest

from presage.runtime.budget import Bucket
from presage.runtime.checkpoint import Checkpoint, Checkpoints
from presage.runtime.datagrams import Got, Held, Sent, Waiting
from presage.runtime.delta import BadCheckpoint, read, write
from presage.runtime.frame import BadFrame, Kind
from presage.runtime.gather import Gatherer, neighbourhood
from presage.runtime.link import End

NAMES = ("a", "b", "c", "d")
EMPTY = Held({}, {}, {}, ())


class Node:
    def __init__(self, name: str, neighbours: list[str], rate: float | None = None) -> None:
        self.name, self.neighbours, self.state = name, neighbours, b"0"
        self.checkpoints = Checkpoints(self.take, kept_max=3)
        self.gatherer = Gatherer(
            name,
            NAMES,
            self.checkpoints,
            lambda now: self.neighbours,
            bucket=Bucket() if rate is None else Bucket(rate),
        )

    def take(self, number: int) -> Checkpoint:
        return Checkpoint(self.name, number, 1, (b"up", self.state), {}, EMPTY)


def exchange(now: float, *nodes: Node) -> None:
    """Let frames go until all are silent; those to nodes that are not there are lost."""
    there = {node.name: node for node in nodes}
    moving = True
    while moving:
        moving = False
        for node in nodes:
            for peer, kind, body in node.gatherer.drain(now):
                moving = True
                if peer in there:
                    other = there[peer]
                    other.checkpoints.seen(node.checkpoints.number)
                    act = {Kind.GATHER: other.gatherer.request}
                    act.get(kind, other.gatherer.answered)(node.name, body, now)


def test_everybody_answers_with_a_checkpoint_of_that_number() -> None:
    a, b, c = Node("a", ["b", "c"]), Node("b", []), Node("c", [])
    a.gatherer.begin(0.0)
    exchange(0.0, a, b, c)
    found = a.gatherer.result
    assert found is not None
    assert {name: each.number for name, each in found.members.items()} == dict.fromkeys("abc", 1)
    assert (found.rounds, found.missing, dict(found.stale)) == (1, (), {})


def test_who_does_not_answer_in_time_is_missing_and_stale_if_it_was_known() -> None:
    a, b, c = Node("a", ["b", "c"]), Node("b", []), Node("c", [])
    a.gatherer.begin(0.0)
    exchange(0.0, a, b)
    assert a.gatherer.poll(0.1) == 0.5
    a.gatherer.poll(0.5)
    found = a.gatherer.result
    assert found is not None and (set(found.members), found.missing) == ({"a", "b"}, ("c",))
    a.gatherer.begin(1.0)
    exchange(1.0, a, c)
    a.gatherer.lost("b", 1.2)
    found = a.gatherer.result
    assert found is not None and found.members["b"].number == 1
    assert dict(found.stale) == {"b": pytest.approx(1.2)}


def test_a_checkpoint_that_is_gone_makes_all_start_again_with_a_newer_number() -> None:
    a, b = Node("a", ["b"]), Node("b", [])
    for _ in range(9):
        b.checkpoints.advance()
    a.gatherer.begin(0.0)
    exchange(0.0, a, b)
    found = a.gatherer.result
    assert found is not None and (found.number, found.rounds) == (10, 2)


def test_a_neighbourhood_that_changes_is_gathered_once_more_and_no_more() -> None:
    a, b, c = Node("a", ["b"]), Node("b", []), Node("c", [])
    a.gatherer.begin(0.0)
    a.neighbours = ["b", "c"]
    exchange(0.0, a, b, c)
    found = a.gatherer.result
    assert found is not None and (set(found.members), found.rounds) == ({"a", "b", "c"}, 2)


def test_a_push_reaches_those_who_asked_of_late() -> None:
    a, b = Node("a", ["b"]), Node("b", [])
    a.gatherer.begin(0.0)
    exchange(0.0, a, b)
    b.state = b"1"
    b.gatherer.push(1.0)
    exchange(1.0, a, b)
    assert a.gatherer.latest["b"][0].local == (b"up", b"1")
    b.gatherer.push(100.0)
    assert b.gatherer.drain(100.0) == []


def test_answers_that_cannot_be_paid_for_are_late_and_counted() -> None:
    a, b = Node("a", ["b"]), Node("b", [], rate=10)
    for now in (0.0, 0.1):
        a.gatherer.begin(now)
        exchange(now, a, b)
    assert (b.gatherer.late, a.gatherer.busy) == (1, True)
    again = b.gatherer.poll(0.1)
    assert again is not None and again > 0.1
    exchange(again + 1, a, b)
    assert not a.gatherer.busy
    assert b.gatherer.late == 1


def test_neighbours_are_as_declared_else_those_heard_of_last() -> None:
    heard = {"b": 1.0, "c": 50.0, "d": 40.0}
    assert neighbourhood(("d", "b"), [], heard, 50.0) == ("d", "b")
    assert neighbourhood(None, [], heard, 50.0) == ("c", "d")
    assert neighbourhood(None, ["b"], heard, 50.0) == ("c", "d", "b")
    assert neighbourhood(None, ["b"], heard, 50.0, nodes_max=3) == ("c", "d")


def test_bytes_that_are_no_request_are_refused() -> None:
    for body in (b"", b"\xc1", b"\x91\xa1x"):
        with pytest.raises(BadFrame):
            Node("a", []).gatherer.request("b", body, 0.0)


# -- on the wire -----------------------------------------------------------------------------


def drawn(chance: random.Random, number: int) -> Checkpoint:
    def end() -> End:
        log = tuple(chance.randbytes(chance.randrange(9)) for _ in range(chance.randrange(3)))
        small = chance.randrange
        flags = (bool(small(2)), bool(small(2)))
        return End(small(1 << 32), small(9), small(9), small(9), small(9), log, *flags, small(9), 0)

    sent = {"b": (Sent(3, 0.25, chance.randbytes(5)),)} if chance.randrange(2) else {}
    return Checkpoint(
        "a",
        number,
        1,
        tuple(bytes([chance.randrange(3)]) * chance.randrange(90) for _ in range(4)) + (b"x",),
        {name: end() for name in NAMES[1:] if chance.randrange(2)},
        Held(sent, {"b": 3}, {"c": Got(1, 2, (4,))}, (Waiting("d", b"w"),)),
    )


def test_what_is_read_is_what_was_written() -> None:
    chance = random.Random(1)
    base = None
    for number in range(1, 200):
        checkpoint = drawn(chance, number)
        data = write(checkpoint, base, NAMES.index)
        assert read(data, "a", [base] if base else [], NAMES) == checkpoint
        same = write(checkpoint._replace(number=number + 1), checkpoint, NAMES.index)
        assert len(same) < 24
        base = checkpoint


def test_a_checkpoint_told_by_another_that_is_not_at_hand_is_refused() -> None:
    chance = random.Random(2)
    one, two = drawn(chance, 1), drawn(chance, 2)
    data = write(two._replace(local=one.local), one, NAMES.index)
    with pytest.raises(BadCheckpoint):
        read(data, "a", [], NAMES)
    with pytest.raises(BadCheckpoint):
        read(data, "a", [one._replace(local=two.local)], NAMES)


def test_damaged_bytes_are_refused_and_never_anything_else() -> None:
    chance = random.Random(3)
    for number in range(300):
        data = bytearray(write(drawn(chance, number), None, NAMES.index))
        for _ in range(1 + chance.randrange(3)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            read(bytes(data[: chance.randrange(len(data) + 1)]), "a", [], NAMES)
        except BadCheckpoint:
            pass


def test_a_push_that_crosses_a_request_is_read() -> None:
    a, b = Node("a", ["b"]), Node("b", [])
    a.gatherer.begin(0.0)
    exchange(0.0, a, b)
    b.state = b"1"
    b.gatherer.push(1.0)
    (pushed,) = b.gatherer.drain(1.0)
    a.gatherer.begin(1.0)  # it says that it has the first one, while the second is under way
    (request,) = a.gatherer.drain(1.0)
    b.gatherer.request("a", request[2], 1.0)
    (answer,) = b.gatherer.drain(1.0)
    for _, _, body in (pushed, answer):
        a.gatherer.answered("b", body, 1.0)
    assert a.gatherer.bad == 0 and a.gatherer.result is not None
    assert a.gatherer.latest["b"][0].local == (b"up", b"1")


def test_a_push_that_cannot_be_read_is_asked_for_once_more() -> None:
    a, b = Node("a", ["b"]), Node("b", [])
    a.gatherer.begin(0.0)
    exchange(0.0, a, b)
    for number in range(3):
        b.state = bytes([number]) * 200
        b.gatherer.push(1.0)
        pushed = b.gatherer.drain(1.0)
    a.gatherer.answered("b", pushed[0][2], 1.0)  # those before it were lost
    assert a.gatherer.bad == 1
    exchange(1.0, a, b)
    assert a.gatherer.latest["b"][0].local == (b"up", b.state)
