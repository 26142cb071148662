"""The driver of a USB hub: ports that come and go, devices, and a hub that is put to sleep.

Desai et al., "P: Safe Asynchronous Event-Driven Programming" (2013) describe the driver of Windows
8; its source is not public. This one is written after that description. A port that something is
plugged into waits until the contact is stable, resets it, and lets its device be enumerated. When
it is unplugged, what the port was doing must come to an end first: its timer, a reset, or the
clean-up of the device. The hub sleeps when all its ports do.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from presage import Call, Service, System, Verdict, WorldView, always, eventually, forall, implies
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

Bug = Literal["none", "noack", "suspend_race", "timer"]


class Connect(Event, frozen=True):
    """The socket: something was plugged in."""


class Disconnect(Event, frozen=True):
    """The socket: it was unplugged."""


class Noticed(Event, frozen=True):
    """To the socket: the port has seen it."""


class Reset(Event, frozen=True):
    """To the controller."""


class ResetDone(Event, frozen=True):
    """From the controller."""


class Enumerate(Event, frozen=True):
    """To the device: a new one is there."""


class Gone(Event, frozen=True):
    """To the device: it is not there any more."""


class CleanedUp(Event, frozen=True):
    """From the device: it may come again. And from the system to the device."""


class Describe(Event, frozen=True):
    """From the device to the system: this is what it is."""


class Configure(Event, frozen=True):
    """From the system to the device: use it so."""


class Removed(Event, frozen=True):
    """From the device to the system: clean up."""


class Changed(Event, frozen=True):
    """From a port to the hub: something was plugged in."""


class Suspend(Event, frozen=True):
    """To the hub, and from it to the ports: sleep."""


class Asleep(Event, frozen=True):
    """From a port."""


class Resume(Event, frozen=True):
    """To the hub, and from it to the ports: wake up."""


class Socket(Machine):
    """Things are plugged in and out, so often, as fast as the port can see it."""

    plugs: int
    phase: str = "empty"

    def start(self) -> None:
        self.change()

    def change(self) -> None:
        if self.plugs:
            self.plugs -= 1
            self.send(beside(self, "port"), Connect() if self.phase == "empty" else Disconnect())
            self.goto("full" if self.phase == "empty" else "empty")

    def noticed(self, event: Noticed, source: str) -> None:
        self.change()

    row: ClassVar = State(on={Noticed: noticed})
    table: ClassVar[Table] = {"empty": row, "full": row}


class Controller(Machine):
    """Resets what is plugged in."""

    phase: str = "on"

    def reset(self, event: Reset, source: str) -> None:
        self.send(source, ResetDone())

    table: ClassVar[Table] = {"on": State(on={Reset: reset})}


class Port(Machine):
    """Sees to it that what was plugged in is enumerated, once it is stable."""

    bug: Bug = "none"
    phase: str = "empty"
    before: str = ""  # the state in which it was put to sleep

    def notice(self) -> None:
        self.send(beside(self, "socket"), Noticed())

    def connected(self, event: Connect, source: str) -> None:
        self.notice()
        self.send("hub", Changed())
        self.send(beside(self, "timer"), Start())
        self.goto("debouncing")

    def stable(self, event: Fired, source: str) -> None:
        self.send("controller", Reset())
        self.goto("resetting")

    def bounced(self, event: Disconnect, source: str) -> None:
        self.notice()
        self.send(beside(self, "timer"), Stop())
        self.goto("stopping")

    def reset_done(self, event: ResetDone, source: str) -> None:
        self.send(beside(self, "device"), Enumerate())
        self.goto("enabled")

    def aborted(self, event: Disconnect, source: str) -> None:
        self.notice()
        self.goto("aborting")

    def unplugged(self, event: Disconnect, source: str) -> None:
        self.notice()
        self.send(beside(self, "device"), Gone())
        self.goto("empty" if self.bug == "noack" else "removing")

    def sleep(self, event: Suspend, source: str) -> None:
        self.before = self.phase
        self.send("hub", Asleep())
        self.goto("asleep")

    def wake_up(self, event: Resume, source: str) -> None:
        before, self.before = self.before, ""
        self.goto(before)

    busy: ClassVar = (Connect, Disconnect, Suspend)
    stopping: ClassVar[Handlers] = {
        Stopped: go("empty"),
        TooLate: go("firing"),
        Fired: go("empty"),
    }
    table: ClassVar[Table] = {
        "empty": State(on={Connect: connected, Suspend: sleep}),
        "debouncing": State(on={Fired: stable, Disconnect: bounced}, defer=(Suspend,)),
        "stopping": State(on=stopping, defer=busy),
        "firing": State(on={Fired: go("empty")}, defer=busy),
        "resetting": State(on={ResetDone: reset_done, Disconnect: aborted}, defer=(Suspend,)),
        "aborting": State(on={ResetDone: go("empty")}, defer=busy),
        "enabled": State(on={Disconnect: unplugged, Suspend: sleep}),
        "removing": State(on={CleanedUp: go("empty")}, defer=busy),
        "asleep": State(on={Resume: wake_up}, defer=(Connect, Disconnect)),
    }


class Device(Machine):
    """What is known of the thing that is plugged in."""

    bug: Bug = "none"
    phase: str = "absent"

    def describe(self, event: Enumerate, source: str) -> None:
        self.send("system", Describe())
        self.goto("addressed")

    def gone(self, event: Gone, source: str) -> None:
        self.send("system", Removed())
        self.goto("leaving")

    def cleaned_up(self, event: CleanedUp, source: str) -> None:
        if self.bug != "noack":
            self.send(beside(self, "port"), CleanedUp())
        self.goto("absent")

    table: ClassVar[Table] = {
        "absent": State(on={Enumerate: describe}),
        "addressed": State(on={Configure: go("configured"), Gone: gone}),
        "configured": State(on={Gone: gone}),
        "leaving": State(on={CleanedUp: cleaned_up}, ignore=(Configure,)),
    }


class Hub(Machine):
    """Puts all its ports to sleep, and wakes them up."""

    ports: tuple[str, ...]
    phase: str = "on"
    awake: int = 0  # ports that have not answered yet

    def suspend(self, event: Suspend, source: str) -> None:
        self.awake = len(self.ports)
        for port in self.ports:
            self.send(port, Suspend())
        self.goto("suspending")

    def answered(self, event: Event, source: str) -> None:
        self.awake -= 1
        if self.awake == 0:
            self.goto("suspended")

    def resume(self, event: Resume, source: str) -> None:
        for port in self.ports:
            self.send(port, Resume())
        self.goto("on")

    table: ClassVar[Table] = {
        "on": State(on={Suspend: suspend}, ignore=(Changed,)),
        "suspending": State(on={Asleep: answered}, defer=(Suspend, Resume), ignore=(Changed,)),
        "suspended": State(on={Resume: resume}, ignore=(Changed,)),
    }


class OperatingSystem(Machine):
    """Knows how devices are used, and puts the hub to sleep now and then."""

    phase: str = "on"

    def tell(self, event: Event) -> None:
        self.send("hub", event)

    def describe(self, event: Describe, source: str) -> None:
        self.send(source, Configure())

    def removed(self, event: Removed, source: str) -> None:
        self.send(source, CleanedUp())

    table: ClassVar[Table] = {"on": State(on={Describe: describe, Removed: removed})}


@always
def sleep_together(world: WorldView) -> Verdict:
    """While the hub is suspended, all its ports are asleep."""
    [hub] = world.of(Hub)
    ports = world.of(Port)
    return forall(ports, lambda port: implies(hub.phase == "suspended", port.phase == "asleep"))


@eventually
def come_to_rest(world: WorldView) -> Verdict:
    """Every port finishes what it began."""
    return forall(world.of(Port), lambda port: port.phase in ("empty", "enabled", "asleep"))


def system(*, ports: int = 1, plugs: int = 3, naps: int = 1, bug: Bug = "none") -> System:
    """A hub with its ports, each with its device, its timer and its socket.

    ports: how many.
    plugs: how often something is plugged in or out, at each.
    naps: how often the hub is suspended and resumed.
    bug: `noack` is ready for the next device before the last one was cleaned up, `suspend_race`
        takes the news that something was plugged in for the answer of a port that sleeps, `timer`
        takes a timer that could not be stopped for one that was.
    """
    port, hub = Port, Hub
    if bug == "timer":
        port = altered(Port, "stopping", on={**Port.stopping, TooLate: go("empty")})
    if bug == "suspend_race":
        counts = {Asleep: Hub.answered, Changed: Hub.answered}
        hub = altered(Hub, "suspending", on=counts, ignore=())
        for phase in ("on", "suspended"):  # answers that come late
            hub = altered(hub, phase, ignore=(Changed, Asleep))
    names = tuple(f"port{n}" for n in range(ports))
    nodes: dict[str, Service] = {
        "system": OperatingSystem(),
        "hub": hub(ports=names),
        "controller": Controller(),
    }
    for n in range(ports):
        nodes[f"port{n}"] = port(bug=bug)
        nodes[f"device{n}"] = Device(bug=bug)
        nodes[f"timer{n}"] = Timer(owner="port")
        nodes[f"socket{n}"] = Socket(plugs=plugs)
    return System(
        nodes,
        network="ordered",
        calls={"system": [Call("tell", Suspend()), Call("tell", Resume())] * naps},
        properties=[sleep_together, come_to_rest],
        name="USB hub",
    )
