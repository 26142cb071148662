"""Disks: writes that take time, and crashes that fall between them."""

from dataclasses import dataclass

import pytest
from reference.explorer import explore
from reference.test_kernel import compare

from presage import (
    Call,
    Disk,
    Faults,
    Service,
    Streams,
    System,
    World,
    always,
    check,
    disk,
    on,
    replay,
    sometimes,
    written,
)
from presage.errors import BadCall, BadHandler, DuplicateHandler


class Log(Service):
    """Writes an entry and a head that points to it."""

    disk: Disk = disk()
    head_first: bool = False

    def append(self, text: str) -> None:
        number = self.disk.read("head", 0) + 1
        writes = [(f"entry {number}", text), ("head", number)]
        for key, value in reversed(writes) if self.head_first else writes:
            self.disk.write(key, value)


@always
def head_points_to_an_entry(world) -> bool:
    log = world["log"]
    head = log.disk.stored.get("head", 0)
    return log.up or head == 0 or f"entry {head}" in log.disk.stored


def log_system(**fields) -> System:
    return System(
        nodes={"log": Log(**fields)},
        calls={"log": [Call("append", "a")]},
        faults=Faults(crash=1, restart=1),
        properties=[head_points_to_an_entry],
    )


def test_a_crash_between_two_writes_breaks_the_log_that_writes_its_head_first():
    report = check(log_system(head_first=True), traces=None)
    (found,) = report.violations
    assert found.trace is not None
    assert [step.kind for step in found.trace.steps] == ["call", "write", "crash"]
    assert found.trace.steps[1].label == "disk['head']"
    assert replay(log_system(head_first=True), found.trace).message is not None


def test_the_same_log_is_safe_if_it_writes_the_entry_first():
    report = check(log_system(), traces=None)
    report.assert_holds()
    assert report.exhausted
    # Up: before the call, and with 2, 1, 0 writes to come. Down: the call not made, or made with
    # nothing, the entry, or both stored. Up again: the same four, and two where writes were lost.
    assert report.unique == 4 + 4 + 6


def test_writes_complete_in_order_and_reads_see_them_at_once():
    world = World.initial(log_system())
    (call,) = [event for event in world.enabled() if event.kind == "call"]
    world.apply(call)
    view = world.view()["log"]
    assert (view.disk.read("head"), view.disk.stored) == (1, {})
    writes = [str(event) for event in world.enabled() if event.kind == "write"]
    assert writes == ["disk['entry 1']"]


@dataclass(frozen=True)
class Put:
    value: int


@dataclass(frozen=True)
class Done:
    value: int


class Store(Service):
    """Acknowledges when the value is on the disk, or (eager) at once."""

    disk: Disk = disk()
    eager: bool = False

    @on(Put)
    def put(self, put: Put, source: str) -> None:
        self.disk.write("value", put.value)
        if self.eager:
            self.send(source, Done(put.value))

    @written
    def stored(self, key: str, value: int) -> None:
        if not self.eager:
            self.send("client", Done(value))


class Prefix(Store):
    disk: Disk = disk(prefix=True)


class Client(Service):
    done: int = 0

    def start(self) -> None:
        self.send("store", Put(7))

    @on(Done)
    def acknowledged(self, done: Done) -> None:
        self.done = done.value


@always
def nothing_acknowledged_is_lost(world) -> bool:
    store = world["store"]
    return store.up or store.disk.stored.get("value", 0) >= world["client"].done


@always
def silent_loss_only(world) -> bool:
    """False where a value is stored, the store is down, and nobody was ever told."""
    store = world["store"]
    told = world["client"].done or world.messages(Done)
    return store.up or not store.disk.stored or bool(told)


def acknowledging(store: Service, *properties) -> System:
    return System(
        nodes={"store": store, "client": Client()},
        faults=Faults(crash=1, nodes=["store"]),
        properties=properties,
    )


def test_an_acknowledgement_before_the_write_is_stored_is_a_lie():
    eager = acknowledging(Store(eager=True), nothing_acknowledged_is_lost)
    assert check(eager, traces=None).violations
    check(acknowledging(Store(), nothing_acknowledged_is_lost), traces=None).assert_holds()


def test_with_prefix_a_write_may_survive_a_crash_that_keeps_the_node_from_knowing():
    check(acknowledging(Store(), silent_loss_only), traces=None).assert_holds()
    report = check(acknowledging(Prefix(), silent_loss_only), traces=None)
    (found,) = report.violations
    assert found.trace is not None
    assert (found.trace.steps[-1].kind, found.trace.steps[-1].choices) == ("crash", ((1, 2),))


def test_what_is_written_is_a_copy():
    held = [1]
    storage = Disk()
    storage.write("a", held)
    held.append(2)
    storage.read("a").append(3)
    assert storage.read("a") == [1]
    assert storage.settle() == ("a", [1])
    assert (storage.idle, storage.stored) == (True, {"a": [1]})


class Replaced(Service):
    disk: Disk = disk()

    def start(self) -> None:
        self.disk = {}  # type: ignore[assignment]


def test_a_disk_that_was_replaced_is_an_error():
    with pytest.raises(BadCall, match=r"Replaced\.disk holds a `dict`"):
        check(System(nodes={"n": Replaced()}), traces=None)


def test_a_service_is_told_of_writes_by_one_method_only():
    with pytest.raises(DuplicateHandler, match="is told of writes"):

        class Twice(Service):
            @written
            def one(self, key): ...

            @written
            def two(self, key): ...


def test_a_method_told_of_writes_takes_key_and_value():
    with pytest.raises(BadHandler, match="told of writes"):

        class Greedy(Service):
            @written
            def one(self, key, value, more): ...


class Twice(Service):
    """Writes two values, and looks at the disk when it begins."""

    disk: Disk = disk(prefix=True)
    found: int | None = None

    def start(self) -> None:
        self.found = self.disk.read("value", 0)

    def put(self) -> None:
        self.disk.write("value", 1)
        self.disk.write("value", 2)


@pytest.mark.parametrize("fault", ["reset", "silent_reset"])
def test_a_reset_may_let_the_oldest_writes_through_like_a_crash(fault):
    claims = [
        sometimes(lambda w, n=n: w["n"].found == n and w["n"].disk.idle, name=f"found{n}")
        for n in range(3)
    ]
    system = System(
        nodes={"n": Twice()},
        calls={"n": [Call("put")]},
        faults=Faults(**{fault: 1}),
        streams=Streams(),
        properties=claims,
    )
    report = check(system, traces=None)
    report.assert_holds()
    compare(system, explore(system))
    world = World.initial(system)
    world.apply(world.enabled()[0])
    (reset,) = [event for event in world.enabled() if event.kind in ("reset", "silent")]
    assert world.runs(reset) == [(0,), (1,), (2,)]
    step = world.apply(reset, [2])
    assert (step.choices, world.view()["n"].found) == (((2, 3),), 2)


def test_a_key_must_be_hashable_when_it_is_written():
    class Careless(Service):
        disk: Disk = disk()

        def put(self) -> None:
            self.disk.write([1], 2)

    report = check(System(nodes={"n": Careless()}, calls={"n": [Call("put")]}), traces=None)
    (found,) = report.violations
    assert "unhashable" in found.message
