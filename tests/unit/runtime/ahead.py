"""Small systems in which something bad is ahead, or somebody waits for something."""

from dataclasses import dataclass

from presage import Service, System, always, eventually, on, timer
from presage.model.world.world import World


@dataclass(frozen=True)
class Grant:
    pass


@dataclass(frozen=True)
class Give:
    to: str


class Holder(Service):
    """Holds a token; gives it away when told to, or, with `greedy`, keeps it, too."""

    greedy: bool = False
    holds: bool = False
    got: int = 0

    def neighbours(self) -> tuple[str, ...]:
        return ("a", "b", "m")

    @on(Give)
    def give(self, message: Give) -> None:
        self.holds = self.greedy
        self.send(message.to, Grant())

    @on(Grant)
    def take(self, message: Grant) -> None:
        self.holds = True
        self.got += 1


class Manager(Service):
    """Has the token move on, once."""

    armed_once: bool = True

    def neighbours(self) -> tuple[str, ...]:
        return ("a", "b", "m")

    def start(self) -> None:
        if self.armed_once:
            self.arm(self.move)

    @timer(after=1.0)
    def move(self) -> None:
        self.send("a", Give("b"))


@always
def one_token(world):
    return sum(node.holds for node in world.of(Holder)) <= 1


@eventually
def moved(world):
    return world["b"].got > 0


def tokens(*, greedy=True, properties=(one_token,), **more):
    nodes = {"a": Holder(greedy=greedy, holds=True), "b": Holder(), "m": Manager()}
    return System(nodes, properties=list(properties), **more)


def saved(system, *kinds):
    """The state after the first enabled events of these kinds, one after the other."""
    world = World.initial(system)
    for kind in kinds:
        event = next(each for each in world.enabled() if each.kind == kind)
        world.apply(event, ())
    return world.save()
