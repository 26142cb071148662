"""What a page shows of a running system: what can be called, and each path once."""

import msgspec
from unit.runtime.ahead import Holder

from presage import Service, action, on, timer
from presage.model.service.calls import methods
from presage.runtime import operator as operators
from presage.runtime.board import EventSeen, NodeSeen, PredictionSeen
from presage.runtime.operator import ClusterOperator, distinct
from presage.runtime.seen import Seen
from presage.runtime.up import local_cluster
from presage.systems.randtree.service import RandTree


class Base(Service):
    count: int = 0

    def add(self, number: int) -> int:
        self.count += number
        return self.count


class Counter(Base):
    def start(self) -> None:
        self.arm(self.tick)

    def neighbours(self):
        return ()

    def read(self) -> int:
        return self.count

    def _hidden(self) -> None: ...

    @timer(after=1.0)
    def tick(self) -> None: ...

    @action(when=lambda self: False)
    def act(self) -> None: ...

    @on(str)
    def hear(self, message: str) -> None: ...


def test_public_methods_that_are_no_handlers_can_be_called():
    assert methods(Counter) == ("add", "read")
    assert methods(Holder) == ()
    assert methods(RandTree) == ()


def seen(key, node, answer, at, text="Join from n1"):
    events = (EventSeen(node="n1", text="reset"), EventSeen(node="n2", text=text))
    return PredictionSeen(key=key, node=node, prop="disjoint", at=at, events=events, answer=answer)


def test_a_path_that_many_nodes_see_again_and_again_is_shown_once():
    newest = [
        seen(3, "n1", "unpreventable", 3.0),
        seen(2, "n2", "filter: drop Join", 2.0),
        seen(1, "n1", "unpreventable", 1.0),
        seen(0, "n3", "watched", 0.5, text="Probe from n1"),
    ]
    assert [each.key for each in distinct(newest)] == [2, 0]


def test_a_node_that_runs_and_does_not_answer_is_shown_as_it_was(monkeypatch):
    node = NodeSeen(name="n0", status="up", pid=7, steps=3, fields={"count": "1"})
    answers = {"n0": msgspec.to_builtins(Seen(node))}
    facts = {"n0": {"running": True, "pid": 7}, "n1": {"running": True, "pid": 8}}
    monkeypatch.setattr(operators, "ask", lambda path, request: facts)
    monkeypatch.setattr(operators, "ask_all", lambda paths, request, seconds: answers)
    operator = ClusterOperator(local_cluster(["n0", "n1"], "unused"), "Counter")
    assert [each.status for each in operator.board().nodes] == ["up", "starting"]
    answers = {}
    silent, starting = operator.board().nodes
    assert silent == msgspec.structs.replace(node, status="silent")
    facts = {"n0": {"running": True, "pid": 9}, "n1": {"running": False}}
    assert [each.status for each in operator.board().nodes] == ["starting", "down"]
