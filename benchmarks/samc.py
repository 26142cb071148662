"""Measure the tables of SAMC, and write `docs/reference/samc.md`.

After Leesatapornwongsa et al., "SAMC: Semantic-Aware Model Checking", OSDI 2014. Run by `make
samc`; `make samc SAMC="--seconds 10 --tables 2 --bugs MR-5505"` measures some rows anew, with less
time per search, and keeps what is known of the others (`benchmarks/samc.json`). Fails unless every
condition holds that the page lists; one that was not measured does not hold.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

from samc_black_box import BlackBox
from samc_graph import Graph
from samc_page import Cell, Data, conditions, page
from samc_ratios import by_moves, over_seeds, settled
from samc_stated import Stated
from samc_whole import whole

from presage import Delay, PresageError, System, check
from presage.systems.samc import MODELS
from presage.systems.samc.bugs import BUGS, DeepBug

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "samc.md"
DATA = ROOT / "benchmarks" / "samc.json"
TABLES = ("2", "3")
SEEDS = 9
EXECUTIONS_MAX = 50_000
SILENT = 20  # the mended version is followed for so many times the states until the bug,
SILENT_LEAST = 100_000  # and for so many at least, if it has them
MEMORY = 4_000  # MiB, per cell
RATIO_EXECUTIONS = 3_000
RATIO_SEEDS = 5  # orders of ties, the plain one among them
RATIO_MODELS: dict[str, dict[str, Any]] = {"zle": {}, "zab31": {"elect": "interleaved"}}
MOVES_MAX = 3  # all executions within so many moves of the first
WHOLE = {"zle": {"nodes": 2}, "zab31": {"nodes": 2, "writes": 1}}  # small enough to be counted
BUDGETS = (1, 2, 3)  # as many crashes as reboots

# Orders of a search by delays. Free faults cost no delay: SAMC, too, moves crashes first. Where
# swaps wait, so does a departure that commutes with what would come first.
ORDERS: dict[str, dict[str, Any]] = {
    "rtc": {},
    "rr": {"scheduler": "rr"},
    "rtc, deviation": {"cost": "deviation"},
    "rr, deviation": {"scheduler": "rr", "cost": "deviation"},
    "rtc, free faults": {"fault_delays": 0},
    "rr, free faults": {"scheduler": "rr", "fault_delays": 0},
    "rtc, free faults, swaps wait": {"fault_delays": 0, "commuting_delays": 4},
    "rr, free faults, swaps wait": {"scheduler": "rr", "fault_delays": 0, "commuting_delays": 4},
    "rr, swaps wait": {"scheduler": "rr", "commuting_delays": 4},
}


def build(bug: DeepBug, *, mended: bool = False) -> System:
    """The system of a bug, with the property alone that it breaks."""
    module = importlib.import_module(f"presage.systems.samc.{bug.model}")
    system: System = module.system(**(bug.mended if mended else bug.parameters))
    system.properties = tuple(each for each in system.properties if each.name == bug.property)
    return system


def search(bug: DeepBug, seconds: float, **how: Any) -> Cell:
    """One search: whether it found the bug, and after how much."""
    limits: dict[str, Any] = {"seconds": seconds, "memory_mib": MEMORY, "traces": None}
    try:
        report = check(build(bug), **{"threads": 1, **limits, **how})
    except PresageError as error:
        return {"missing": f"refused: {str(error).splitlines()[0]}"}
    return {
        "found": bug.property in [found.prop for found in report.violations],
        "executions": report.executions,
        "states": report.unique,
        "seconds": report.seconds,
    }


def walks(bug: DeepBug, seconds: float) -> Cell:
    """The median of random walks over all seeds; what finds nothing counts as the largest."""
    cells = [
        search(bug, seconds, search="walk", seed=seed, walks=EXECUTIONS_MAX)
        for seed in range(SEEDS)
    ]
    cells.sort(key=lambda cell: (not cell["found"], cell["executions"]))
    return cells[SEEDS // 2]


def tree(bug: DeepBug, seconds: float, **more: Any) -> Cell:
    how = {"search": "tree", "reduction": "dpor", "walks": EXECUTIONS_MAX, **more}
    return search(bug, seconds, **how)


def black_box(bug: DeepBug, seconds: float) -> Cell:
    """DPOR of the paper's artefact, in plain Python, until a state breaks the property.

    Faults come last, since bugs are found earlier so.
    """
    system, begun, count, judged, found = build(bug), time.monotonic(), 0, 0, False
    graph = Graph(system)
    [claim] = system.properties
    for _ in BlackBox(graph, faults_last=True).executions(EXECUTIONS_MAX):
        count += 1
        for place in list(graph.places.values())[judged:]:
            graph.world.restore(place.saved)
            found = found or not claim.judge(graph.world.view()).holds
        judged = len(graph.places)
        if found or time.monotonic() - begun > seconds:
            break
    spent = time.monotonic() - begun
    return {"found": found, "executions": count, "states": judged, "seconds": spent}


def by_delays(bug: DeepBug, seconds: float, **more: Any) -> dict[str, Cell]:
    """The search of each order."""
    how = {"search": "delay", **more}
    return {name: search(bug, seconds, delay=Delay(**own), **how) for name, own in ORDERS.items()}


def best(cells: dict[str, Cell]) -> Cell:
    """That which needs fewest executions, by name."""
    found = [name for name in cells if cells[name].get("found")]
    if not found:
        return {**cells["rtc"], "orders": cells}
    fewest = min(found, key=lambda name: cells[name]["executions"])
    return {**cells[fewest], "order": fewest, "orders": cells}


def mended(bug: DeepBug, until: Cell, seconds: float) -> Cell:
    """The version without the bug, for many times the states until the bug, by delays."""
    if not until.get("found"):
        return {"missing": "the bug was not found"}
    limits: dict[str, Any] = {"seconds": seconds}
    limits["states"] = max(SILENT * until["states"], SILENT_LEAST)
    how: dict[str, Any] = {"search": "delay", "threads": 1, "memory_mib": MEMORY, "traces": None}
    report = check(build(bug, mended=True), **how, **limits)
    return {
        "found": bool(report.violations),
        "exhausted": report.exhausted,
        "executions": report.executions,
        "states": report.unique,
        "times": report.executions / max(until["executions"], 1),
    }


def row_of(bug: DeepBug, seconds: float) -> dict[str, Cell]:
    """All cells of a row of Table 2; the heuristic has one configuration for all bugs."""
    delay = search(bug, seconds, search="delay")
    orders = by_delays(bug, seconds)
    return {
        "bDP": black_box(bug, seconds),
        "RND": walks(bug, seconds),
        "rDP": tree(bug, seconds, reversals="random"),
        "exact": best({**orders, "queue": tree(bug, seconds, reversals="queue")}),
        "heuristic": search(bug, seconds, search="semantic", walks=EXECUTIONS_MAX),
        "bfs": search(bug, seconds, search="bfs"),
        "delay": delay,
        "mended": mended(bug, delay, seconds),
    }


def table_3(most: int) -> dict[str, dict[str, Any]]:
    """For each model and budget, the ratio of every policy."""
    result: dict[str, dict[str, Any]] = {}
    for model, more in RATIO_MODELS.items():
        if model not in MODELS:
            continue
        module = importlib.import_module(f"presage.systems.samc.{model}")
        result[model] = {}
        for budget in BUDGETS:
            faults = {"crashes": budget, "restarts": budget}
            system = module.system(**faults, **more)
            cell = result[model][str(budget)] = {
                **over_seeds(system, most, RATIO_SEEDS),
                "settled": settled(system, most),
                "by moves": by_moves(system, MOVES_MAX),
                "whole": whole(module.system(**faults, **WHOLE[model])),
            }
            if model == "zle":
                cell["stated"] = over_seeds(system, most, RATIO_SEEDS, graph=Stated)
            say(f"table 3: {model}, {budget}: {cell}")
    return result


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="per cell")
    parser.add_argument("--tables", nargs="*", default=TABLES, choices=TABLES)
    parser.add_argument("--bugs", nargs="*", default=[], help="of table 2; the rest is kept")
    parser.add_argument("--executions", type=int, default=RATIO_EXECUTIONS, help="of table 3")
    parser.add_argument("--page", type=Path, default=PAGE)
    args = parser.parse_args()
    data: Data = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    data["machine"] = f"{platform.machine()}, {os.cpu_count()} cores"
    if "2" in args.tables:
        rows = data.setdefault("2", {})
        for bug in BUGS:
            if not args.bugs or bug.id in args.bugs:
                rows[bug.id] = row_of(bug, args.seconds)
                say(f"table 2: {bug.id}: {rows[bug.id]}")
        data["2"] = {bug.id: rows[bug.id] for bug in BUGS if bug.id in rows}
        if args.bugs:  # the other rows had what they had
            data["seconds"] = min(args.seconds, data.get("seconds", args.seconds))
        else:
            data["seconds"] = args.seconds
            data.pop("limits", None)  # what an earlier run said of its cells
    if "3" in args.tables:
        data["3"] = table_3(args.executions)
    DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    if not all(bug.id in data.get("2", {}) for bug in BUGS) or "3" not in data:
        say("some rows were never measured: no page is written")
        return 1
    held = conditions(data, BUGS)
    args.page.write_text("\n".join(page(data, BUGS, held)) + "\n", encoding="utf-8")
    for condition in held:
        say(f"{condition.verdict}: {condition.claim}: {condition.measured}")
    return int(not all(condition.holds for condition in held))


if __name__ == "__main__":
    sys.exit(main())
