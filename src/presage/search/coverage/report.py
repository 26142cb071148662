"""What a search ran, what it never ran and why, and which claims said nothing: as data and lines.

A pass is worth what was looked at. Counts are of distinct steps: a local state and what happened to
it. What ran in a million global states, always from the same local one, counts once.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins

from presage.search.coverage.lines import NEVER, RAN, Source

COUNTED = "distinct steps"
NAMED_MAX = 8  # things that never ran, by name, in a line; all of them are in JSON
RAN_MAX = 12


class Ran(Struct, frozen=True):
    """A piece of the user's code that something makes run."""

    name: str  # `Node.beat`
    kind: str  # handler, timer, action, call, start, broken, written, process
    source: str  # file:line
    steps: int
    why: str = ""  # why it never ran, where that is known


class Guard(Struct, frozen=True):
    """A condition of a handler or action, and how often it was true and false."""

    name: str
    true: int
    false: int


class Growing(Struct, frozen=True):
    """A field that kept growing as long as the search went on."""

    field: str  # `a.count`
    reached: int
    entries: bool = False  # of a collection: its length

    def __str__(self) -> str:
        return f"unbounded? `{self.field}` reached {self.reached:,}{' entries' * self.entries}"

    def to_json(self) -> dict[str, Any]:
        return {"field": self.field, "reached": self.reached}


class Coverage(Struct, frozen=True):
    ran: Sequence[Ran] = ()
    guards: Sequence[Guard] = ()
    faults: Sequence[tuple[str, int]] = ()  # each that is allowed: how often it happened
    vacuous: Sequence[tuple[str, str]] = ()  # property, and why it says nothing
    growing: Sequence[Growing] = ()
    unended: Sequence[str] = ()  # processes that never came to their end
    sources: Sequence[Source] = ()  # with `--coverage`: the code, line by line
    partial: bool = False  # a limit ended the search, or it was never meant to meet everything

    def never(self) -> list[Ran]:
        return [each for each in self.ran if each.steps == 0]

    def never_ran(self) -> str:
        """What never ran and why, in one line; "" if all of it did."""
        named = [f"`{each.name}`{f' ({each.why})' * bool(each.why)}" for each in self.never()]
        return _first(named, NAMED_MAX)

    @property
    def so_far(self) -> str:
        """What to add to a statement about all that was met."""
        return " so far" if self.partial else ""

    def warnings(self) -> list[str]:
        """What makes a pass worth less than it seems, one line each."""
        ends = [f"`{name}` never came to its end{self.so_far}" for name in self.unended]
        return [*(text for _, text in self.vacuous), *map(str, self.growing), *ends]

    def counts(self) -> str:
        """How often everything ran, in one line; "" if there is nothing to run."""
        told = [f"{each.name} {each.steps:,}" for each in self.ran if each.steps]
        if not self.ran:
            return ""
        head = f"{len(told)} of {len(self.ran)} ran"
        return f"{head} ({COUNTED}): {_first(told, RAN_MAX)}" if told else head

    def lines(self) -> list[str]:
        """The coverage as plain text: what ran, what never did, and which claims say nothing."""
        lines = [f"coverage: {self.counts()}"] if self.ran else []
        if never := self.never_ran():
            lines.append(f"never ran{self.so_far}: {never}")
        missed = [fault for fault, times in self.faults if times == 0]
        if missed:
            lines.append(f"faults that never happened{self.so_far}: {', '.join(missed)}")
        return lines + self.warnings()

    def text(self) -> list[str]:
        """All of it, for a file or a page: every count, then the code with its marks."""
        wide = max((len(each.name) for each in self.ran), default=0)
        lines = [f"coverage, in {COUNTED}{', so far' if self.partial else ''}", ""]
        for each in self.ran:
            row = f"{each.steps:>10,}  {each.kind:<8} {each.name:<{wide}}  {short(each.source)}"
            lines.append(f"{row}  {each.why}".rstrip())
        for guard in self.guards:
            counts = f"true {guard.true:,}, false {guard.false:,}"
            lines.append(f"{'':>10}  {'guard':<8} {guard.name:<{wide}}  {counts}")
        for fault, times in self.faults:
            lines.append(f"{times:>10,}  {'fault':<8} {fault}")
        lines += ["", *self.lines()[1:]]
        for source in self.sources:
            lines += ["", short(f"{source.file}:{source.first}"), *source.text()]
        return lines

    def to_json(self) -> dict[str, Any]:
        return {
            "counted": COUNTED,
            "partial": self.partial,
            "ran": [to_builtins(each) for each in self.ran],
            "guards": [to_builtins(each) for each in self.guards],
            "faults": dict(self.faults),
            "vacuous": [{"property": name, "why": why} for name, why in self.vacuous],
            "growing": [each.to_json() for each in self.growing],
            "unended": list(self.unended),
            "lines": [
                {"file": short(each.file), "ran": each.lines(RAN), "never": each.lines(NEVER)}
                for each in self.sources
            ],
        }


def short(place: str) -> str:
    """A place without the folders of this machine."""
    file, colon, line = place.partition(":")
    path = Path(file)
    if path.is_absolute():
        near = path.is_relative_to(Path.cwd())
        file = str(path.relative_to(Path.cwd())) if near else "/".join(path.parts[-2:])
    return f"{file}{colon}{line}"


def _first(texts: list[str], most: int) -> str:
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more
