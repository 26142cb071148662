"""How much shorter shrinking makes what is found, over all bugs of the catalogue.

Each bug is looked for with a few seeds, by a hunt and, if it is one of safety, by plain random
walks; what was found is compared with what is told. For a liveness bug the steps counted are those
up to its critical transition. Run by `make shrinking`.
"""

from __future__ import annotations

import argparse
import importlib
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from statistics import median
from typing import Any

from presage import check

SYSTEMS = ("mace_transport", "randtree", "chord", "pastry")
SECONDS = 20.0  # for one search


@dataclass
class Row:
    """What one search for one bug gave."""

    system: str
    bug: str
    kind: str
    search: str
    found: int
    told: int

    @property
    def removed(self) -> float:
        """The share of steps that are gone."""
        return 1 - self.told / self.found


def catalogue(system: str) -> Any:
    return importlib.import_module(f"presage.systems.{system}.bugs").BUGS


def look(system: str, at: int, search: str, seed: int) -> Row | None:
    """Look for one bug once."""
    bug = catalogue(system)[at]
    target = importlib.import_module(f"presage.systems.{system}").system(**bug.parameters)
    target.properties = tuple(p for p in target.properties if p.name == bug.property)
    how: dict[str, Any] = {"search": search, "walks": 2**32 - 1, "traces": None}
    report = check(target, seed=seed, seconds=SECONDS, liveness="rest", **how)
    for violation in report.violations:
        told = violation.critical if violation.kind == "liveness" else violation.step
        if violation.prop == bug.property and told:  # not where no single step is critical
            found = violation.found or told
            return Row(system, bug.id, violation.kind, search, found, told)
    return None


def tell(rows: list[Row]) -> None:
    print(f"{'bug':<18}{'kind':<11}{'search':<8}{'found':>7}{'told':>7}{'removed':>9}")
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.bug, row.kind, row.search), []).append(row)
    for (bug, kind, search), own in groups.items():
        found, told = median(r.found for r in own), median(r.told for r in own)
        removed = median(r.removed for r in own)
        print(f"{bug:<18}{kind:<11}{search:<8}{found:>7.0f}{told:>7.0f}{removed:>9.0%}")
    for search in dict.fromkeys(row.search for row in rows):
        shares = [row.removed for row in rows if row.search == search]
        print(f"{search}: {len(shares)} violations, median {median(shares):.0%} of steps removed")
    print(f"all: {len(rows)} violations, median {median(r.removed for r in rows):.0%} removed")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--systems", nargs="*", default=SYSTEMS, choices=SYSTEMS)
    args = parser.parse_args()
    asked = [
        (system, at, search, seed)
        for system in args.systems
        for at, bug in enumerate(catalogue(system))
        for search in (("hunt",) if bug.kind == "liveness" else ("hunt", "walk"))
        for seed in range(args.seeds)
    ]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        rows = [row for row in pool.map(look, *zip(*asked, strict=True)) if row is not None]
    tell(rows)
    return 0 if median(row.removed for row in rows) >= 0.5 else 1


if __name__ == "__main__":
    raise SystemExit(main())
