"""How fast the executions of processes are explored: a gather by eight senders.

Listing 4.3 of "SimGrid MC" (FORTE'11): one process receives from all others, which each send once;
8! = 40,320 orders of arrival, each explored once. SimGrid 4.2 needed 46.8 s for them with its own
optimal reduction on a like machine, 862 executions a second. Run by `make bench`.

Cold: Python runs each process once for each history, as it does in the first exploration of any
program. Merged: the receiver's local state is its number of messages and the last one, as a program
may say that nothing else matters. Warm: nothing is left to run. Time is that of the processor: one
thread explores, so on an idle machine it is that of the clock.
"""

from __future__ import annotations

import sys
import time

from presage._core import ProcessKernel

SENDERS = 8
TRACES = 40_320
PEER = 862  # executions per second
GOAL = 20  # times the peer
EXIT, SEND, RECV, WAIT = (0, ()), 2, (3, (0, -1, -1)), (4, (0, 0))


class Gather:
    """Local states are (process, what it was answered), kept whole or in part."""

    def __init__(self, merged: bool) -> None:
        self.merged = merged
        self.rows: list[tuple[int, tuple[int, ...]]] = []
        self.ids: dict[tuple[int, tuple[int, ...]], int] = {}

    def local(self, process: int, answers: tuple[int, ...]) -> int:
        if self.merged and answers:
            answers = (*(0,) * (len(answers) - 1), answers[-1])
        row = (process, answers)
        known = self.ids.get(row)
        if known is None:
            known = self.ids[row] = len(self.rows)
            self.rows.append(row)
        return known

    def op(self, local: int) -> tuple[int, tuple[int, ...]]:
        process, answers = self.rows[local]
        done = len(answers)
        if done == (2 * SENDERS if process == 0 else 2):
            return EXIT
        if done % 2 == 1:
            return WAIT
        return RECV if process == 0 else (SEND, (0, process, 0, 0, 0))

    def advance(
        self, local: int, choice: int, payload: int, first: int, second: int
    ) -> tuple[int, int, tuple[int, ...]]:
        process, answers = self.rows[local]
        then = self.local(process, (*answers, payload))
        return then, *self.op(then)

    def kernel(self) -> ProcessKernel:
        return ProcessKernel(self, [(self.local(at, ()), False) for at in range(SENDERS + 1)])


def measure(name: str, kernel: ProcessKernel) -> float:
    started = time.process_time()
    report = kernel.explore("odpor")
    seconds = time.process_time() - started
    if (report["traces"], report["blocked"]) != (TRACES, 0):
        sys.exit(f"expected {TRACES} executions and none in vain, got {report}")
    speed = TRACES / seconds
    print(
        f"  {name:14} {seconds:7.3f} s {speed:10,.0f} executions/s"
        f" {speed / PEER:6.0f} x SimGrid   {report['advances']:8,} runs of Python"
    )
    return speed


def main() -> None:
    print(f"gather by {SENDERS} senders, optimal reduction, {TRACES:,} executions")
    whole, merged = Gather(merged=False).kernel(), Gather(merged=True).kernel()
    speeds = [
        measure("cold", whole),
        measure("warm", whole),
        measure("merged, cold", merged),
        measure("merged, warm", merged),
    ]
    met = "met" if min(speeds) >= GOAL * PEER else "MISSED"
    print(f"  goal: {GOAL} x SimGrid, {GOAL * PEER:,} executions/s: {met}")


if __name__ == "__main__":
    main()
