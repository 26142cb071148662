"""Calls of the workload: in their order, once each, and only while their guards hold."""

from dataclasses import dataclass

import pytest

from presage import Faults, always, check, replay
from presage.errors import BadCall, BadSystem, GuardError, NotEnabled
from presage.model.service.declare import on, state
from presage.model.service.service import Service
from presage.model.world.system import Call, System
from presage.model.world.world import World


@dataclass(frozen=True)
class Ask:
    n: int


@dataclass(frozen=True)
class Answer:
    n: int


class Server(Service):
    @on(Ask)
    def ask(self, message, source):
        self.send(source, Answer(message.n))


class Client(Service):
    waiting: bool = False
    answers: list[int] = state(list)

    def put(self, n):
        self.waiting = True
        self.send("server", Ask(n))

    @on(Answer)
    def answer(self, message):
        self.waiting = False
        self.answers = [*self.answers, message.n]


def idle(node):
    return not node.waiting


def closed_loop(*calls, **more):
    nodes = {"server": Server(), "client": Client()}
    return System(nodes, calls={"client": calls}, **more)


def test_a_call_waits_until_its_guard_holds():
    world = World.initial(closed_loop(Call("put", 1), Call("put", 2, when=idle)))
    first = world.next_call("client")
    world.apply(first)
    assert [event.kind for event in world.enabled()] == ["deliver"]
    with pytest.raises(NotEnabled, match="not in a state for it"):
        world.apply(world.next_call("client"))
    world.apply(world.enabled()[0])
    world.apply(world.enabled()[0])
    assert [str(event) for event in world.enabled()] == ["put(2)"]


@pytest.mark.parametrize("search", ["bfs", "dfs", "tree"])
def test_a_closed_loop_has_one_request_under_way_at_a_time(search):
    @always
    def one_at_a_time(world):
        return len(world.messages()) <= 1

    calls = [Call("put", n) for n in (1, 2, 3)]
    loose = check(closed_loop(*calls, properties=[one_at_a_time]), search=search)
    assert loose.properties["one_at_a_time"] == "violated"
    waiting = [Call("put", n, when=idle) for n in (1, 2, 3)]
    report = check(closed_loop(*waiting, properties=[one_at_a_time]), search=search)
    assert report.properties["one_at_a_time"] == "held"
    assert report.exhausted
    if search != "tree":
        assert report.unique == 10  # three times: called, asked, answered; and the beginning


def test_a_violation_behind_a_guarded_call_replays():
    @always
    def never_two(world):
        return 2 not in world["client"].answers

    system = closed_loop(Call("put", 1), Call("put", 2, when=idle), properties=[never_two])
    (found,) = check(system, traces=None).violations
    assert found.steps == 6
    assert replay(system, found.trace).message is not None


def test_a_guard_sees_the_timers_and_the_name_of_the_node_but_may_do_nothing():
    calls = (Call("put", 1, when=lambda node: node.name == "client" and not node.timers),)
    assert check(closed_loop(*calls)).unique == 4
    with pytest.raises(BadCall, match="a guard uses `self.send`"):
        World.initial(closed_loop(Call("put", 1, when=lambda n: n.send("a", 1)))).enabled()
    with pytest.raises(GuardError, match=r"test_calls.py:\d+.*AttributeError"):
        World.initial(closed_loop(Call("put", 1, when=lambda n: n.wating))).enabled()


def test_a_restart_does_not_repeat_calls_whose_guards_held():
    calls = [Call("put", n, when=idle) for n in (1, 2)]
    report = check(closed_loop(*calls, faults=Faults(crash=1, restart=1, nodes=["client"])))
    assert report.exhausted and not report.violations


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        ([Call("put", 1, when=True)], "when=lambda node: node.ready"),
        ([Call("put", 1, when=lambda: True)], "cannot be called with a node"),
        ([Call("pt", 1)], "did you mean `put`"),
        ([Call(Client.put, 1)], r'Call\("put", ...\)'),
        (["put"], "is not a `Call`"),
        ("put", "is not a `Call`"),
    ],
)
def test_calls_that_cannot_be_made_are_refused_with_the_way_out(calls, words):
    with pytest.raises(BadSystem, match=words):
        closed_loop(*calls) if isinstance(calls, list) else System(
            {"client": Client()}, calls={"client": calls}
        )


def test_calls_that_name_no_node_are_refused():
    with pytest.raises(BadSystem, match=r'`calls={"client": \[Call'):
        System({"client": Client()}, calls=[Call("put", 1)])
