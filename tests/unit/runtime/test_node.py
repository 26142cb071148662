"""What each part of a service means in a live node: the rows of the table in the reference."""

from dataclasses import dataclass

import pytest
from unit.runtime.ledger import add, fields_of, ledger_node
from unit.runtime.nodes import booted

from presage import (
    Call,
    Disk,
    Service,
    Streams,
    broken,
    disk,
    ghost,
    on,
    state,
    written,
)
from presage.execution.sandbox import Sandbox
from presage.runtime.step import Options, Record, Refused
from presage.runtime.store import MemoryStore


@dataclass(frozen=True)
class Go:
    n: int = 0


class Talker(Service):
    ready: bool = False
    got: list[int] = state(list)

    @on(Go, when=lambda self, message: self.ready)
    def go(self, message):
        self.got.append(message.n)

    @on(str)
    def text(self, message):
        if message == "ready":
            self.ready = True
        else:
            self.send("peer", message * 100)
            self.stream.send("peer", message)

    @broken
    def lost(self, peer):
        self.got.append(-1)


def test_effects_are_handed_over_by_a_step_and_leave_after_it():
    node, near, _ = booted(Talker(), streams=Streams())
    result = node.deliver("peer", "hi")
    assert isinstance(result, Record)
    assert (near.left, len(near.waiting)) == ([], 2)
    node.flush()
    assert near.left == ["hi" * 100, "hi"]


def test_a_datagram_that_does_not_fit_is_an_error_of_the_handler():
    node, near, _ = booted(Talker(), streams=Streams())
    result = node.deliver("peer", "x" * 20)
    node.flush()
    assert "2,004 bytes was sent to `peer` as a datagram; at most 1,172 fit" in result.failure
    assert (node.up, near.left) == (False, [])
    assert near.failures == [result.failure]


def test_a_datagram_waits_for_its_guard():
    node, _, _ = booted(Talker(), streams=Streams())
    assert [node.deliver("peer", Go(n)) for n in range(3)] == [None] * 3
    assert node.turn() == 0
    node.deliver("peer", "ready")
    assert node.turn() == 3
    assert fields_of(node)["got"] == [0, 1, 2]


def test_of_too_many_that_wait_the_oldest_is_lost_and_counted():
    node, _, _ = booted(Talker(), streams=Streams(), options=Options(inbox=2))
    for n in range(5):
        node.deliver("peer", Go(n))
    assert node.counts.overflowed == 3
    node.deliver("peer", "ready")
    node.turn()
    assert fields_of(node)["got"] == [3, 4]


def test_the_head_of_a_stream_stays_until_its_guard_holds():
    node, _, _ = booted(Talker(), streams=Streams())
    assert node.receive("peer", Go(7)) is None
    assert not node.kept
    node.deliver("peer", "ready")
    assert isinstance(node.receive("peer", Go(7)), Record)


def test_a_broken_connection_is_a_step():
    node, _, _ = booted(Talker(), streams=Streams())
    node.broken("peer")
    assert fields_of(node)["got"] == [-1]


class Choosing(Service):
    got: list[int] = state(list)

    @on(Go)
    def go(self, message):
        self.got.append(self.choose(range(10)))
        self.got.append(self.random.randrange(10))
        self.got.append(self.choose([0, 1], weights=[0, 1]))
        if self.now() < self.now() + message.n:
            self.record("later")


def test_choices_are_drawn_by_weight_and_noted():
    node, _, _ = booted(Choosing())
    record = node.deliver("peer", Go(5))
    got = fields_of(node)["got"]
    assert record.choices == ((got[0], 10), (got[1], 10), (1, 2), (1, 2))
    assert record.records == ["later"]
    assert node.deliver("peer", Go(0)).choices[-1] == (0, 2)


class Working(Service):
    sums: list[int] = state(list)
    seen: int = ghost(0)

    def put(self, amount):
        self.seen += 1
        self.sums.append(amount)
        return len(self.sums)

    def odd(self):
        return object()

    def fail(self):
        self.sums.append(0)
        raise RuntimeError("no")


def test_the_workload_makes_no_calls_by_itself():
    node, _, _ = booted(Working(), calls={"node": [Call("put", 4), Call("put", 5)]})
    assert node.turn() == 0
    assert [node.work() is not None for _ in range(3)] == [True, True, False]
    assert fields_of(node)["sums"] == [4, 5]


def test_a_call_replies_with_a_copy_of_what_the_method_returned():
    node, near, _ = booted(Working())
    node.call("put", (3,), "first")
    node.call("odd", (), "second")
    node.call("putt", (3,), "third")
    node.call("put", (), "fourth")
    assert near.replies == []
    node.flush()
    (first, second, third, fourth) = [reply for _, reply in near.replies]
    assert (first.value, first.error) == (1, None)
    assert second.value.startswith("<object object")
    assert third.error.startswith("`Working` has no method `putt` to call; did you mean `put`?")
    assert "`put`" in third.error.partition("name one of ")[2]
    assert fourth.error.startswith("`put` cannot be called so: missing a required argument")
    assert node.up


def test_ghosts_are_kept_while_the_process_lives():
    node, _, _ = booted(Working())
    node.call("put", (1,))
    node.call("put", (1,))
    assert fields_of(node)["seen"] == 2


def test_a_step_that_raises_did_not_happen_and_the_node_has_failed():
    node, near, _ = booted(Working())
    record = node.call("fail", (), "it")
    assert record.failure.startswith("RuntimeError: no")
    assert (fields_of(node)["sums"], node.up) == ([], False)
    assert node.call("put", (1,)) is None
    node.flush()
    assert near.failures == [node.failure]
    assert near.replies[0][1].error == record.failure


class Endless(Service):
    @on(Go)
    def go(self, message):
        while True:
            pass


def test_a_handler_without_end_is_ended_as_if_it_had_raised():
    with Sandbox(0.3) as sandbox:
        node, near, _ = booted(Endless(), runner=sandbox.run)
        record = node.deliver("peer", Go())
        node.flush()
    assert "still running after 0.3 s" in record.failure
    assert not node.up
    assert near.failures == [record.failure]


class Writer(Service):
    pages: Disk = disk()
    told: list[int] = state(list)

    @on(Go)
    def go(self, message):
        self.pages.write("page", message.n)
        self.pages.write("other", message.n)

    @written
    def stored(self, key, value):
        self.told.append(value)
        self.send("peer", value)


def test_a_write_is_stored_and_told_in_one_step():
    store = MemoryStore()
    node, near, _ = booted(Writer(), store=store)
    node.deliver("peer", Go(3))
    node.flush()
    assert (store.stored.disks, near.left) == ({}, [])
    assert [node.turn() for _ in range(3)] == [1, 1, 0]
    assert near.left == []
    node.flush()
    assert near.left == [3, 3]
    store.crash()
    again, _, _ = booted(Writer(), store=store)
    assert fields_of(again)["pages"].stored == {"page": 3, "other": 3}
    assert fields_of(again)["told"] == []


def test_what_is_durable_is_there_after_a_restart(tmp_path):
    node, _ = ledger_node(tmp_path)
    node.boot()
    add(node, 5)
    node.flush()
    node.store.close()
    node.store._files.unlock()
    again, _ = ledger_node(tmp_path)
    record = again.boot()
    assert record.stimulus == ("restart",)
    assert (fields_of(again)["left"], fields_of(again)["calls"], again.life) == (5, 0, 2)


def test_a_step_that_is_refused_is_as_if_it_never_was():
    node, near, _ = booted(Working())
    seen = []

    def judge(record):
        seen.append((record.before, record.after, record.stimulus[0]))
        return "too much"

    node.judge = judge
    before = node.local
    result = node.call("put", (9,), "it")
    assert result == Refused(("call", "put", 9), "too much")
    assert (node.local, node.counts.refused, node.counts.steps) == (before, 1, 1)
    assert seen[0][0] == before != seen[0][1]
    node.flush()
    assert near.replies[0][1].error == "refused: too much"


class Sharing(Service):
    one: list[int] = state(list)
    other: list[int] = state(list)

    @on(Go)
    def go(self, message):
        self.one = self.other


def test_what_the_checker_would_refuse_fails_the_node():
    node, _, _ = booted(Sharing())
    record = node.deliver("peer", Go())
    assert "`Sharing.go`" in record.failure
    assert not node.up


@pytest.mark.parametrize("method", ["send", "nothing_here"])
def test_calls_are_checked_as_those_of_a_workload(method):
    node, near, _ = booted(Working())
    node.call(method, (), 1)
    node.flush()
    assert near.replies[0][1].error
    assert node.up
