"""What a catalogue of historic bugs is made of: the bugs, and the switches that put them back in.

Later fixes of a system often mask earlier bugs, so a bug is not one switch but a profile: the set
of all fixes that were still missing when it was found. `--set bug=ID` names a profile.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from presage import Hunt, PresageError

CORRECT = "none"  # the profile in which nothing is missing
C2 = "C2"  # no single step is critical: the system keeps moving, and is live too rarely to be seen

Profiles = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Bug:
    """One way a system of the past went wrong, and how to see it."""

    id: str
    summary: str  # the cause
    kind: Literal["safety", "liveness"]
    property: str  # the name of the property that fails; `no_exception` for a failed assertion
    parameters: Mapping[str, Any] = field(default_factory=dict)  # for the system's `system(...)`
    critical: str | None = None  # the step after which nothing recovers, or C2; None: not stated
    provenance: str = ""  # where it was described
    others: tuple[str, ...] = ()  # other steps that are critical, for other ways to the same death
    hunt: Hunt = field(default_factory=Hunt)  # settings by which hunts find it

    @builtins.property
    def expected(self) -> tuple[str, ...]:
        """Every step that may be critical, that which is told of the bug first."""
        return ((self.critical,) if self.critical is not None else ()) + self.others

    @builtins.property
    def options(self) -> str:
        """The settings of its hunt that are not the usual, as a command line has them."""
        own = [(each.name, getattr(self.hunt, each.name)) for each in fields(Hunt)]
        usual = Hunt()
        return " ".join(
            f"--{name.replace('_', '-')} {value}"
            for name, value in own
            if value != getattr(usual, name)
        )


class UnknownProfile(PresageError):
    """Cause: a profile was named that the system does not have.

    Remedy: name one of those that the text lists.
    """


def missing(profiles: Profiles, bug: str) -> frozenset[str]:
    """The fixes that are missing in the profile called `bug`."""
    if bug == CORRECT:
        return frozenset()
    if bug not in profiles:
        known = ", ".join((CORRECT, *profiles))
        raise UnknownProfile(
            f"there is no bug `{bug}`; there are {known}\n"
            "  usual cause: a misspelt name; upper and lower case matter\n"
            f"  way out: `--set bug=NAME` with one of these, or leave it out for {CORRECT}"
        )
    return profiles[bug]
