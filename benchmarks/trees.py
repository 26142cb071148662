"""Explore trees of executions by one thread, then by two: how is the work shared?

One thread explores as if it were alone; the other one explores parts that it will come to. Both
give the same executions, which is compared. Beside seconds, which say little on a machine that does
other things as well, the processor's time of each thread is printed: what both spent, against what
one alone spends, says what was explored in vain; what the busier one spent is below which the
search cannot be done, with a processor for each. Run by `make trees`.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from presage import check
from presage.search.report import Report

TASKS = Path("/proc/self/task")
LOOK_SECONDS = 0.02
CASES: dict[str, dict[str, Any]] = {
    "abd": {"clients": 3},
    "two_phase_commit": {"rms": 6},
    "simgrid.philosophers": {"count": 8},
    "simgrid.pi": {"threads": 8},
}


class Watch:
    """Reads what each thread has spent, as long as the threads are there."""

    def __enter__(self) -> Watch:
        self.spent: dict[str, float] = {}
        self._before = self._seconds()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        own = str(threading.get_native_id())
        while not self._over.wait(LOOK_SECONDS):
            now = self._seconds()
            self.spent |= {
                task: seconds - self._before.get(task, 0.0)
                for task, seconds in now.items()
                if task != own
            }

    @staticmethod
    def _seconds() -> dict[str, float]:
        found = {}
        for task in TASKS.iterdir():
            try:
                found[task.name] = int((task / "schedstat").read_text().split()[0]) / 1e9
            except OSError:  # it has ended
                continue
        return found


@dataclass
class Explored:
    """One search, by so many threads."""

    report: Report
    seconds: float
    spent: list[float]  # of the processor, by thread, the busiest first

    @property
    def facts(self) -> tuple[Any, ...]:
        report = self.report
        return report.traces, report.executions, report.unique, report.depth, report.properties


def explore(name: str, threads: int) -> Explored:
    module = importlib.import_module(f"presage.systems.{name}")
    make = getattr(module, "system", None) or module.program
    began = time.monotonic()
    with Watch() as watch:
        report = check(make(**CASES[name]), search="tree", threads=threads, traces=None)
    seconds = time.monotonic() - began
    spent = sorted(watch.spent.values(), reverse=True)
    return Explored(report, seconds, spent[:threads])


def row(name: str, threads: int) -> bool:
    """Measure and print one; whether it is the same exploration."""
    one, several = explore(name, 1), explore(name, threads)
    case = ", ".join([name, *(f"{key}={value}" for key, value in CASES[name].items())])
    whole, shared = sum(one.spent), sum(several.spent)
    print(
        f"| {case} | {one.report.executions:,} | {one.seconds:.1f} | {several.seconds:.1f}"
        f" | {whole:.2f} | {' + '.join(f'{each:.2f}' for each in several.spent)}"
        f" | {shared / whole:.2f} | {whole / max(several.spent):.2f} |",
        flush=True,
    )
    return one.facts == several.facts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    print(
        f"| tree | executions | seconds, 1 thread | {args.threads} | CPU seconds, 1 thread"
        f" | {args.threads} | of one's | at most as fast |"
    )
    print("|---|---|---|---|---|---|---|---|")
    same = [row(name, args.threads) for name in args.cases]
    print(f"\nthe same executions: {'yes' if all(same) else 'no'}")
    return int(not all(same))


if __name__ == "__main__":
    sys.exit(main())
