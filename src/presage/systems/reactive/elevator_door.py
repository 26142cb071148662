"""The door of an elevator, with its timer and the buttons: an example of the P distribution.

The elevator opens its door when asked to, keeps it open for a while, and closes it, unless an
object is in the way or somebody presses `Open` again. Opening and closing take time, and stopping
the timer or the door may come too late; most of the table is about what must then be put off.

`opens` claims that after `Open` the door opens, or is open. The published elevator breaks it in two
ways, both where `Open` comes while the door closes: an object in the way is ignored, and then the
door never answers; or the door closes first, and `Open` is forgotten. Both are mended here, and
come back with `bug="published"`. (The published claim is stronger, and does not hold of either:
`Open` that comes while the door is open only keeps it open.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

from presage import Service, System, WorldView, action, eventually, on
from presage.systems.reactive.machine import (
    Event,
    Handlers,
    Kind,
    Machine,
    State,
    Table,
    altered,
    beside,
    go,
)
from presage.systems.reactive.timer import Fired, Start, Stop, Stopped, Timer, TooLate

Bug = Literal["none", "published", "obj", "fail", "stopreset", "ignore_open"]


class Open(Event, frozen=True):
    """A button: open the door, or keep it open."""


class Close(Event, frozen=True):
    """A button: do not wait any longer."""


class Released(Event, frozen=True):
    """The elevator has seen the button; its light goes out."""

    button: str


class OpenDoor(Event, frozen=True):
    """To the door."""


class CloseDoor(Event, frozen=True):
    """To the door."""


class StopDoor(Event, frozen=True):
    """To the door: it should stop closing."""


class ResetDoor(Event, frozen=True):
    """To the door: be ready for the next command."""


class DoorOpened(Event, frozen=True):
    """From the door."""


class DoorClosed(Event, frozen=True):
    """From the door."""


class DoorStopped(Event, frozen=True):
    """From the door: it stopped before it was closed."""


class ObjectDetected(Event, frozen=True):
    """From the door: something is in the way."""


BUTTONS: dict[str, Event] = {"open": Open(), "close": Close()}


class User(Service):
    """Presses any button whose light is out."""

    lit: frozenset[str] = frozenset()

    @action(when=lambda self, button: button not in self.lit, over=BUTTONS)
    def press(self, button: str) -> None:
        self.lit |= {button}
        self.send(beside(self, "elevator"), BUTTONS[button])

    @on(Released)
    def released(self, event: Released) -> None:
        self.lit -= {event.button}


class Door(Machine):
    """Obeys one command, and then wants to be reset."""

    bug: Bug = "none"
    phase: str = "idle"

    def open(self, event: OpenDoor, source: str) -> None:
        self.send(beside(self, "elevator"), DoorOpened())
        self.goto("done")

    def close(self, event: CloseDoor, source: str) -> None:
        what = self.choose(["closed", "object", "slow"])
        if what == "closed":
            self.send(beside(self, "elevator"), DoorClosed())
            self.goto("done")
        elif what == "object":
            self.send(beside(self, "elevator"), ObjectDetected())
        else:
            self.goto("closing")

    def stop(self, event: StopDoor, source: str) -> None:
        self.send(beside(self, "elevator"), DoorStopped())
        self.send(beside(self, "elevator"), DoorOpened())
        self.goto("idle" if self.bug == "stopreset" else "done")

    table: ClassVar[Table] = {
        "idle": State(on={OpenDoor: open, CloseDoor: close}, ignore=(StopDoor, ResetDoor)),
        "closing": State(on={StopDoor: stop}),
        "done": State(on={ResetDoor: go("idle")}, ignore=(OpenDoor, CloseDoor, StopDoor)),
    }


class Elevator(Machine):
    """Tells door and timer what to do."""

    phase: str = "closed"
    after: str = ""  # where it goes on when the timer has stopped
    wanted: bool = False  # somebody pressed `Open`, and the door was not open since

    def handle(self, event: Event, source: str) -> None:
        if isinstance(event, Open | Close):
            self.send(
                beside(self, "user"), Released("open" if isinstance(event, Open) else "close")
            )
        if isinstance(event, Open):
            self.wanted = self.phase != "opened"
        super().handle(event, source)

    def reset(self) -> None:
        self.send(beside(self, "door"), ResetDoor())

    def open_door(self) -> None:
        self.send(beside(self, "door"), OpenDoor())

    def open_again(self, event: Event, source: str) -> None:
        self.reset()
        self.goto("opening")

    def door_opened(self, event: DoorOpened, source: str) -> None:
        self.wanted = False
        self.reset()
        self.goto("opened")

    def start_timer(self) -> None:
        self.send(beside(self, "timer"), Start())

    def stay_open(self, event: Open, source: str) -> None:
        self.after = "opened"
        self.goto("stopping_timer")

    def hurry(self, event: Close, source: str) -> None:
        self.after = "closing"
        self.goto("stopping_timer")

    def stop_timer(self) -> None:
        self.send(beside(self, "timer"), Stop())

    def timer_stopped(self, event: Event, source: str) -> None:
        after, self.after = self.after, ""
        self.goto(after)

    def close_door(self) -> None:
        self.send(beside(self, "door"), CloseDoor())

    def stop_door(self) -> None:
        self.send(beside(self, "door"), StopDoor())

    stopping: ClassVar = State(defer=(Open, Close, ObjectDetected))
    table: ClassVar[Table] = {
        "closed": State(entry=reset, on={Open: go("opening")}, ignore=(Close,)),
        "opening": State(
            entry=open_door, on={DoorOpened: door_opened}, defer=(Close,), ignore=(Open,)
        ),
        "opened": State(
            entry=start_timer, on={Fired: go("ready_to_close"), Open: stay_open}, defer=(Close,)
        ),
        "ready_to_close": State(
            entry=start_timer, on={Fired: go("closing"), Close: hurry}, defer=(Open,)
        ),
        "closing": State(
            entry=close_door,
            on={Open: go("stopping"), DoorClosed: go("closed"), ObjectDetected: go("opening")},
            defer=(Close,),
        ),
        "stopping": State(
            entry=stop_door,
            on={
                DoorOpened: door_opened,
                DoorStopped: go("opening"),
                DoorClosed: open_again,
                ObjectDetected: go("opening"),
            },
            defer=(Close,),
            ignore=(Open,),
        ),
        "stopping_timer": replace(
            stopping,
            entry=stop_timer,
            on={Stopped: timer_stopped, TooLate: go("firing"), Fired: timer_stopped},
        ),
        "firing": replace(stopping, on={Fired: timer_stopped}),
    }


def elevator(bug: Bug) -> type[Elevator]:
    """The elevator with that bug."""
    stopping, closing = Elevator.table["stopping"], Elevator.table["closing"]
    stopping_timer = Elevator.table["stopping_timer"]
    match bug:
        case "published":
            forgets: Handlers = {**without(stopping, ObjectDetected), DoorClosed: go("closed")}
            deaf = (*stopping.ignore, ObjectDetected)
            return altered(Elevator, "stopping", on=forgets, ignore=deaf)
        case "obj":
            return altered(Elevator, "stopping", on=without(stopping, ObjectDetected))
        case "fail":
            late: Handlers = {**stopping_timer.on, TooLate: Elevator.timer_stopped}
            return altered(Elevator, "stopping_timer", on=late)
        case "ignore_open":
            return altered(Elevator, "closing", on=without(closing, Open), ignore=(Open,))
    return Elevator


def without(state: State, event: Kind) -> Handlers:
    """The handlers of a state but that of one event."""
    return {kind: handler for kind, handler in state.on.items() if kind is not event}


def opens(elevator: str, name: str) -> Any:
    """The claim that after `Open` the door of an elevator opens, or is open."""

    def answered(world: WorldView) -> bool:
        return not world[elevator].wanted

    return eventually(answered, name=name)


def system(*, elevators: int = 1, bug: Bug = "none") -> System:
    """Elevators, each with its door and timer, and somebody at the buttons.

    elevators: how many; they have nothing to do with each other, and each has its own claim.
    bug: `published` loses `Open` where it races with the door, in two ways. `obj` is not ready for
        an object in the way while it stops the door, `fail` takes a timer that could not be stopped
        for one that was, `stopreset` has a door that wants no reset after it was stopped,
        `ignore_open` does not stop the door for `Open`.
    """
    nodes: dict[str, Service] = {}
    claims = []
    for n in range(elevators):
        nodes[f"elevator{n}"] = elevator(bug)()
        nodes[f"door{n}"] = Door(bug=bug)
        nodes[f"timer{n}"] = Timer(owner="elevator")
        nodes[f"user{n}"] = User()
        claims.append(opens(f"elevator{n}", "opens" if elevators == 1 else f"opens{n}"))
    return System(nodes, network="ordered", properties=claims, name="elevator door")
