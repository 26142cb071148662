"""State machines as P has them: handled, deferred, ignored, or an error."""

from typing import ClassVar

from presage import Call, Service, System, World, check
from presage.systems.reactive.machine import Event, Machine, State, altered, beside, go


class Ping(Event, frozen=True):
    number: int = 0


class Open(Event, frozen=True):
    pass


class Door(Machine):
    phase: str = "shut"
    seen: tuple[int, ...] = ()
    entered: int = 0

    def note(self, event: Ping, source: str) -> None:
        self.seen = (*self.seen, event.number)

    def count(self) -> None:
        self.entered += 1

    table: ClassVar = {
        "shut": State(on={Open: go("open")}, defer=(Ping,)),
        "open": State(on={Ping: note}, ignore=(Open,), entry=count),
    }


class Caller(Service):
    def tell(self, event: Event) -> None:
        self.send(beside(self, "door"), event)


def after(door: type[Machine], *events: Event):
    """The door after these events, or what went wrong."""
    calls = {"caller1": [Call("tell", event) for event in events]}
    system = System({"door1": door(), "caller1": Caller()}, network="ordered", calls=calls)
    world = World.initial(system)
    for _ in events:
        world.apply(world.next_call("caller1"))
        [deliver] = [event for event in world.enabled() if event.kind == "deliver"]
        world.apply(deliver)
    return world.view()["door1"]


def test_a_deferred_event_is_taken_after_the_next_change_of_state_in_order():
    waiting = after(Door, Ping(1), Ping(2))
    assert waiting.seen == () and [event for event, _ in waiting.deferred] == [Ping(1), Ping(2)]
    door = after(Door, Ping(1), Ping(2), Open(), Ping(3))
    assert (door.phase, door.seen, door.deferred) == ("open", (1, 2, 3), ())


def test_entry_code_runs_once_for_each_change_and_ignored_events_do_nothing():
    door = after(Door, Open(), Open())
    assert (door.entered, door.phase) == (1, "open")


def test_an_event_without_a_row_is_an_error():
    strict = altered(Door, "open", ignore=())
    calls = {"caller1": [Call("tell", Open()), Call("tell", Open())]}
    system = System({"door1": strict(), "caller1": Caller()}, network="ordered", calls=calls)
    [violation] = check(system, traces=None).violations
    assert violation.prop == "no_exception"
    assert "UnhandledEvent: Open from caller1 in state open" in violation.message
