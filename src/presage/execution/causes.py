"""What a violation is due to, in words that outlive names, numbers and lines; and causes forgiven.

A cause is what the violating state or step shows: the part of a property that is false, the text of
its `Verdict` without numbers and names of nodes, the exception and the function that raised it. To
look behind a cause that is known, its property is made to hold where nothing else breaks it; what
was forgiven is noted, so that nobody takes the property for one that holds. Two bugs that break the
same part in the same way have one cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import field
from typing import Any, TypeVar

from presage.execution.conjuncts import because
from presage.model.world.system import System
from presage.process.program import Program
from presage.props.property import HOLDS, Property, Verdict
from presage.records import record

C = TypeVar("C", System, Program)

# Compiled when something broke.
FALSE_PART = r"(?s)`(.*?)` is [Ff]alse"
FAILURE = r"(?s)(\w+)(?:: .*)? at \S+:\d+ in (\w+)"
NUMBER = r"\d+"
LOOKED_BEHIND = ("always", "step", "deadlock")  # by state or step; not what executions lack

Known = Mapping[str, frozenset[str]]  # the causes of a property


def cause_of(prop: str, why: str, names: Iterable[str]) -> str:
    """What broke a property, as far as `why` tells it, in a system with nodes of these names."""
    if not why:
        return prop
    names = sorted(names, key=len, reverse=True)
    head, _, rest = why.partition(": ")
    raised = re.fullmatch(FAILURE, rest if head in names else why)
    if raised:
        return f"{raised[1]} in {raised[2]}"
    if part := re.match(FALSE_PART, why):
        return part[1]
    node = re.compile(r"\b(?:" + "|".join(map(re.escape, names)) + r")\b")
    return re.sub(NUMBER, "N", node.sub("NODE", why) if names else why)


@record(frozen=True)
class Pardon:
    """The causes that are known of a system, and those that a search met again."""

    known: Known
    names: tuple[str, ...]
    in_parts: bool  # whether a property that gives no reason is taken apart to find one
    met: set[tuple[str, str]] = field(default_factory=set)  # property, cause

    def forgives(self, prop: str, why: str) -> bool:
        """Whether what broke is known; notes that it was met."""
        causes = self.known.get(prop)
        if not causes or (cause := cause_of(prop, why, self.names)) not in causes:
            return False
        self.met.add((prop, cause))
        return True


@record(frozen=True)
class Forgiving(Property):
    """A property that holds where nothing breaks it but what is known."""

    pardon: Pardon | None = None

    def judge(self, *seen: Any) -> Verdict:
        verdict = super().judge(*seen)
        if verdict.holds or self.pardon is None:
            return verdict
        why = verdict.why
        if not why and self.pardon.in_parts and self.kind != "step":
            why = because(self, *seen)
        return HOLDS if self.pardon.forgives(self.name, why) else verdict


def forgiving(system: C, known: Known) -> C:
    """The system, forgiving what is known; the pardon has what was met."""
    if not known:
        return system
    system, every = copy(system), system.properties
    pardon = Pardon(known, tuple(system.nodes), isinstance(system, System))
    system.properties = tuple(_forgiving(prop, pardon) for prop in every)
    system.pardon = pardon
    return system


def known_causes(system: System) -> dict[str, list[str]]:
    """What `system` forgives, as plain data."""
    pardon: Pardon | None = system.pardon
    return {prop: sorted(causes) for prop, causes in pardon.known.items()} if pardon else {}


def _forgiving(prop: Property, pardon: Pardon) -> Property:
    if prop.kind not in LOOKED_BEHIND or not pardon.known.get(prop.name):
        return prop
    facts = {name: getattr(prop, name) for name in Property.__dataclass_fields__}
    return Forgiving(**facts, pardon=pardon)
