"""Two nodes that talk by datagrams and on a stream, steered by answers that a test has written."""

from dataclasses import dataclass

from presage import Service, Streams, System, broken, on, on_prediction, state, timer
from presage.model.world.world import World
from presage.runtime.foreseeing import SteeredCluster
from presage.runtime.foresight import Foreseen
from presage.runtime.shaping import Shape
from presage.runtime.steer_options import SteerOptions
from presage.runtime.virtual import VirtualCluster
from presage.trace.trace import Trace


@dataclass(frozen=True)
class Data:
    n: int


@dataclass(frozen=True)
class Flow:
    n: int


class Talker(Service):
    """Sends one of each every second, if it is `a`; notes what comes."""

    ticks: int = 0
    data: list[int] = state(list)
    flow: list[int] = state(list)
    lost: int = 0
    warned: str = ""

    def start(self):
        if self.name == "a":
            self.arm("tick")

    def neighbours(self):
        return ("b",) if self.name == "a" else ("a",)

    @timer(periodic=True, after=1)
    def tick(self):
        self.ticks += 1
        self.send("b", Data(self.ticks))
        self.stream.send("b", Flow(self.ticks))

    @on(Data)
    def note_data(self, message):
        self.data.append(message.n)

    @on(Flow)
    def note_flow(self, message):
        self.flow.append(message.n)

    @broken
    def gone(self, peer):
        self.lost += 1

    @on_prediction
    def avoid(self, prediction):
        self.warned = prediction.property


class Scripted:
    """A foresight that says what it is told to, node by node and round by round."""

    def __init__(self, **answers):
        self.answers = {name: list(each) for name, each in answers.items()}
        self.questions = {"a": [], "b": []}

    def answer(self, question, node):
        self.questions[node].append(question)
        waiting = self.answers.get(node)
        return waiting.pop(0) if waiting else Foreseen("clean")


def talkers(*properties):
    nodes = {"a": Talker(), "b": Talker()}
    return System(nodes, streams=Streams(), properties=list(properties))


def path(system):
    """A path without steps, which is enough where nobody follows it."""
    begun = World.initial(system).fingerprint
    return Trace.of(system, (), message="bad", prop="bad", kind="safety", initial=begun)


def seen(system, decision, chosen=None, **more):
    return Foreseen(decision, "bad", "because", path(system), chosen, **more)


def steered(system, foresight=None, seconds=60.0, **options):
    """A cluster that has run, and who steered its nodes."""
    cluster = VirtualCluster(system, shape=Shape(delay=0.05), logged=True)
    options.setdefault("predicts", foresight is not None)
    steering = SteeredCluster(cluster, foresight, SteerOptions(round_trip=0.1, **options))
    cluster.run(seconds)
    return cluster, {name: each.steering for name, each in steering.lookouts.items()}


def fields(cluster, name):
    node = cluster.node(name)
    decoded = map(node.automaton.codec.decode, node.local[1:])
    return dict(zip(node.automaton.fields, decoded, strict=True))
