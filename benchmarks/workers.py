"""Hunt the whole catalogue by one worker of a cluster, then by two: how much sooner is it done?

Every bug is hunted with some seeds, each hunt for at most so many executions: so the work is the
same for any number of workers, and what they find is compared. One Ray is started, and given as
many hunts at a time as there are to be workers. Run by `make workers`.

On a machine that does other things as well, seconds say little. So the processors' time is printed,
too: what all workers spent, which shows what it costs that they are several, and what the busiest
of them spent, below which they could not be done with processors of their own.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from catalogue import SYSTEMS, OnRay, build, catalogue

from presage import check

EXECUTIONS = 1_000  # of one hunt, at most
LOOK_SECONDS = 0.25


@dataclass(frozen=True)
class Hunted:
    """What one hunt gave, and who spent what on it."""

    found: tuple[str, ...]  # properties
    executions: int
    worker: int
    seconds: float  # of the processor

    def same(self, other: Hunted) -> bool:
        """Whether the same was found, by the same execution, whoever did it.

        How short it then gets, and which step is blamed, depends on the time that shrinking has.
        """
        return (self.found, self.executions) == (other.found, other.executions)


@dataclass
class Round:
    """The whole catalogue, by so many workers."""

    workers: int
    seconds: float = 0.0
    hunts: dict[Any, Hunted] = field(default_factory=dict)

    @property
    def spent(self) -> Counter[int]:
        """The processor's time, by workers."""
        spent: Counter[int] = Counter()
        for each in self.hunts.values():
            spent[each.worker] += each.seconds  # type: ignore[assignment]
        return spent


def hunt(system: str, at: int, seed: int, executions: int) -> Hunted:
    """Hunt for one bug with one seed."""
    bug, began = catalogue(system)[at], time.process_time()
    target = build(system, dict(bug.parameters))
    target.properties = tuple(p for p in target.properties if p.name == bug.property)
    how: dict[str, Any] = {"search": "hunt", "walks": executions, "traces": None}
    report = check(target, seed=seed, threads=1, hunt=bug.hunt, **how)
    found = tuple(each.prop for each in report.violations)
    return Hunted(found, report.executions, os.getpid(), time.process_time() - began)


def done_by(pool: Any, workers: int, work: Sequence[tuple[Any, ...]]) -> Round:
    """All of the work, so many pieces at a time, in order."""
    done, waiting = Round(workers), list(work)
    running: dict[Any, tuple[Any, ...]] = {}
    began = time.monotonic()
    while waiting or running:
        while waiting and len(running) < workers:
            piece = waiting.pop(0)
            running[pool.call(hunt, *piece)] = piece
        for handle in pool.wait(list(running), LOOK_SECONDS):
            done.hunts[running.pop(handle)] = pool.result(handle)
    done.seconds = time.monotonic() - began
    return done


def told(done: Round, first: Round) -> str:
    spent, one = done.spent, first.spent
    return (
        f"| {done.workers} | {done.seconds:.1f} | {first.seconds / done.seconds:.2f}"
        f" | {spent.total():.1f} | {spent.total() / one.total():.2f}"
        f" | {max(spent.values()):.1f} | {one.total() / max(spent.values()):.2f} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--executions", type=int, default=EXECUTIONS)
    parser.add_argument("--systems", nargs="*", default=SYSTEMS, choices=SYSTEMS)
    parser.add_argument("--bugs", nargs="*", help="these alone")
    parser.add_argument("--workers", nargs="*", type=int, default=[1, 2])
    args = parser.parse_args()
    work = [
        (system, at, seed, args.executions)
        for system in args.systems
        for at, bug in enumerate(catalogue(system))
        for seed in range(args.seeds)
        if not args.bugs or bug.id in args.bugs
    ]
    with OnRay(str(max(args.workers))) as cluster:
        pool = cluster.ray
        done_by(pool, max(args.workers), work[: 2 * max(args.workers)])  # each has loaded all
        rounds = [done_by(pool, workers, work) for workers in args.workers]
    print(f"{len(work)} hunts of at most {args.executions:,} executions each")
    print()
    print("| workers | seconds | times as fast | CPU seconds | of one's | busiest | at most |")
    print("|---|---|---|---|---|---|---|")
    for each in rounds:
        print(told(each, rounds[0]), flush=True)
    first, others = rounds[0].hunts, [each.hunts for each in rounds[1:]]
    differ = [piece for piece in work for each in others if not each[piece].same(first[piece])]
    print(f"\nfound the same: {'no' if differ else 'yes'}")
    for piece in differ:
        print(piece, *(each.hunts[piece] for each in rounds), sep="\n  ")
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main())
