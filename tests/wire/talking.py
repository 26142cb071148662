"""Nodes that say what they are told to, on streams, and a way to make things happen by name.

Every rule test drives a live world step by step, and then has the kernel and the reference explore
the same system: a rule broken in one of the three is a test that fails.
"""

from dataclasses import dataclass

from reference.explorer import explore
from reference.test_kernel import compare

from presage import Call, Faults, Service, Streams, System, World, broken, durable, on, state


@dataclass(frozen=True)
class Say:
    text: str


class Talker(Service):
    heard: list[str] = state(list)
    lost: list[str] = state(list)
    sent: list[bool] = state(list)
    lives: int = durable(0)
    answers: bool = False  # what is lost is answered by a word to the lost one
    greets: str = ""  # who is greeted at the start of every life

    def start(self) -> None:
        self.lives += 1
        if self.greets:
            self.stream.send(self.greets, Say(f"life {self.lives}"))

    @on(Say)
    def hear(self, say: Say, source: str) -> None:
        self.heard.append(f"{source}: {say.text}")

    @broken
    def lose(self, peer: str) -> None:
        self.lost.append(peer)
        if self.answers:
            self.stream.send(peer, Say("are you there?"))

    def say(self, to: str, *texts: str) -> None:
        self.sent += [self.stream.send(to, Say(text)) for text in texts]

    def shout(self, to: str, text: str) -> None:
        self.send(to, Say(text))

    def connect(self, to: str) -> None:
        self.stream.connect(to)

    def close(self, to: str, *texts: str) -> None:
        self.stream.close(to)
        self.sent += [self.stream.send(to, Say(text)) for text in texts]


def talk(calls, *, queue_size=None, nodes="ab", faults=None, prototypes=None, **more):
    """A system of talkers who are called as `calls` says: node -> list of (method, *args)."""
    return System(
        nodes={name: (prototypes or {}).get(name, Talker()) for name in nodes},
        calls={node: [Call(*call) for call in made] for node, made in calls.items()},
        streams=Streams(queue_size),
        faults=faults or Faults(),
        **more,
    )


class Story:
    """A live world, told in words: `happen("b receive")` lets the event of that name happen."""

    def __init__(self, system):
        self.system = system
        self.world = World.initial(system)

    @property
    def possible(self):
        return [f"{event.node} {event.kind} {event}" for event in self.world.enabled()]

    def happen(self, *names):
        for name in names:
            named = zip(self.possible, self.world.enabled(), strict=True)
            found = [event for text, event in named if text.startswith(name)]
            assert len(found) == 1, f"{name!r} is not one of {self.possible}"
            self.world.apply(found[0])
        return self

    def can(self, name):
        return any(text.startswith(name) for text in self.possible)

    def __getitem__(self, name):
        return self.world.view()[name]

    def end(self, node, peer):
        return self.world.view().connection(node, peer)

    def texts(self, node, peer):
        return [message.text for message in self.end(node, peer).queued]


def everywhere(system):
    """Kernel and reference explore the whole system and find the same."""
    compare(system, explore(system))
