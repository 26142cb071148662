"""Chance for one life of one live node: every draw comes from one seeded generator.

A checker tries every option of a choice; a live node draws one, by the weights. What it drew is
noted in the record of the step, so that the log of a node replays without the generator.
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


class LiveChooser(Chooser):
    """Answers the choices of one step of a live node, which knows what time it is."""

    __slots__ = ("_wall",)

    def __init__(self, chance: Chance, held: Held, wall: Callable[[], float]) -> None:
        super().__init__((), extends=False, held=held, draw=chance.draw)
        self._wall = wall

    @property
    def used(self) -> bool:
        """Whether it has answered something, or refused to."""
        return bool(self.taken) or self.error is not None

    def now(self) -> float | None:
        return self._wall()
