"""Merging by view: local states whose views are equal count as one, and twins test that claim.

With `merge="view"` the history is no part of a state. Of all histories that lead to one view the
first, its representative, is the one that is run. A view that leaves something out would make the
search run the wrong history without a word. So when a second history merges, steps of that state
are run on both, and must do the same: always for the first 256 merges, then for one in 16.

That is a sample, not a proof: a report says how many twins agreed. A violation is always real,
since it is replayed with the history that really led there.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from msgspec import Struct

from presage._core import Codec
from presage.errors import ViewTooCoarse
from presage.frontends.real.service import HISTORY
from presage.model.service.local_state import Outcome, Stimulus, Values

ALWAYS = 256  # merges that are all tested
EVERY = 16  # and of those after, one in so many
STIMULI_MAX = 4  # steps that one twin is compared in
KEY_BYTES = 16
DULL = ("crash", "restart", "reset", "silent", "slow", "wake")  # they do not run the process

Key = bytes
Run = Callable[[bytes, Values, Stimulus], list[Outcome] | None]


class Twin(Struct):
    """A history whose view is that of another, and in how many steps it is yet to be compared."""

    history: bytes
    left: int = STIMULI_MAX


class Merging:
    """The representatives of one node."""

    def __init__(self, name: str, codec: Codec, run: Run, describe: Callable[[bytes], str]) -> None:
        self._name = name
        self._codec = codec
        self._run = run
        self._describe = describe  # the last event of a history, in words
        self._first: dict[Key, bytes] = {}
        self._asked: dict[Key, dict[bytes, bytes]] = {}  # stimulus -> digest of what it did
        self._twins: dict[Key, list[Twin]] = {}
        self._met: set[tuple[Key, bytes]] = set()
        self.merged = 0
        self.agreed = 0

    def key(self, values: Values) -> Key:
        """What makes a local state: all but the history."""
        rest = [value for at, value in enumerate(values) if at != HISTORY]
        return blake2b(self._codec.encode(rest), digest_size=KEY_BYTES).digest()

    def representative(self, values: Values) -> bytes | None:
        """The history to run in a state; None if no step has led to it here."""
        return self._first.get(self.key(values))

    def file(self, values: Values) -> None:
        """A step led to these values; the first history of a state stands for it."""
        self._first.setdefault(self.key(values), values[HISTORY])

    def test(self, values: Values, stimulus: Stimulus, outcomes: list[Outcome] | None) -> None:
        """Compare twins, after the representative of `values` did `outcomes` at `stimulus`."""
        if stimulus[0] not in DULL:
            key = self.key(values)
            self._asked.setdefault(key, {})[self._codec.encode(stimulus)] = self._digest(outcomes)
            for twin in self._twins.get(key, ()):
                self._compare(key, twin, values, stimulus)
            self._drop_done(key)
        for outcome in outcomes or ():
            if outcome.values[HISTORY]:
                self._meet(outcome.values)

    def _meet(self, values: Values) -> None:
        """A step led to a state; if by another history than its first, it may become a twin."""
        key, history = self.key(values), values[HISTORY]
        if self._first[key] == history or (key, history) in self._met:
            return
        self._met.add((key, history))
        self.merged += 1
        if self.merged > ALWAYS and self.merged % EVERY:
            return
        twin = Twin(history)
        self._twins.setdefault(key, []).append(twin)
        for stimulus in list(self._asked.get(key, ())):
            self._compare(key, twin, values, self._codec.decode(stimulus))
        self._drop_done(key)

    def _compare(self, key: Key, twin: Twin, values: Values, stimulus: Stimulus) -> None:
        if not twin.left:
            return
        twin.left -= 1
        there = self._run(twin.history, values, stimulus)
        if self._digest(there) == self._asked[key][self._codec.encode(stimulus)]:
            self.agreed += 1
            return
        first = self._first[key]
        here = self._run(first, values, stimulus)
        raise ViewTooCoarse(
            self._name,
            " ".join(str(each) for each in stimulus if not isinstance(each, int)),
            (self._summary(here), self._summary(there)),
            (self._describe(first), self._describe(twin.history)),
        )

    def _drop_done(self, key: Key) -> None:
        left = [twin for twin in self._twins.get(key, ()) if twin.left]
        if left:
            self._twins[key] = left
        else:
            self._twins.pop(key, None)

    def _digest(self, outcomes: list[Outcome] | None) -> bytes:
        did = None if outcomes is None else [self._plain(each) for each in outcomes]
        return blake2b(self._codec.encode(did), digest_size=KEY_BYTES).digest()

    def _plain(self, outcome: Outcome) -> Any:
        rest = [value for at, value in enumerate(outcome.values) if at != HISTORY]
        failed = outcome.failure is not None
        return [list(outcome.choices), rest, outcome.sends, outcome.records, failed]

    def _summary(self, outcomes: list[Outcome] | None) -> str:
        if not outcomes:
            return "cannot happen"
        parts = []
        for outcome in outcomes:
            sent = ", ".join(str(message) for _, message in outcome.sends)
            parts.append(f"sends {sent or 'nothing'}, {outcome.values[HISTORY + 1 :]!r}")
        return " or ".join(parts)

    def saved(self) -> list[tuple[bytes, bytes]]:
        return list(self._first.items())

    def load(self, saved: list[tuple[bytes, bytes]]) -> None:
        for key, history in saved:
            self._first.setdefault(key, history)
