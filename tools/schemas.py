"""JSON schemas of what presage writes: the object of `check --json`, and trace files.

A trace file has a type in presage, so its schema is that type's. The object of `check --json` is
put together from a report; its types are declared here, and tests read real outputs by them.
Keys may be added in later versions, so a schema allows more keys than it names.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, Literal

import msgspec

from presage.search.coverage.report import Guard, Ran
from presage.search.kernel.order import OrderDependent
from presage.trace.codec import TraceFile
from presage.trace.trace import Plain

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "reference"
DIALECT = "https://json-schema.org/draft/2020-12/schema"

Fairness = Literal["weak", "strong", "none"]
Search = Literal["bfs", "dfs", "delay", "cycles", "tree", "walk", "semantic", "hunt"]
Reduction = Literal["none", "sleep", "dpor", "sdpor", "odpor"]
Status = Literal["held", "violated", "reached", "unreached", "error", "unknown"]
Stop = Literal[
    "violation",
    "depth",
    "states",
    "runs",
    "spins",
    "seconds",
    "memory",
    "delays",
    "interrupt",
    "lost",
]  # fmt: skip


class States(msgspec.Struct):
    """How many states were met; the initial ones count."""

    unique: int
    generated: int
    depth: int


class Liveness(msgspec.Struct):
    """From how many states an `eventually` property can still be reached."""

    fairness: Fairness
    live: int
    unknown: int
    dead: int
    critical_transitions: int


class Delay(msgspec.Struct):
    """In which order a search by delays looked, and how far it came."""

    scheduler: str
    cost: Literal["deviation", "log", "position"]
    choice_delays: int
    fault_delays: int
    commuting_delays: int
    states: list[int]
    reached: int
    cut: bool
    scheduler_runs: int
    scheduler_states: int


class Cycles(msgspec.Struct):
    """How a search for cycles looked for them."""

    algorithm: Literal["scc", "ndfs", "indfs", "map"]
    passes: int
    checked: int
    share: float
    refining: float


class NotAlike(msgspec.Struct):
    """Two faults that were taken for alike, and are not."""

    fault: Literal["crash", "restart"]
    node: str
    like: str | None
    why: str
    fields: list[tuple[str, str, str]]


class Skip(msgspec.Struct):
    """How many faults were left out because they are like others."""

    what: Literal["symmetric-faults"]
    exact: bool
    places: int
    skipped: int
    audited: int
    audit_states: int
    not_alike: list[NotAlike]


class Hunt(msgspec.Struct):
    """How the executions of a hunt ended."""

    live: int
    rest: int
    long: int
    duplicate: int
    choices: int
    delays: int
    complete: bool
    locating_seconds: float
    steps_to_live: dict[Literal["50", "90", "99", "100"], int | None]


class Violation(msgspec.Struct):
    """A property that does not hold, and the files that show it."""

    property: str
    kind: str
    cause: str
    message: str
    step: int
    steps: int
    critical: int | None
    loop: int | None
    fairness: Fairness | None
    dead: bool | None
    evidence: str
    walked: int | None
    recovery: list[tuple[int, int, int]]
    found: int | None
    delays: int | None
    trace: str | None
    live: str | None
    differs_at: int | None


class SecondProcess(msgspec.Struct):
    """How much was run again in a second process, under another hash seed."""

    steps: int
    of_steps: int
    verdicts: int
    of_verdicts: int
    sample: bool
    why: str | None


class Vacuous(msgspec.Struct):
    """A property that held and said nothing."""

    property: str
    why: str


class Growing(msgspec.Struct):
    """A field that kept growing until a limit ended the search."""

    field: str
    reached: int


class Lines(msgspec.Struct):
    """Which lines of a file ran, and which never did."""

    file: str
    ran: list[int]
    never: list[int]


class Coverage(msgspec.Struct):
    """What ran, and what never did."""

    counted: str
    partial: bool
    ran: list[Ran]
    guards: list[Guard]
    faults: dict[str, int]
    vacuous: list[Vacuous]
    growing: list[Growing]
    unended: list[str]
    lines: list[Lines]


class Known(msgspec.Struct):
    """A violation of the baseline that was met again."""

    property: str
    cause: str


class Check(msgspec.Struct):
    """The object that `presage check --json` and `presage hunt --json` print."""

    presage: str
    target: str | None
    search: Search
    seed: int
    reduction: Reduction
    symmetry: bool
    calm: bool
    parameters: dict[str, Plain]
    exhausted: bool
    stopped_by: Stop | None
    states: States
    executions: int
    traces: int
    handler_runs: int
    property_runs: int
    faults: dict[str, int]
    seconds: float
    peak_mib: float
    collision_probability: float
    properties: dict[str, Status]
    liveness: dict[str, Liveness]
    hunt: Hunt | None
    delay: Delay | None
    cycles: Cycles | None
    skip: Skip | None
    violations: list[Violation]
    known: list[Known]
    errors: list[str]
    order_dependence: list[OrderDependent]
    second_process: SecondProcess | None
    leaves_out: list[str]
    assumes: list[str]
    notes: list[str]
    resumed_from: int | None
    checkpoints: int
    coverage: Coverage | None


SCHEMAS: dict[str, Any] = {"check.schema.json": Check, "trace.schema.json": TraceFile}


def schema_text(kind: Any) -> str:
    """The schema of a type, as it stands in its file."""
    schema = {"$schema": DIALECT, **msgspec.json.schema(kind)}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="write the JSON schemas")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    folder = parser.parse_args().folder
    for name, kind in SCHEMAS.items():
        (folder / name).write_text(schema_text(kind), encoding="utf-8")


if __name__ == "__main__":
    main()
