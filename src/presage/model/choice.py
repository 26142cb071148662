"""Choices: every decision a handler leaves open, made from outside, recorded and replayed.

A handler that asks for a choice gets the next one of a given list, so the list replays the run
exactly. Beyond its end a chooser draws by chance (`draw`, of a node that runs live), or stops the
run (`Fork`), or goes on with the first option, which lets `branches` enumerate every run of a
handler in as many runs.

The idea is MaceMC's `Toss`; the enumeration is depth first, like an odometer.
`random` is imported for its class only: the one here draws nothing, it branches.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol, TypeAlias, TypeVar

from presage.errors import BadCall, BadChoice, BadSystem, NotEnumerable, PresageError
from presage.model.source import caller
from presage.model.weights import checked_shares, share
from presage.records import NamedTuple

T = TypeVar("T")

SEQUENCES = frozenset((list, range, tuple))  # known without asking `Sequence`
OPTIONS_MAX = 1000  # options of one choice
CHOICES_MAX = 1000  # choices of one run


class Fork(NamedTuple):
    """The code asked for a choice beyond those supplied; there are `n` options."""

    n: int


class Interrupted(BaseException):
    """Ends a run of user code from outside.

    Not an `Exception`, so that a handler's own `except` does not take it for an error.
    """


class Beyond(Interrupted):
    """Ends a handler that asked for a choice nobody made."""


# What leaves user code and is not its own doing.
NOT_THEIRS = (PresageError, Interrupted, KeyboardInterrupt)


Draw: TypeAlias = Callable[[int, Sequence[float] | None], int]


class Held(Protocol):
    """How many messages are queued to a peer, by its index: a mapping, or who knows it."""

    def get(self, peer: int, default: int, /) -> int: ...


class Chooser:
    """Answers the choices of one run.

    `taken` holds (k, n) for each: option k, from 0, of n; n is at least 2, since a choice among
    one is none.
    """

    __slots__ = (
        "_asked",
        "_draw",
        "_extends",
        "_given",
        "beyond",
        "error",
        "held",
        "returned",
        "share",
        "taken",
    )

    def __init__(
        self,
        given: Sequence[int],
        *,
        extends: bool,
        held: Held | None = None,
        draw: Draw | None = None,
    ) -> None:
        self._given = given
        self._extends = extends
        self._draw = draw  # answers what is not given: (number of options, weights) -> option
        self.taken: list[tuple[int, int]] = []
        self.share = 1.0  # how likely the handler's choices are, by their weights
        self.held = held  # messages queued to each peer; None: not known, every answer is tried
        self._asked: set[int] = set()  # positions of what the world answers, not the handler
        self.beyond: int | None = None  # number of options of the choice that was not supplied
        self.returned: Any = None  # by the handler; only a call from outside asks for it
        self.error: PresageError | None = None  # kept, because a handler's `except` may eat it

    def refuse(self, error: PresageError) -> NoReturn:
        """Raise `error`, which ends the search even if the handler catches it."""
        self.error = error
        raise error

    def pick(self, n: int, weights: Sequence[float] | None = None) -> int:
        """The next choice among `n`; `weights` say how likely each is in a calm walk."""
        if n == 1:
            return 0
        taken, given = self.taken, self._given
        at = len(taken)
        if at < len(given) and at < CHOICES_MAX and 0 <= given[at] < n <= OPTIONS_MAX:
            k = given[at]  # as `_next` would, in less time: most choices are given
            taken.append((k, n))
        else:
            k = self._next(n, weights)
        self.share *= share(weights, k) if weights else 1 / n
        return k

    def _next(self, n: int, weights: Sequence[float] | None = None) -> int:
        at = len(self.taken)
        if n > OPTIONS_MAX or at >= CHOICES_MAX:
            self.refuse(_too_many(n, at + 1))
        if at < len(self._given):
            k = self._given[at]
            if not 0 <= k < n:
                self.refuse(BadChoice(k, n))
        elif self._draw is not None:
            k = self._draw(n, weights)
        elif self._extends:
            k = 0
        else:
            self.beyond = n
            raise Beyond
        self.taken.append((k, n))
        return k

    def now(self) -> float | None:
        """What the clock says, in seconds; None: not known, as in every search."""
        return None

    def note(self, answer: bool) -> bool:
        """Take an answer that is known for the choice that it would be if it were not."""
        self.taken.append((int(answer), 2))
        return answer

    def ask(self) -> int:
        """A question to the world with two answers: branches like a choice, but is none."""
        self._asked.add(len(self.taken))
        return self._next(2)

    @property
    def made(self) -> tuple[tuple[int, int], ...]:
        """The choices among `taken` that the handler made."""
        if not self._asked:
            return tuple(self.taken)
        return tuple(each for at, each in enumerate(self.taken) if at not in self._asked)

    def choose(self, options: Sequence[T], weights: Sequence[float] | None = None) -> T:
        """One of `options`."""
        if type(options) not in SEQUENCES and not isinstance(options, Sequence):
            self.refuse(
                BadCall(
                    f"{caller()}: `choose` was given a `{type(options).__name__}`",
                    "a number of options instead of the options"
                    if isinstance(options, int)
                    else "a set or a view, whose order is not part of the state",
                    f"give a sequence: `self.choose(range({options}))`"
                    if isinstance(options, int)
                    else "give a sequence: `self.choose(sorted(...))`",
                )
            )
        if not options:
            self.refuse(
                BadCall(
                    f"{caller()}: `choose` was given no options",
                    "an empty collection that was expected to have members",
                    "test for it before, or guard the handler with `when=...`",
                )
            )
        if weights is not None:
            try:
                weights = checked_shares(weights, len(options))
            except BadSystem as error:
                self.refuse(error)
        return options[self.pick(len(options), weights)]


def following(taken: Sequence[tuple[int, int]]) -> list[int] | None:
    """The choices of the run after the one that took `taken`, depth first; None after the last."""
    at = len(taken) - 1
    while at >= 0 and taken[at][0] + 1 == taken[at][1]:
        at -= 1
    if at < 0:
        return None
    return [k for k, _ in taken[:at]] + [taken[at][0] + 1]


class BranchingRandom(random.Random):
    """A `random.Random` each of whose integer draws is a choice; draws of floats are refused."""

    def __init__(self, chooser: Chooser) -> None:
        super().__init__()
        self._chooser = chooser

    # Every integer method of `random.Random` draws through `_randbelow`, which subclasses may
    # define (see `Random.__init_subclass__`).
    def _randbelow(self, n: int) -> int:
        return self._chooser.pick(n)

    def _refuse(self, what: str) -> NoReturn:
        self._chooser.refuse(
            NotEnumerable(
                f"{caller()}: `self.random.{what}` has too many results to try each of them",
                "a draw from a continuous range, or with weights",
                "choose among the cases that matter: `self.choose([True, False])`, `randrange(n)`",
            )
        )

    def getrandbits(self, k: int, /) -> int:
        """An integer of `k` bits."""
        return self._chooser.pick(1 << k) if k else 0

    def sample(self, population: Sequence[T], k: int, *, counts: Any = None) -> list[T]:
        """`k` distinct members. The inherited one draws again on a repeat, without end."""
        pool = list(population)
        if counts is not None:
            pool = [member for member, n in zip(pool, counts, strict=True) for _ in range(n)]
        if not 0 <= k <= len(pool):
            raise ValueError("sample larger than population or is negative")
        return [pool.pop(self._randbelow(len(pool))) for _ in range(k)]

    def choices(
        self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1
    ) -> list[Any]:
        """`k` members, with repetition; weights say how likely, which a search does not ask."""
        if weights is not None or cum_weights is not None:
            self._refuse("choices(..., weights)")
        return [population[self._randbelow(len(population))] for _ in range(k)]

    def random(self) -> float:
        """Refused: there are 2**53 results."""
        self._refuse("random()")

    def seed(self, a: Any = None, version: int = 2) -> None:
        """Nothing to seed: nothing is drawn."""

    def getstate(self) -> Any:
        """Refused: there is no state to save."""
        self._refuse("getstate()")

    def setstate(self, state: Any) -> None:
        """Refused: there is no state to restore."""
        self._refuse("setstate()")


def _too_many(options: int, choices: int) -> NotEnumerable:
    if options > OPTIONS_MAX:
        fact = f"a choice among {options:,} options; the limit is {OPTIONS_MAX:,}"
        cause = "a draw from a large range: every option is tried"
        remedy = "choose among the cases that matter: `self.choose([0, 1, limit])`"
    else:
        fact = f"{choices:,} choices in one run of a handler; the limit is {CHOICES_MAX:,}"
        cause = "a loop that chooses until it likes the result"
        remedy = "choose once, among all that the loop could end with"
    return NotEnumerable(f"{caller()}: {fact}", cause, remedy)
