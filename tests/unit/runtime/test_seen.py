"""What a page shows of a running system: what can be called, and each path once."""

from unit.runtime.ahead import Holder

from presage import Service, action, on, timer
from presage.runtime.board import EventSeen, PredictionSeen
from presage.runtime.operator import distinct
from presage.runtime.seen import methods
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
