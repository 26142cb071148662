"""What a report says of faults that were left out because they are like others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from presage._results import Outcome
from presage.records import record

FIELDS_SHOWN = 3


@record(frozen=True)
class NotAlike:
    """Two faults that were taken for alike, and are not: a counterexample to their roles."""

    fault: str
    node: str  # of the fault that was left out
    like: str | None  # of the one that was followed; None: it waited for some role to change
    why: str  # how it shows that they differ
    fields: tuple[tuple[str, str, str], ...]  # where, there, and where it was followed

    def __str__(self) -> str:
        if self.like is None:
            waited = (
                f"the {self.fault} of `{self.node}` was skipped while nobody's role had changed"
            )
            return f"{waited} since its crash, and {self.why}; let `recovery` return more"
        alike = f"the {self.fault} of `{self.node}` was skipped as like one of `{self.like}`"
        shown = [
            f"`{where}` is {there}, where it was followed {here}"
            for where, there, here in self.fields[:FIELDS_SHOWN]
        ]
        differ = "; ".join(shown) or "nothing that can be shown differs"
        return f"{alike}, and {self.why}: {differ}{self._advice()}"

    def _advice(self) -> str:
        names = dict.fromkeys(where.partition(".")[2] for where, _, _ in self.fields)
        fields = ", ".join(f"`{name}`" for name in names if name)
        return f"; let `recovery` return {fields}" if fields else ""

    def to_json(self) -> dict[str, Any]:
        return {
            "fault": self.fault,
            "node": self.node,
            "like": self.like,
            "why": self.why,
            "fields": [list(field) for field in self.fields],
        }


@record(frozen=True)
class Skipped:
    """How many faults were left out, of how many, and whether anything is lost by that."""

    exact: bool  # faults that exchanging nodes makes of others: nothing is lost
    places: int  # a place: a state and a node to which a fault may happen in it
    skipped: int
    audited: int  # of those, followed all the same for a while
    audit_states: int  # that were looked at there
    not_alike: tuple[NotAlike, ...] = ()

    @property
    def is_heuristic(self) -> bool:
        """Whether states may have been missed."""
        return self.skipped > 0 and not self.exact

    def share(self) -> str:
        return f"{self.skipped:,} of {self.places:,} places for faults were skipped as alike"

    def notes(self) -> Iterator[str]:
        if self.exact:
            yield f"{self.share()}, up to an exchange of nodes: no state is missed by that"
        if self.audited:
            yield (
                f"{self.audited:,} of the places skipped were followed all the same:"
                f" {self.audit_states:,} more states"
            )

    def to_json(self) -> dict[str, Any]:
        return {
            "what": "symmetric-faults",
            "exact": self.exact,
            "places": self.places,
            "skipped": self.skipped,
            "audited": self.audited,
            "audit_states": self.audit_states,
            "not_alike": [found.to_json() for found in self.not_alike],
        }


def skipped_of(outcome: Outcome, found: list[NotAlike], *, exact: bool) -> Skipped:
    return Skipped(
        exact=exact,
        places=outcome.fault_places,
        skipped=outcome.faults_skipped,
        audited=outcome.faults_audited,
        audit_states=outcome.audit_states,
        not_alike=tuple(found),
    )
