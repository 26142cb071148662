"""What is not proven together is refused, or said: never passed over in silence."""

import pytest

from presage import Service, System, Timed, check, eventually, on
from presage.errors import NotSymmetric


class Node(Service):
    heard: bool = False

    def start(self) -> None:
        if self.name == "a":
            self.send("b", "hello")

    @on(str)
    def hear(self, word: str) -> None:
        self.heard = True


@eventually
def always_again(world) -> bool:
    return True


def two(**settings) -> System:
    return System({"a": Node(), "b": Node()}, properties=[always_again], **settings)


def test_symmetry_of_a_timed_system_is_refused() -> None:
    nodes = {"a": Node(), "b": Node()}
    system = System(nodes, clock=Timed(), symmetric=[["a", "b"]])
    with pytest.raises(NotSymmetric, match="symmetry for a timed system"):
        check(system, symmetry=True, traces=None)


def test_a_timed_system_says_what_is_not_tried() -> None:
    report = check(two(clock=Timed()), traces=None)
    assert any("clocks move only when timers fire" in note for note in report.notes)
    assert not any("clocks" in note for note in check(two(), traces=None).notes)
