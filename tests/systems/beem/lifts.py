"""Lifts that move a truck together (Groote, Pang, Wouters 2001): stations on a bus with relays.

Messages are (kind, position). The bus hands a message on from station to station, upwards and then
downwards, as far as relays are closed; `busy` holds back who would change a relay meanwhile.
"""

from typing import NamedTuple

from systems.beem.commands import put

STANDBY, DOWN, UP, SYNC, STARTUP = range(5)


class Bus(NamedTuple):
    place: str = "wait"
    sender: int = 0
    j: int = 0
    message: tuple = (0, 0)


class Lift(NamedTuple):
    place: str = "wait"
    pos: int = 0
    status: int = STANDBY
    count_all: int = 0
    message: tuple = (0, 0)
    votes: int = 0


class State(NamedTuple):
    bus: Bus
    wheels: tuple
    lifts: tuple
    buttons: tuple
    relays: tuple
    busy: bool


def model(n):
    start = State(Bus(), ("staying", 0), (Lift(),) * n, ("in", 0), (0,) * n, False)
    return start, lambda state: Step(state).all()


def moving_up(state):
    return state.wheels[0] == "up"


class Step:
    """All transitions of one state."""

    def __init__(self, state):
        self.state, self.n, self.found = state, len(state.lifts), []

    def all(self):
        self.bus()
        for at, lift in enumerate(self.state.lifts):
            getattr(self, lift.place)(at, lift)
        return self.found

    def go(self, at=None, lift=None, **more):
        if lift is not None:
            more["lifts"] = put(self.state.lifts, at, lift)
        self.found.append(self.state._replace(**more))

    # -- the bus -----------------------------------------------------------------------------

    def bus(self):
        bus, relays, n = self.state.bus, self.state.relays, self.n
        if bus.place == "send_up":
            closed = relays[(bus.j + n - 1) % n]
            if bus.j == bus.sender:
                self.go(bus=bus._replace(place="wait"), busy=False)
            elif closed:
                self.hand_over(bus._replace(j=(bus.j + 1) % n))
            else:
                self.go(bus=bus._replace(place="send_down", j=(bus.sender + n - 1) % n))
        elif bus.place == "send_down":
            if bus.j == bus.sender or not relays[bus.j]:
                self.go(bus=bus._replace(place="wait"), busy=False)
            else:
                self.hand_over(bus._replace(j=(bus.j + n - 1) % n))

    def hand_over(self, after):
        at = self.state.bus.j
        lift = self.state.lifts[at]
        places = {"q3": "q4", "wait": "r1", "r3": "r4", "passive": "p_msg", "active": "a_msg"}
        if lift.place in places:
            taken = lift._replace(place=places[lift.place], message=self.state.bus.message)
            self.go(at, taken, bus=after)

    def speak(self, at, lift, kind):
        """Give a message to the bus, which must be waiting."""
        if self.state.bus.place == "wait":
            bus = Bus("send_up", at, (at + 1) % self.n, (kind, lift.pos))
            self.go(at, lift, bus=bus, busy=True)

    def roll(self, at, lift, way):
        """Let the wheels follow: all lifts the same way, or it is an error."""
        place, count = self.state.wheels
        if place == "error":
            return
        if place == "staying":
            wheels = (way, 1)
        elif place != way:
            wheels = ("error", count)
        else:
            wheels = (way, count + 1) if count < self.n - 1 else ("staying", count)
        self.go(at, lift, wheels=wheels)

    # -- a lift ------------------------------------------------------------------------------

    def wait(self, at, lift):
        if not self.state.busy and self.state.buttons[0] == "in":
            first = lift._replace(place="q1", pos=0, count_all=1)
            self.go(at, first, relays=put(self.state.relays, at, 1), buttons=("q1", 0))

    def q1(self, at, lift):
        if not self.state.busy:
            self.speak(at, lift._replace(place="q2"), STARTUP)

    def q2(self, at, lift):
        if not self.state.busy:
            self.go(at, lift._replace(place="q3"), relays=put(self.state.relays, at, 0))

    def q3(self, at, lift):
        """Waits for the bus."""

    def q4(self, at, lift):
        if lift.message[0] == STARTUP:
            self.go(at, lift._replace(place="q5", count_all=lift.message[1] + 1))

    def q5(self, at, lift):
        if not self.state.busy:
            self.speak(at, lift._replace(place="passive"), STANDBY)

    def r1(self, at, lift):
        if not self.state.busy and lift.message[0] == STARTUP:
            pos = lift.message[1] + 1
            known = lift._replace(place="r2", pos=pos, count_all=pos + 1)
            self.go(at, known, relays=put(self.state.relays, at, 1))

    def r2(self, at, lift):
        if not self.state.busy:
            self.speak(at, lift._replace(place="r3"), STARTUP)

    r3 = q3

    def r4(self, at, lift):
        if lift.message[0] == STARTUP:
            self.go(at, lift._replace(place="r3", count_all=lift.message[1] + 1))
        elif lift.message[0] == STANDBY and lift.pos != 1:
            self.go(at, lift._replace(place="passive"))
        elif lift.message[0] == STANDBY and not self.state.busy:
            self.speak(at, lift._replace(place="passive"), STANDBY)

    def passive(self, at, lift):
        pressed = {"q1": ("up", UP), "q2": ("down", DOWN)}.get(self.state.buttons[0])
        if pressed and not self.state.busy:
            way, status = pressed
            self.go(
                at,
                lift._replace(place="active", status=status, votes=1),
                buttons=(way, at),
            )

    def my_turn(self, lift):
        return (lift.message[1] + 1) % lift.count_all == lift.pos

    def p_msg(self, at, lift):
        kind = lift.message[0]
        after = lift._replace(place="p_send" if self.my_turn(lift) else "passive")
        if kind != SYNC:
            self.go(at, after._replace(status=kind))
        elif lift.status in (UP, DOWN):
            self.roll(at, after, "up" if lift.status == UP else "down")
        elif lift.status == STANDBY and not self.state.busy:
            self.go(at, lift._replace(place="error"))

    def p_send(self, at, lift):
        self.speak(at, lift._replace(place="passive"), lift.status)

    def active(self, at, lift):
        released = {("up", at): "q2", ("down", at): "q3"}.get(self.state.buttons)
        if released and not self.state.busy:
            self.go(at, lift._replace(place="passive", status=STANDBY), buttons=(released, 0))

    def a_msg(self, at, lift):
        kind = lift.message[0]
        if kind == SYNC and lift.status in (UP, DOWN):
            self.roll(at, lift._replace(place="active"), "up" if lift.status == UP else "down")
        votes = lift.votes + (kind == lift.status)
        place = "a_send" if self.my_turn(lift) else "active"
        self.go(at, lift._replace(place=place, votes=votes))

    def a_send(self, at, lift):
        if lift.votes == lift.count_all:
            self.speak(at, lift._replace(place="a_move", votes=1), SYNC)
        else:
            self.speak(at, lift._replace(place="active", votes=1), lift.status)

    def a_move(self, at, lift):
        self.roll(at, lift._replace(place="active"), "up" if lift.status == UP else "down")

    error = q3
