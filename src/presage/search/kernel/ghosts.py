"""Make sure that ghost fields do not decide anything.

A search starts every handler with the ghosts' defaults, so a branch taken only for another value
would be missed without a word. Each step of a node that has ghosts is therefore run once more, with
ghosts as a long execution would have left them, and must do the same but for the ghosts themselves.
"""

from __future__ import annotations

from collections.abc import Callable

from presage.errors import Nondeterminism
from presage.model.service.automaton import Automaton
from presage.model.service.local_state import Outcome, Stimulus, Values
from presage.search.kernel.difference import describe, first_difference


class GhostCheck:
    """One node with ghost fields. Its ghosts age with every step that is tested."""

    def __init__(self, automaton: Automaton, names: tuple[str, ...]) -> None:
        self._automaton = automaton
        self._names = names
        self._ghosts = automaton.ghosts_of(automaton.initial())

    def test_step(
        self, fresh: Callable[[], Values], stimulus: Stimulus, outcomes: list[Outcome] | None
    ) -> None:
        """Raise `Nondeterminism` if `stimulus` does something else when the ghosts are older."""
        again = self._automaton.branches(fresh, stimulus, self._ghosts)
        difference = first_difference(self._automaton, outcomes, again)
        if difference is not None:
            raise self._error(describe(self._automaton, stimulus, self._names), difference)
        for outcome in again or ():
            if outcome.failure is None:
                self._ghosts = self._automaton.ghosts_of(outcome.values)

    def test_stimuli(
        self, fresh: Callable[[], Values], listed: list[tuple[Stimulus, int | None]]
    ) -> None:
        """Raise `Nondeterminism` if other things can happen when the ghosts are older."""
        again = self._automaton.stimuli(self._automaton.with_ghosts(fresh, self._ghosts))
        encode = self._automaton.codec.encode
        if encode(again) != encode(listed):
            name, service = self._automaton.name, self._automaton.service.__name__
            raise self._error(f"{name}: {service}", "had other actions to offer")

    def _error(self, what: str, difference: str) -> Nondeterminism:
        ghosts = ", ".join(
            f"`{self._automaton.fields[at - 1]}`" for at in sorted(self._automaton.ghosts)
        )
        return Nondeterminism(
            f"{what}, with other ghosts ({ghosts}) and otherwise the same state, {difference};"
            " a ghost must not influence what a node does: make it a plain field"
        )
