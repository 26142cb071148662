"""How fast the executions of processes are explored: a gather by eight senders.

Listing 4.3 of "SimGrid MC" (FORTE'11): one process receives from all others, which each send once;
8! = 40,320 orders of arrival, each explored once. SimGrid 4.2 needed 46.8 s for them with its own
optimal reduction on a like machine, 862 executions a second. Run by `make bench`.

The processes are real: plain functions that block. Each is run once for every history of what it
received; with a mark, by which a process says what its future depends on, once for every one of
those. Warm, nothing is left to run. Time is that of the processor: one thread explores, so on an
idle machine it is that of the clock.
"""

from __future__ import annotations

import sys
import time

from presage._core import ProcessKernel
from presage.process.collecting import seldom_collected
from presage.process.fence import Fence
from presage.process.histories import Histories
from presage.systems.simgrid.only_send_deterministic import program

SENDERS = 8
TRACES = 40_320
PEER = 862  # executions per second
GOAL = 20  # times the peer


def measure(name: str, kernel: ProcessKernel) -> None:
    started = time.process_time()
    report = kernel.explore("odpor")
    seconds = time.process_time() - started
    if (report.traces, report.blocked) != (TRACES, 0):
        sys.exit(f"expected {TRACES} executions and none in vain, got {report}")
    speed = TRACES / seconds
    verdict = "met" if speed >= GOAL * PEER else "MISSED"
    print(
        f"  {name:22} {seconds:7.3f} s {speed:10,.0f} executions/s"
        f" {speed / PEER:6.1f} x SimGrid   {report.handler_runs:8,} runs of Python  {verdict}"
    )


def main() -> None:
    print(f"gather by {SENDERS} senders, optimal reduction, {TRACES:,} executions")
    with Fence(), seldom_collected():
        for name, marked in (("every history", False), ("with a mark", True)):
            histories = Histories(program(ranks=SENDERS + 1, marked=marked), _call)
            kernel = ProcessKernel(histories, histories.begin())
            measure(name, kernel)
            measure(f"{name}, warm", kernel)
    print(f"  goal: {GOAL} x SimGrid, {GOAL * PEER:,} executions/s")


def _call(function, *args):  # type: ignore[no-untyped-def]
    """In place of the watch over user code that a check has: all of this code is known."""
    return function(*args)


if __name__ == "__main__":
    main()
