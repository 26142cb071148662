"""Measure the tables of the delaying explorers, and write `docs/reference/delaying.md`.

After Desai, Qadeer, Rajamani, "Iterative Cycle Detection via Delaying Explorers", 2015. Run by
`make delaying`; `make delaying DELAYING="--seconds 10 --tables 2"` measures one table anew, with
less time per search, and keeps what is known of the others (`benchmarks/delaying.json`). Fails
unless every condition holds that the page lists.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any
from unittest.mock import patch

from delaying_orders import Pairs
from delaying_page import conditions, page
from delaying_rows import CATALOGUE, TABLE_1, TABLE_2, TABLE_3, Endless, Hidden

from presage import Delay, System, check
from presage.search.delay.run import Delaying

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "delaying.md"
DATA = ROOT / "benchmarks" / "delaying.json"
TABLES = ("1", "2", "3", "catalogue")
SEEDS = 5
MEMORY = 4_000  # MiB, per cell
Cell = dict[str, Any]


def build(model: str, parameters: dict[str, Any]) -> System:
    made: System = importlib.import_module(f"presage.systems.reactive.{model}").system(**parameters)
    return made


def shuffled(system: System, seed: int) -> System:
    """The same system with its nodes in another order, which decides where `dfs` goes first."""
    names = list(system.nodes)
    random.Random(seed).shuffle(names)
    return System(
        {name: system.nodes[name] for name in names},
        network=system.network,
        faults=system.faults,
        calls=system.calls,
        observers=system.observers,
        properties=list(system.properties),
        name=system.name,
    )


def by_depth(row: Hidden, seed: int, seconds: float) -> Cell:
    """Depth-first search to depth 5, 10, 15, ...; of the last bound only, the states it met."""
    left, depth, states = seconds, 0, 0
    while left > 0:
        depth += 5
        system = shuffled(build(row.model, row.parameters), seed)
        how: dict[str, Any] = {"search": "dfs", "depth": depth, "liveness": "rest"}
        report = check(system, seconds=left, threads=1, memory_mib=MEMORY, traces=None, **how)
        left -= report.seconds
        states = max(states, report.unique)
        if report.violations:
            return {"found": True, "bound": depth, "states": report.unique}
        if report.exhausted or report.stopped_by == "memory":
            break
    return {"found": False, "bound": depth, "states": states}


def by_delay(row: Hidden, scheduler: str, seed: int, seconds: float) -> Cell:
    """Search by delays, at the prices of the paper: the i-th task costs i, a choice or fault 1."""
    system = build(row.model, row.parameters)
    delay = Delay(scheduler, cost="position")
    how: dict[str, Any] = {"search": "delay", "delay": delay, "seed": seed, "liveness": "rest"}
    report = check(system, seconds=seconds, threads=1, memory_mib=MEMORY, traces=None, **how)
    assert report.delayed is not None
    found = bool(report.violations)
    return {"found": found, "bound": report.delayed.reached, "states": report.unique}


def middle(cells: list[Cell]) -> Cell:
    """The median of several seeds; one that found nothing counts as the largest."""
    cells.sort(key=lambda cell: (not cell["found"], cell["states"]))
    return cells[len(cells) // 2]


def repeated(run: Any, seconds: float) -> Cell:
    """The median over all seeds; no more are tried when most have found nothing."""
    cells: list[Cell] = []
    for seed in range(SEEDS):
        cells.append(run(seed, seconds))
        missed = sum(not cell["found"] for cell in cells)
        if missed > SEEDS // 2:
            return max(cells, key=lambda cell: (not cell["found"], cell["states"]))
    return middle(cells)


def table_1() -> Cell:
    """Of each model and size, states and pairs."""
    result: Cell = {}
    for each in TABLE_1:
        result[each.title] = {}
        for p in range(2, each.most + 1):
            system = build(each.model, {**each.parameters, each.parameter: p})
            result[each.title][str(p)] = Pairs(system, "rtc").count()
            say(f"table 1: {each.title}, p = {p}: {result[each.title][str(p)]}")
    return result


def table_2(seconds: float, known: Cell, models: list[str]) -> Cell:
    """Of each row and column, how far and how many states."""
    result = known
    for row in TABLE_2:
        if models and row.model not in models:
            continue
        own = {
            "random": repeated(partial(by_delay, row, "random"), seconds),
            "rtc": by_delay(row, "rtc", 0, seconds),
            "rr": by_delay(row, "rr", 0, seconds),
            "depth": repeated(partial(by_depth, row), seconds),
        }
        result[row.title] = own
        say(f"table 2: {row.title}: {own}")
    return result


def claimed(row: Endless) -> System:
    """The system of a row, with its claims about endless executions alone."""
    system = build(row.model, row.parameters)
    system.properties = tuple(prop for prop in system.properties if prop.kind == "eventually")
    return system


@contextmanager
def processor_time() -> Iterator[list[float]]:
    """The seconds of processor time that searches by delays take, without what is done around."""
    run, used = Delaying.run, []

    def timed(self: Delaying, *args: Any) -> Any:
        begun = process_time()
        try:
            return run(self, *args)
        finally:
            used.append(process_time() - begun)

    with patch.object(Delaying, "run", timed):
        yield used


def cycles(row: Endless, algorithm: str, seed: int, seconds: float, threads: int = 1) -> Cell:
    """Search for a fair cycle with the random scheduler, at the prices of the paper."""
    how: dict[str, Any] = {"search": "cycles", "algorithm": algorithm, "seed": seed}
    how |= {"delay": Delay("random", cost="position"), "threads": threads}
    with processor_time() as used:
        report = check(claimed(row), seconds=seconds, memory_mib=MEMORY, traces=None, **how)
    assert report.cycled is not None and report.delayed is not None
    looking = report.cycled.share or 1.0
    return {
        "found": bool(report.violations),
        "states": report.unique,
        "seconds": report.seconds,
        "processor": sum(used),
        "bound": report.delayed.reached,
        "refining": report.cycled.refining / looking,
    }


def whole_graph(row: Endless, seconds: float) -> Cell:
    """Breadth first, and then all cycles: what the others save."""
    report = check(claimed(row), seconds=seconds, threads=1, memory_mib=MEMORY, traces=None)
    found = any(violation.kind == "liveness" for violation in report.violations)
    return {"found": found, "states": report.unique, "seconds": report.seconds}


def table_3(seconds: float) -> Cell:
    """Of each row and algorithm, states and seconds: medians of seeds, tried by all in turn."""
    result: Cell = {}
    algorithms = [("ndfs", 1), ("indfs", 1), ("map", 1), ("scc", 1)]
    cores = os.cpu_count() or 1
    algorithms += [("map", threads) for threads in (2, 4) if threads <= cores]
    for row in TABLE_3:
        cells: dict[str, list[Cell]] = {}
        for seed in range(SEEDS):
            for algorithm, threads in algorithms:
                name = algorithm if threads == 1 else f"{algorithm} on {threads}"
                cell = cycles(row, algorithm, seed, seconds, threads)
                cells.setdefault(name, []).append(cell)
                say(f"table 3: {row.title}, {name}, seed {seed}: {cell}")
        own = {name: middle(every) for name, every in cells.items()}
        own["bfs"] = whole_graph(row, seconds)
        result[row.title] = own
        say(f"table 3: {row.title}: {own}")
    return result


def table_catalogue(seconds: float) -> Cell:
    """The states that `rtc` needs for bugs of the catalogues, with usual settings."""
    result: Cell = {}
    for name, expected in CATALOGUE.items():
        bugs = importlib.import_module(f"presage.systems.{name}.bugs").BUGS
        for bug in bugs:
            if bug.id in expected:
                module = importlib.import_module(f"presage.systems.{name}")
                system = module.system(**{"bug": bug.id, **bug.parameters})
                how: dict[str, Any] = {"search": "delay", "traces": None, "seconds": seconds}
                report = check(system, **how)
                found = report.properties[bug.property] == "violated"
                result[bug.id] = {"found": found, "states": report.unique, "of": expected[bug.id]}
                say(f"catalogue: {bug.id}: {result[bug.id]}")
    return result


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="per search")
    parser.add_argument("--tables", nargs="*", default=TABLES, choices=TABLES)
    parser.add_argument("--models", nargs="*", default=[], help="of table 2; the rest is kept")
    parser.add_argument("--page", type=Path, default=PAGE)
    args = parser.parse_args()
    data: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    measure = {
        "1": lambda: table_1(),
        "2": lambda: table_2(args.seconds, data.get("2", {}), args.models),
        "3": lambda: table_3(args.seconds),
        "catalogue": lambda: table_catalogue(args.seconds),
    }
    for table in args.tables:
        data[table] = measure[table]()
        data[f"seconds of {table}"] = args.seconds
        data["machine"] = f"{platform.machine()}, {os.cpu_count()} cores"
        DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    if not all(table in data for table in TABLES):
        say("some tables were never measured: no page is written")
        return 1
    held = conditions(data)
    args.page.write_text("\n".join(page(data, held)) + "\n", encoding="utf-8")
    for condition in held:
        say(f"{condition.verdict}: {condition.claim}: {condition.measured}")
    return int(any(condition.holds is False for condition in held))


if __name__ == "__main__":
    sys.exit(main())
