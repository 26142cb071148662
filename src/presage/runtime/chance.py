"""Chance for one life of one live node: every draw comes from one seeded generator.

A checker tries every option of a choice; a live node draws one, by the weights. What it drew is
noted in the record of the step, so that the log of a node replays without the generator. The same
goes for what a handler learns of its queues, and of the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from presage._core import Codec
from presage.execution.chance import Dice
from presage.model.choice import Chooser, Held

T = TypeVar("T")


class Chance:
    """Draws for the life number `life` of the node `name`: another life, other draws."""

    def __init__(self, seed: int, name: str, life: int) -> None:
        self._dice = Dice(Codec.digest(f"{seed}/{life}/{name}".encode()))

    def draw(self, n: int, weights: Sequence[float] | None = None) -> int:
        """An option of `n`, from 0: the `draw` of a `Chooser`."""
        if weights is None:
            return int(self._dice.below(n))
        return self._dice.pick(list(enumerate(weights)))[0]

    def one_of(self, options: Sequence[T]) -> T:
        """A member, each as likely as any."""
        return options[self.draw(len(options))] if len(options) > 1 else options[0]

    def number(self) -> float:
        """A number from 0 to, but not including, 1."""
        return self._dice.below(1.0)


class Queues:
    """The answer to "how many messages are queued to this peer", for handlers that ask."""

    __slots__ = ("_held", "_names", "answers", "taken")

    def __init__(self, names: Sequence[str], held: Callable[[str], int]) -> None:
        self._names = names
        self._held = held
        self.answers: dict[int, int] = {}  # given in the step that is being taken
        self.taken: int | None = None  # the node itself, while it handles what it sent itself

    def get(self, peer: int, default: int, /) -> int:
        held = self._held(self._names[peer]) - (peer == self.taken)
        self.answers[peer] = held
        return held


class LiveChooser(Chooser):
    """Answers the choices of one step of a live node, which knows what time it is."""

    __slots__ = ("_wall",)

    def __init__(self, chance: Chance, held: Held, wall: Callable[[], float]) -> None:
        super().__init__((), extends=False, held=held, draw=chance.draw)
        self._wall = wall

    def now(self) -> float | None:
        return self._wall()
