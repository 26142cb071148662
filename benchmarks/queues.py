"""Many messages in one queue, drained one by one: CPU seconds and memory of the whole process.

Each row is a process of its own. What a row costs should grow as the number of messages does.
Run by `make bench`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from presage import Service, System, check, on

ROWS = [(queued, count) for queued in ("ordered", "lanes", "streams") for count in (1_000, 2_000)]
ROWS.append(("ordered", 20_000))
GOAL = ("ordered", 2_000), 0.2, 60  # CPU seconds of the check, MiB
RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # of `ru_maxrss`, in bytes
MIB = 1 << 20


@dataclass(frozen=True)
class Item:
    number: int
    lane: str = "only"


class Source(Service):
    count: int = 0
    streams: bool = False

    def start(self) -> None:
        for number in range(self.count):
            if self.streams:
                self.stream.send("sink", Item(number))
            else:
                self.send("sink", Item(number))


class Sink(Service):
    got: int = 0

    @on(Item)
    def take(self, item: Item) -> None:
        self.got += 1


def drain(queued: str, count: int) -> None:
    """Check the system, and print the CPU seconds that took."""
    nodes = {"source": Source(count=count, streams=queued == "streams"), "sink": Sink()}
    how: dict[str, Any] = {"streams": True} if queued == "streams" else {"network": queued}
    system = System(nodes, **how)
    began = os.times()
    report = check(system, traces=None)
    assert report.unique == count + 1, report
    ended = os.times()
    print(ended.user + ended.system - began.user - began.system)


def measured(queued: str, count: int) -> tuple[float, float]:
    """CPU seconds of the check, and the largest number of MiB that its process held."""
    command = [sys.executable, str(Path(__file__)), queued, str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        said = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"`{' '.join(command)}` ended with {child.returncode}")
    return float(said), usage.ru_maxrss * RSS_UNIT / MIB


def main() -> int:
    if sys.argv[1:]:
        drain(sys.argv[1], int(sys.argv[2]))
        return 0
    print(f"{'one queue, drained':<20}{'messages':>10}{'CPU s':>9}{'MiB':>8}")
    found = {}
    for queued, count in ROWS:
        found[queued, count] = seconds, mib = measured(queued, count)
        print(f"{queued:<20}{count:>10,}{seconds:>9.2f}{mib:>8.0f}")
    row, most_seconds, most_mib = GOAL
    met = found[row][0] <= most_seconds and found[row][1] <= most_mib
    print(
        f"goal: {row[1]:,} messages on `{row[0]}` in {most_seconds} s and {most_mib} MiB: ", end=""
    )
    print("met" if met else "missed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
