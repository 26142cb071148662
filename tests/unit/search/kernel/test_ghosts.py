"""Ghost fields must not decide anything; what depends on one is refused, not missed."""

import pytest

from presage import Service, System, action, check, ghost, on
from presage.errors import Nondeterminism


class Counting(Service):
    hops: int = ghost(0)
    turn: int = 0

    def start(self) -> None:
        self.send(self.name, "go")

    @on(str)
    def go(self, word: str) -> None:
        self.hops += 1
        self.turn = (self.turn + 1) % 3
        self.send(self.name, word)


class Deciding(Counting):
    @on(str)
    def go(self, word: str) -> None:
        super().go(word)
        if self.hops > 3:
            raise ValueError("too many hops")


class Offering(Counting):
    @action(when=lambda self: self.hops > 2)
    def leave(self) -> None:
        self.turn = 9


def test_a_ghost_that_only_counts_splits_no_states() -> None:
    report = check(System({"n": Counting()}), traces=None)
    assert (report.unique, report.exhausted) == (3, True)


def test_a_handler_that_depends_on_a_ghost_is_refused() -> None:
    with pytest.raises(Nondeterminism, match=r"deliver 'go' from n, with other ghosts \(`hops`\)"):
        check(System({"n": Deciding()}), traces=None)


def test_an_action_that_depends_on_a_ghost_is_refused() -> None:
    with pytest.raises(Nondeterminism, match=r"with other ghosts \(`hops`\).*other actions"):
        check(System({"n": Offering()}), traces=None)
