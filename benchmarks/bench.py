"""Measure presage against Stateright: the same systems, one thread, breadth first, whole commands.

Both tools run in turn, so that a busy moment of the machine hits both, and the best of the
repetitions counts: noise only ever adds time. Every run must give the same counts in both tools,
else nothing here means anything and the bench fails.

Run by `make bench`; `make bench BENCH=--quick` is a smoke test.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PRESAGE = Path(sys.executable).parent / "presage"
PEER = ROOT / "benchmarks" / "stateright" / "target" / "release" / "stateright-peer"

MIB = 1 << 20
RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # of `ru_maxrss`, in bytes


class BenchFailed(Exception):
    """A run failed, or the two tools disagree."""


@dataclass(frozen=True)
class Case:
    """A shipped system with its parameters, named alike in both tools."""

    target: str
    parameters: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, target: str, **parameters: object) -> Case:
        return cls(target, tuple((key, str(value)) for key, value in parameters.items()))

    def __str__(self) -> str:
        return " ".join([self.target, *(f"{key}={value}" for key, value in self.parameters)])


@dataclass(frozen=True)
class Plan:
    cases: tuple[Case, ...]
    threaded: Case
    repetitions: int


TINY = Case.of("two_phase_commit", rms=1)  # what the process itself needs
PAXOS = Case.of("paxos", clients=3)
COMMIT = Case.of("two_phase_commit", rms=8)

FULL = Plan(
    cases=(
        PAXOS,
        Case.of("two_phase_commit", rms=7),
        COMMIT,
        Case.of("abd", servers=3, clients=2, network="ordered"),
        Case.of("single_copy", servers=1, clients=4),
    ),
    threaded=Case.of("two_phase_commit", rms=9),
    repetitions=3,
)
QUICK = Plan(
    cases=(
        Case.of("paxos", clients=2),
        Case.of("two_phase_commit", rms=3),
        Case.of("two_phase_commit", rms=5),
        Case.of("abd", servers=2, clients=2, network="unordered"),
        Case.of("single_copy", servers=1, clients=2),
    ),
    threaded=Case.of("two_phase_commit", rms=6),
    repetitions=1,
)


@dataclass(frozen=True)
class Run:
    """One run of one command: wall time and peak memory of the whole process, and its counts."""

    seconds: float
    peak_bytes: int
    unique: int
    generated: int
    depth: int
    report: dict[str, Any]  # all that the tool said

    @property
    def counts(self) -> tuple[int, int, int]:
        return self.unique, self.generated, self.depth

    @property
    def rate(self) -> float:
        """Transitions per second of the whole command."""
        return self.generated / self.seconds

    def bytes_per_state(self, tiny: Run) -> float:
        """Memory per unique state beyond what the process needs for a tiny system."""
        return max(0, self.peak_bytes - tiny.peak_bytes) / self.unique


def execute(command: Sequence[str]) -> tuple[float, int, str]:
    """Run `command` to its end; its wall seconds, peak bytes and standard output.

    The kernel counts what this process held at the moment of the fork as the child's, so no
    peak is below some 16 MiB. Import nothing heavy here.
    """
    with tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors) as child:
            assert child.stdout is not None
            output = child.stdout.read()
            _, status, usage = os.wait4(child.pid, 0)
            seconds = time.perf_counter() - started
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            errors.seek(0)
            said = (output + errors.read()).decode(errors="replace").strip()
            raise BenchFailed(f"`{' '.join(command)}` ended with {child.returncode}\n{said}")
    return seconds, usage.ru_maxrss * RSS_UNIT, output.decode()


def run_presage(program: Path, case: Case, threads: int = 1) -> Run:
    settings = [word for key, value in case.parameters for word in ("--set", f"{key}={value}")]
    options = ["--search", "bfs", "--threads", str(threads), "--json"]
    seconds, peak, output = execute([str(program), "check", case.target, *settings, *options])
    report = json.loads(output)
    if not report["exhausted"] or report["violations"]:
        raise BenchFailed(f"presage did not finish `{case}`: {output}")
    states = report["states"]
    counts = states["unique"], states["generated"], states["depth"]
    return Run(seconds, peak, *counts, report)


def run_peer(program: Path, case: Case) -> Run:
    parameters = [f"{key}={value}" for key, value in case.parameters]
    options = ["--search", "bfs", "--threads", "1"]
    seconds, peak, output = execute([str(program), case.target, *parameters, *options])
    report = json.loads(output)
    return Run(seconds, peak, report["unique"], report["generated"], report["depth"], report)


def warm_rate(case: Case) -> float:
    """Transitions per second of a second search on one kernel, which runs no handler."""
    settings = [f"{key}={value}" for key, value in case.parameters]
    warm = ROOT / "benchmarks" / "warm.py"
    return float(execute([sys.executable, str(warm), case.target, *settings])[2])


def agree(case: Case, one: Run, other: Run) -> None:
    """Fail unless both runs saw the same states, transitions and depth."""
    if one.counts != other.counts:
        raise BenchFailed(
            f"`{case}`: unique, generated, depth disagree: {one.counts} and {other.counts}\n"
            "  usual cause: the two models, or what counts as a transition, differ\n"
            "  way out: nothing measured counts until both tools check the same system"
        )


def best(runs: Sequence[Run]) -> Run:
    return min(runs, key=lambda run: run.seconds)


@dataclass(frozen=True)
class Duel:
    """The best run of each tool on one case."""

    case: Case
    presage: Run
    peer: Run
    warm: float  # presage's transitions per second once every step is known

    @property
    def ratio(self) -> float:
        return self.peer.seconds / self.presage.seconds


@dataclass(frozen=True)
class Outcome:
    """All that was measured."""

    duels: tuple[Duel, ...]
    tiny: Duel
    threaded: Case
    one: Run
    two: Run
    repetitions: int

    @property
    def speed_up(self) -> float:
        return self.one.seconds / self.two.seconds


class Bench:
    """Runs a plan, telling on standard error what it does."""

    def __init__(self, presage: Path, peer: Path, plan: Plan) -> None:
        self.presage = presage
        self.peer = peer
        self.plan = plan

    def measure(self) -> Outcome:
        tiny = self.duel(TINY)
        duels = tuple(self.duel(case) for case in self.plan.cases)
        one, two = self.threads(self.plan.threaded)
        return Outcome(duels, tiny, self.plan.threaded, one, two, self.plan.repetitions)

    def duel(self, case: Case) -> Duel:
        ours: list[Run] = []
        theirs: list[Run] = []
        for _ in range(self.plan.repetitions):
            ours.append(run_presage(self.presage, case))
            theirs.append(run_peer(self.peer, case))
            tell(f"{case}: presage {ours[-1].seconds:.2f} s, stateright {theirs[-1].seconds:.2f} s")
            agree(case, ours[-1], theirs[-1])
        return Duel(case, best(ours), best(theirs), warm_rate(case))

    def threads(self, case: Case) -> tuple[Run, Run]:
        ones: list[Run] = []
        twos: list[Run] = []
        for _ in range(self.plan.repetitions):
            ones.append(run_presage(self.presage, case, threads=1))
            twos.append(run_presage(self.presage, case, threads=2))
            tell(f"{case}: 1 thread {ones[-1].seconds:.2f} s, 2 threads {twos[-1].seconds:.2f} s")
            agree(case, ones[-1], twos[-1])
        return best(ones), best(twos)


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they need, the first to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if index else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, ["-" * width for width in widths], *rows)
    )


def millions(rate: float) -> str:
    return f"{rate / 1e6:.2f}"


def search_rate(run: Run) -> float:
    """Transitions per second of the search alone, without the start of the process."""
    return run.generated / max(float(run.report["seconds"]), 1e-9)


def speed_table(outcome: Outcome) -> str:
    head = ["system", "unique", "generated", "presage s", "stateright s", "ratio"]
    head += ["M trans/s", "in search", "warm", "stateright"]
    return table(
        head,
        [
            [
                str(duel.case),
                f"{duel.presage.unique:,}",
                f"{duel.presage.generated:,}",
                f"{duel.presage.seconds:.2f}",
                f"{duel.peer.seconds:.2f}",
                f"{duel.ratio:.2f}x",
                millions(duel.presage.rate),
                millions(search_rate(duel.presage)),
                millions(duel.warm),
                millions(duel.peer.rate),
            ]
            for duel in outcome.duels
        ],
    )


def work_table(outcome: Outcome) -> str:
    head = ["system", "handler runs", "property runs", "peak MiB", "bytes/state"]
    head += ["stateright MiB", "bytes/state", "collision"]
    return table(
        head,
        [
            [
                str(duel.case),
                f"{duel.presage.report['handler_runs']:,}",
                f"{duel.presage.report['property_runs']:,}",
                f"{duel.presage.peak_bytes / MIB:.0f}",
                f"{duel.presage.bytes_per_state(outcome.tiny.presage):.0f}",
                f"{duel.peer.peak_bytes / MIB:.0f}",
                f"{duel.peer.bytes_per_state(outcome.tiny.peer):.0f}",
                f"{duel.presage.report['collision_probability']:.1e}",
            ]
            for duel in outcome.duels
        ],
    )


def threads_table(outcome: Outcome) -> str:
    head = ["system", "unique", "1 thread s", "2 threads s", "speed-up", "peak MiB", "bytes/state"]
    row = [
        str(outcome.threaded),
        f"{outcome.one.unique:,}",
        f"{outcome.one.seconds:.2f}",
        f"{outcome.two.seconds:.2f}",
        f"{outcome.speed_up:.2f}x",
        f"{outcome.one.peak_bytes / MIB:.0f}",
        f"{outcome.one.bytes_per_state(outcome.tiny.presage):.0f}",
    ]
    return table(head, [row])


def goals(outcome: Outcome) -> list[tuple[str, float, bool]]:
    """What presage promises: the claim, what was measured, whether it is met."""
    by_case = {duel.case: duel for duel in outcome.duels}
    paxos, commit = by_case[PAXOS], by_case[COMMIT]
    tiny = outcome.tiny.presage
    bytes_paxos = paxos.presage.bytes_per_state(tiny)
    bytes_threaded = outcome.one.bytes_per_state(tiny)
    handlers = paxos.presage.report["handler_runs"]
    return [
        (f"{PAXOS}: at least 5x Stateright", paxos.ratio, paxos.ratio >= 5),
        (f"{COMMIT}: not slower than Stateright", commit.ratio, commit.ratio >= 1),
        (f"{outcome.threaded}: 2 threads at least 1.6x", outcome.speed_up, outcome.speed_up >= 1.6),
        (f"{PAXOS}: 2 M transitions/s once warm", paxos.warm / 1e6, paxos.warm >= 2e6),
        (f"{PAXOS}: at most 100 bytes per state", bytes_paxos, bytes_paxos <= 100),
        (f"{outcome.threaded}: at most 100 bytes per state", bytes_threaded, bytes_threaded <= 100),
        (f"{PAXOS}: under 20,000 handler runs", handlers, handlers < 20_000),
    ]


def text_of(outcome: Outcome) -> str:
    """The whole result, for people."""
    tiny = outcome.tiny
    parts = [
        f"wall time of the whole command, one thread, bfs, best of {outcome.repetitions}; "
        "ratio = stateright / presage",
        speed_table(outcome),
        f"bytes/state: peak memory beyond that of `{tiny.case}` "
        f"(presage {tiny.presage.peak_bytes / MIB:.0f} MiB, "
        f"stateright {tiny.peer.peak_bytes / MIB:.0f} MiB), per unique state",
        work_table(outcome),
        threads_table(outcome),
    ]
    if PAXOS in [duel.case for duel in outcome.duels]:
        rows = [[c, f"{n:,.2f}", "met" if met else "missed"] for c, n, met in goals(outcome)]
        parts.append(table(["goal", "measured", ""], rows))
    return "\n\n".join(parts)


def json_of(outcome: Outcome) -> dict[str, Any]:
    """The whole result, for programs."""
    return {
        **asdict(outcome),
        "ratios": {str(duel.case): duel.ratio for duel in outcome.duels},
        "speed_up": outcome.speed_up,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="measure presage against Stateright")
    parser.add_argument("--quick", action="store_true", help="small systems, once: a smoke test")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    parser.add_argument("--presage", type=Path, default=PRESAGE, help="the presage to measure")
    parser.add_argument("--peer", type=Path, default=PEER, help="the built stateright-peer")
    args = parser.parse_args()
    for program in (args.presage, args.peer):
        if not program.is_file():
            tell(f"error: `{program}` does not exist\n  way out: `make bench` builds it first")
            return 2
    try:
        outcome = Bench(args.presage, args.peer, QUICK if args.quick else FULL).measure()
    except BenchFailed as failure:
        tell(f"error: {failure}")
        return 1
    print(text_of(outcome))
    if args.json:
        args.json.write_text(json.dumps(json_of(outcome), indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
