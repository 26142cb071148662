"""A driver of a switch with lights, on a bus that goes to sleep: P's first example.

After the model OSR of the P distribution. The switch reports changes; the driver then updates the
lights, marks them unstable, and marks them stable again when no change has come for a while. The
system may put the device to sleep at any time, and wakes it up later. While the driver waits for
the lights or for its timer, all that would change its mind is deferred.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

from presage import Call, Service, System, Verdict, WorldView, always, eventually, forall
from presage.systems.reactive.machine import (
    Event,
    Handlers,
    Machine,
    State,
    Table,
    altered,
    beside,
    go,
)
from presage.systems.reactive.timer import Fired, Start, Stop, Stopped, Timer, TooLate

Bug = Literal["none", "nodefer", "earlyfire", "stalefire"]


class WakeUp(Event, frozen=True):
    """The device gets power: D0 entry."""


class Sleep(Event, frozen=True):
    """The device loses power: D0 exit."""


class SwitchChange(Event, frozen=True):
    """The switch was moved."""


class Transfer(Event, frozen=True):
    """Set the lights to what they should show."""

    what: Literal["bar", "unstable", "stable"]


class Success(Event, frozen=True):
    """The lights are set."""


class Failure(Event, frozen=True):
    """They are not."""


class Environment(Service):
    """The system, or the switch: tells all drivers something whenever it likes, so often."""

    drivers: tuple[str, ...]

    def tell(self, event: Event) -> None:
        for driver in self.drivers:
            self.send(driver, event)


class Lights(Machine):
    """Takes one transfer at a time. A transfer of the bar may fail."""

    phase: str = "idle"

    def transfer(self, event: Transfer, source: str) -> None:
        fails = event.what == "bar" and self.choose([False, True])
        self.send(source, Failure() if fails else Success())

    table: ClassVar[Table] = {"idle": State(on={Transfer: transfer})}


class Driver(Machine):
    """Follows the switch while it has power."""

    phase: str = "asleep"
    after: str = ""  # where it goes on when the timer has stopped

    def check(self) -> None:
        self.goto("updating" if self.choose([True, False]) else "settling")

    def update(self) -> None:
        self.send(beside(self, "lights"), Transfer("bar"))

    def unsettle(self) -> None:
        self.send(beside(self, "lights"), Transfer("unstable"))

    def settle(self) -> None:
        self.send(beside(self, "lights"), Transfer("stable"))

    def start_timer(self) -> None:
        self.send(beside(self, "timer"), Start())

    def changed(self, event: SwitchChange, source: str) -> None:
        self.after = "checking"
        self.goto("stopping")

    def sleep(self, event: Sleep, source: str) -> None:
        self.after = "asleep"
        self.goto("stopping")

    def stop_timer(self) -> None:
        self.send(beside(self, "timer"), Stop())

    def stopped(self, event: Event, source: str) -> None:
        after, self.after = self.after, ""
        self.goto(after)

    busy: ClassVar = State(defer=(Sleep, SwitchChange), ignore=(WakeUp,))
    answered: ClassVar[Handlers] = {
        Stopped: stopped,
        TooLate: go("firing"),
        Fired: stopped,
    }
    table: ClassVar[Table] = {
        "asleep": State(on={WakeUp: go("waiting")}, defer=(SwitchChange,), ignore=(Sleep,)),
        "waiting": State(on={SwitchChange: go("checking"), Sleep: go("asleep")}, ignore=(WakeUp,)),
        "checking": State(entry=check),
        "updating": replace(
            busy, entry=update, on={Success: go("unsettling"), Failure: go("unsettling")}
        ),
        "unsettling": replace(busy, entry=unsettle, on={Success: go("settling")}),
        "settling": State(
            entry=start_timer,
            on={Fired: go("stabilising"), SwitchChange: changed, Sleep: sleep},
            ignore=(WakeUp,),
        ),
        "stabilising": replace(busy, entry=settle, on={Success: go("waiting")}),
        "stopping": replace(busy, entry=stop_timer, on=answered),
        "firing": replace(busy, on={Fired: stopped}),
    }


def driver(bug: Bug) -> type[Driver]:
    """The driver with that bug."""
    if bug == "nodefer":
        return altered(Driver, "stopping", defer=(Sleep,))
    if bug == "stalefire":
        return altered(Driver, "stopping", on={**Driver.answered, TooLate: Driver.stopped})
    return Driver


@always
def one_transfer(world: WorldView) -> bool:
    """No driver has two transfers under way."""
    drivers = [
        envelope.to if isinstance(envelope.message, Success | Failure) else envelope.source
        for envelope in world.messages(Transfer, Success, Failure)
    ]
    return len(drivers) == len(set(drivers))


@eventually
def finished(world: WorldView) -> Verdict:
    """The driver finishes what it began."""
    return forall(world.of(Driver), lambda driver: driver.phase in ("asleep", "waiting"))


def system(*, devices: int = 1, naps: int = 3, changes: int = 3, bug: Bug = "none") -> System:
    """Drivers, each with its lights and timer, its switch, and the system around it.

    devices: how many; they have nothing to do with each other.
    naps: how often a device is woken up and put to sleep again.
    changes: how often its switch is moved.
    bug: `nodefer` does not put off changes while the timer is stopped, `earlyfire` has a timer
        that always answers and a driver that does not expect it, `stalefire` forgets that the
        timer is about to fire.
    """
    drivers = tuple(f"driver{n}" for n in range(devices))
    nodes: dict[str, Service] = {}
    for n in range(devices):
        nodes[f"driver{n}"] = driver(bug)()
        nodes[f"timer{n}"] = Timer(owner="driver", answers=bug == "earlyfire")
        nodes[f"lights{n}"] = Lights()
    return System(
        {**nodes, "power": Environment(drivers=drivers), "switch": Environment(drivers=drivers)},
        network="ordered",
        calls={
            "power": [Call("tell", WakeUp()), Call("tell", Sleep())] * naps,
            "switch": [Call("tell", SwitchChange())] * changes,
        },
        properties=[one_transfer, finished],
        name="OSR",
    )
