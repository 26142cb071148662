"""Hunt for every bug of the catalogue, and write the table of `docs/reference/catalogue.md`.

Each bug is hunted with every seed, in its own configuration, looking at the property it breaks; no
seed is chosen. Then each correct version is hunted in the same configurations, with the same
settings: nothing may be reported. Run by `make catalogue`;
`make catalogue CATALOGUE="--systems randtree"` measures one system anew and keeps what is known of
the others; `--bugs CH-Z2` measures single rows, and no correct version. `make figures` draws from
the same data. Last, each bug that breaks safety is predicted from live states (`live_states.py`);
`--predict-only` does nothing else.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from live_states import Predicted, foresee

from presage import check

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "catalogue.md"
DATA = ROOT / "benchmarks" / "catalogue.json"
SYSTEMS = ("mace_transport", "randtree", "chord", "pastry", "bullet", "mace_paxos")
SECONDS = 20.0  # for one hunt
CORRECT_EXECUTIONS = 500  # per seed and configuration
LENGTHS = 400  # of walks that are kept of each system, for the figure
MEANING = """\
*It is* counts the steps that hunts blame: for safety the step that breaks the property, for
liveness the critical transition, or `C2` where none was found. *Expected* is what the bug's
description says. One bug can have several critical steps: death is sealed by the step that closes
the last way out, and which one that is depends on what else is under way. What does the harm is
critical earlier, if nothing can come before it any more, and later, if something can still mend it.

*Predicted* is about live systems. Prediction begins at a random step of a calm random walk, which
has no faults, for ten seeds, and has 1 s. The column says from how many of these states the
violation is predicted, which bound k on own events finds it mostly, how many steps ahead it lies,
and how long that takes, in the median. States that all was looked at from, and nothing found, are
not counted: nothing can go wrong there. Of liveness nothing is predicted.
"""


@dataclass
class Row:
    """What hunts for one bug gave."""

    system: str
    bug: str
    kind: str
    prop: str
    expected: str | None
    seeds: int
    found: list[float] = field(default_factory=list)  # seconds to the violation
    located: list[float] = field(default_factory=list)  # seconds to its critical transition
    critical: dict[str, int] = field(default_factory=dict)
    options: str = ""  # of the hunt, where they are not the usual
    predicted: Predicted = field(default_factory=Predicted)


@dataclass
class Correct:
    """What hunts gave in one configuration of a correct version."""

    system: str
    parameters: dict[str, Any]
    seeds: int
    reports: int = 0
    executions: int = 0
    walks: int = 0  # that recovered
    lengths: list[int] = field(default_factory=list)  # of some of them, ascending
    options: str = ""  # of the hunt, where they are not the usual


def catalogue(system: str) -> Any:
    return importlib.import_module(f"presage.systems.{system}.bugs").BUGS


def build(system: str, parameters: dict[str, Any]) -> Any:
    return importlib.import_module(f"presage.systems.{system}").system(**parameters)


def ahead(system: str, at: int, seeds: int) -> tuple[str, Predicted]:
    """Predict one bug from live states, if it breaks safety: rest is far from most of them."""
    bug = catalogue(system)[at]
    if bug.kind != "safety":
        return bug.id, Predicted()
    target = build(system, dict(bug.parameters))
    target.properties = tuple(p for p in target.properties if p.kind != "sometimes")
    return bug.id, foresee(target, bug.property, seeds)


def hunt(system: str, at: int, seeds: int) -> Row:
    """Hunt for one bug with every seed."""
    bug = catalogue(system)[at]
    expected = " or ".join(bug.expected) or None
    row = Row(system, bug.id, bug.kind, bug.property, expected, seeds, options=bug.options)
    for seed in range(seeds):
        target = build(system, dict(bug.parameters))
        target.properties = tuple(p for p in target.properties if p.name == bug.property)
        how: dict[str, Any] = {"search": "hunt", "walks": 2**32 - 1, "traces": None}
        report = check(target, seed=seed, seconds=SECONDS, hunt=bug.hunt, **how)
        for violation in report.violations:
            if violation.prop == bug.property:
                row.found.append(report.seconds)
                if violation.kind == "liveness" and report.hunted is not None:
                    row.located.append(report.hunted.locating)
                name = step_name(violation)
                row.critical[name] = row.critical.get(name, 0) + 1
    return row


def step_name(violation: Any) -> str:
    """The step that a violation blames: its kind and message, without who sent it to whom."""
    if violation.kind == "liveness" and violation.critical is None:
        return "C2"
    index = violation.critical or violation.step
    if not index:
        return "start"
    step = violation.trace.steps[index - 1]
    return str(step.label).split(" ")[0].split("(")[0] if step.label != step.kind else step.kind


def walk_correct(system: str, at: int, seeds: int) -> Correct:
    """Hunt in the correct version, with every seed, as for one bug."""
    bug = catalogue(system)[at]
    parameters = {name: value for name, value in bug.parameters.items() if name != "bug"}
    told = Correct(system, parameters, seeds, options=bug.options)
    lengths: list[int] = []
    for seed in range(seeds):
        target = build(system, parameters)
        how: dict[str, Any] = {"search": "hunt", "walks": CORRECT_EXECUTIONS, "traces": None}
        report = check(target, seed=seed, hunt=bug.hunt, **how)
        told.reports += len(report.violations)
        told.executions += report.executions
        if report.hunted is not None:
            told.walks += report.hunted.live
            lengths += report.hunted.lengths
    lengths.sort()
    told.lengths = lengths[:: max(1, len(lengths) // LENGTHS)] + lengths[-1:]
    return told


def configurations(system: str) -> list[int]:
    """The first bug of each distinct configuration and settings of a catalogue."""
    first: dict[str, int] = {}
    for at, bug in enumerate(catalogue(system)):
        given = sorted((k, v) for k, v in bug.parameters.items() if k != "bug")
        first.setdefault(f"{given} {bug.options}", at)
    return list(first.values())


def told(times: Iterable[float]) -> str:
    times = list(times)
    return f"{median(times):.2f} s" if times else "–"


def bug_table(rows: list[Row]) -> Iterator[str]:
    """One line for each bug."""
    yield (
        "| bug | property | found | median to find | to the critical step | it is | expected"
        " | predicted |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        name = f"{row.bug} `{row.options}`" if row.options else row.bug
        steps = ", ".join(
            f"{step} {count}" for step, count in sorted(row.critical.items(), key=lambda c: -c[1])
        )
        yield (
            f"| {name} | `{row.prop}` | {len(row.found)}/{row.seeds} | {told(row.found)}"
            f" | {told(row.located)} | {steps or '–'} | {row.expected or '–'}"
            f" | {row.predicted.text()} |"
        )


def page(rows: list[Row], correct: list[Correct]) -> Iterator[str]:
    """The lines of the page."""
    yield "# The bugs of the shipped systems, hunted"
    yield ""
    yield "Made by `make catalogue`: do not edit. Each bug was hunted with every seed from 0 on,"
    yield f"for at most {SECONDS:.0f} s, one thread each, {os.cpu_count()} at a time"
    yield f"({platform.machine()}). MaceMC's paper reports a median of 5 minutes to find a bug and"
    yield "9 more to its critical transition."
    yield ""
    yield from MEANING.splitlines()
    yield ""
    yield "| system | bugs found | safety | liveness | median to find | to the critical step |"
    yield "|---|---|---|---|---|---|"
    for system in dict.fromkeys(row.system for row in rows):
        own = [row for row in rows if row.system == system]
        met = [row for row in own if row.found]
        kinds = [sum(row.kind == kind for row in met) for kind in ("safety", "liveness")]
        found = told(median(row.found) for row in met)
        located = told(median(row.located) for row in met if row.located)
        yield (
            f"| `{system}` | {len(met)} of {len(own)} | {kinds[0]} | {kinds[1]} | {found}"
            f" | {located} |"
        )
    yield ""
    yield from bug_table(rows)
    yield ""
    yield "The correct versions, hunted in the same configurations:"
    yield ""
    yield "| system | configuration | executions | reports | steps to live: half, 99 %, most |"
    yield "|---|---|---|---|---|"
    for each in correct:
        given = ", ".join(f"{name}={value}" for name, value in each.parameters.items())
        given = f"{given or 'default'}{f' `{each.options}`' if each.options else ''}"
        last = len(each.lengths) - 1
        at = ", ".join(f"{each.lengths[min(int(s * last), last)]:,}" for s in (0.5, 0.99, 1))
        yield f"| `{each.system}` | {given} | {each.executions:,} | {each.reports} | {at} |"
    yield ""
    yield "![Share of calm walks that recovered within so many steps](../images/steps-to-live.svg)"


def remembered() -> tuple[list[Row], list[Correct]]:
    """What was measured before."""
    if not DATA.exists():
        return [], []
    data = json.loads(DATA.read_text(encoding="utf-8"))
    rows = [
        Row(**row | {"predicted": Predicted(**row.get("predicted", {}))}) for row in data["bugs"]
    ]
    return rows, [Correct(**each) for each in data["correct"]]


def merged(rows: list[Row], correct: list[Correct]) -> tuple[list[Row], list[Correct]]:
    """What was measured now, and what was measured before of all else."""
    old_rows, old_correct = remembered()
    bugs, systems = {row.bug for row in rows}, {each.system for each in correct}
    rows = rows + [row for row in old_rows if row.bug not in bugs]
    correct = correct + [each for each in old_correct if each.system not in systems]
    order = {system: at for at, system in enumerate(SYSTEMS)}
    place = {bug.id: at for system in SYSTEMS for at, bug in enumerate(catalogue(system))}
    rows.sort(key=lambda row: (order[row.system], place[row.bug]))
    correct.sort(key=lambda each: order[each.system])
    return rows, correct


class OnRay:
    """Workers of a cluster, as a pool of processes."""

    def __init__(self, where: str) -> None:
        from presage.cli.cluster import where_of
        from presage.distribute.ray import Ray, Where

        self.ray = Ray(where_of(where) or Where(os.environ.get("RAY_ADDRESS")))

    def __enter__(self) -> OnRay:
        return self

    def __exit__(self, *ended: object) -> None:
        self.ray.close()

    def submit(self, function: Callable[..., Any], *args: Any) -> Future:
        return Future(self.ray, self.ray.call(function, *args))


class Future:
    """What will come of a call; asked again, it is the same."""

    def __init__(self, ray: Any, handle: Any) -> None:
        self._ray, self._handle = ray, handle

    def result(self) -> Any:
        return self._ray.result(self._handle)


def workers(cluster: str | None) -> Any:
    """One process for each core of this machine, or the workers of a cluster."""
    return ProcessPoolExecutor(os.cpu_count()) if cluster is None else OnRay(cluster)


def measured(
    chosen: list[tuple[str, int]], args: argparse.Namespace
) -> tuple[list[Row], list[Correct]]:
    """Hunt for these bugs, and in the correct versions if all bugs are asked for."""
    with workers(args.cluster) as pool:
        hunts = [pool.submit(hunt, system, at, args.seeds) for system, at in chosen]
        walks = [
            pool.submit(walk_correct, system, at, args.correct_seeds)
            for system in args.systems
            for at in configurations(system)
            if not args.bugs
        ]
        rows = [future.result() for future in progress(hunts, "bugs")]
        correct = [future.result() for future in progress(walks, "correct versions")]
    return rows, correct


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--correct-seeds", type=int, default=20)
    parser.add_argument("--predict-seeds", type=int, default=10)
    parser.add_argument("--predict-only", action="store_true", help="keep what hunts have found")
    parser.add_argument("--systems", nargs="*", default=SYSTEMS, choices=SYSTEMS)
    parser.add_argument("--bugs", nargs="*", help="these rows alone")
    parser.add_argument("--cluster", metavar="WHERE", help="as for `presage check`")
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--data", type=Path, default=DATA)
    args = parser.parse_args()
    chosen = [
        (system, at)
        for system in args.systems
        for at, bug in enumerate(catalogue(system))
        if not args.bugs or bug.id in args.bugs
    ]
    rows, correct = ([], []) if args.predict_only else measured(chosen, args)
    rows, correct = merged(rows, correct)
    known = {row.bug: row for row in rows}
    for system, at in chosen:  # one by one: each prediction has two threads
        bug, predicted = ahead(system, at, args.predict_seeds)
        known[bug].predicted = predicted
        print(f"predicted {bug}: {predicted.text()}", file=sys.stderr, flush=True)
    args.page.write_text("\n".join(page(rows, correct)) + "\n", encoding="utf-8")
    data = {"bugs": [asdict(row) for row in rows], "correct": [asdict(each) for each in correct]}
    args.data.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return int(any(each.reports for each in correct))


def progress(futures: list[Any], what: str) -> Iterator[Any]:
    for number, future in enumerate(futures, 1):
        future.result()
        print(f"{what}: {number} of {len(futures)}", file=sys.stderr, flush=True)
        yield future


if __name__ == "__main__":
    sys.exit(main())
