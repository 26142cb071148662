"""Run the experiments of the live half on a virtual clock, and write the page about them.

After Yabandeh et al., "CrystalBall: Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", NSDI 2009, section 5. Run by `make live`, in minutes.

`--only long` runs RandTree at the paper's pace, 1.4 hours of virtual time. `--only bullet
--downloads 1 --nodes 49 --blocks 1280 --size 16000` is the paper's file.
`--only real` runs 25 real processes, three times for each of three modes, in 12 minutes.
`--only paxos,bullet` measures some anew and keeps what is known of the others, in
`benchmarks/live_experiments.json`; `--only ''` writes the page alone. Each run is kept there as
soon as it has ended: with `--go-on`, a command that was cut takes up the runs that are missing.
Fails unless every condition holds that the page lists.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import live_bullet
import live_long
import live_paxos
import live_randtree
import live_real
import live_rounds
from live_modes import MODES, Pace
from live_page import conditions, page

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "live-experiments.md"
DATA = ROOT / "benchmarks" / "live_experiments.json"
EXPERIMENTS = ("randtree", "rounds", "paxos", "bullet", "depth")
NOT_OF_A_RUN = ("only", "processes", "go_on")  # arguments that change no result
COUNTS = ("seeds", "long_seeds", "round_seeds", "downloads", "real_runs")  # of runs
PAXOS_BUGS = ("PX-bug1", "PX-bug2")

Task = tuple[tuple[str, ...], Callable[..., Any], tuple[Any, ...]]  # where it goes, what it is


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(EXPERIMENTS), help="of these, by commas")
    parser.add_argument("--go-on", action="store_true", help="keep the runs that have ended")
    parser.add_argument("--seeds", type=int, default=10, help="of RandTree; default: 10")
    parser.add_argument("--long-seeds", type=int, default=10, help="at the paper's pace")
    parser.add_argument("--round-seeds", type=int, default=3, help="of runs by deadline")
    parser.add_argument("--seconds", type=float, default=100.0, help="of a run of RandTree")
    parser.add_argument("--churn", type=float, default=2.0, help="seconds between two kills")
    parser.add_argument("--every", type=float, default=20.0, help="seconds between two rounds")
    parser.add_argument("--deadline", type=float, default=0.03, help="seconds of a prediction")
    parser.add_argument("--runs", type=int, default=100, help="of Paxos, for each bug and mode")
    parser.add_argument("--downloads", type=int, default=5, help="of Bullet', for each mode")
    parser.add_argument("--nodes", type=int, default=25, help="of Bullet'")
    parser.add_argument("--blocks", type=int, default=200, help="of the file")
    parser.add_argument("--size", type=int, default=8_000, help="bytes of a block")
    parser.add_argument("--samples", type=int, default=20, help="live states to predict from")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--real-runs", type=int, default=3, help="of 25 processes, for each mode")
    parser.add_argument("--real-seconds", type=float, default=75.0)
    parser.add_argument("--real-churn", type=float, default=0.7)
    parser.add_argument("--real-every", type=float, default=20.0)
    parser.add_argument("--real-deadline", type=float, default=0.1)
    return parser.parse_args()


def tasks(args: argparse.Namespace) -> Iterator[Task]:
    """All that is to be run, cheap things first."""
    chosen = args.only.split(",")
    pace = Pace(args.every, args.deadline)
    usual = Pace(10.0, 0.3)  # Paxos: three nodes, a small space
    if "depth" in chosen:
        yield ("depth",), live_randtree.depths, (150.0, 1.0, args.samples)
    if "paxos" in chosen:
        for bug in PAXOS_BUGS:
            for mode in MODES:
                yield ("paxos", bug, mode), live_paxos.runs, (bug, mode, args.runs, usual)
    if "bullet" in chosen:
        file = (args.nodes, args.blocks, args.size)
        for seed in range(args.downloads):
            for mode in MODES:
                yield ("bullet", mode, str(seed)), live_bullet.run, (mode, seed, *file, pace)
    if "rounds" in chosen:
        for deadline in (None, *live_rounds.DEADLINES):
            mode = "none" if deadline is None else "steer"
            how = (args.seconds, args.churn, Pace(args.every, deadline or 0.0))
            for seed in range(args.round_seeds):
                yield ("rounds", str(deadline or mode), str(seed)), alone, (mode, seed, *how)
    if "long" in chosen:
        for mode, seed in live_long.runs(args.long_seeds):
            yield ("long", mode, str(seed)), live_long.run, (mode, seed)
    if "randtree" in chosen:
        how = (args.seconds, args.churn, pace)
        for seed in range(args.seeds):
            for bugs in live_randtree.BUGS:
                for mode in MODES:
                    place = ("randtree", bugs, mode, str(seed))
                    yield place, live_randtree.run, (bugs, mode, seed, *how)


def alone(mode: str, seed: int, *how: Any) -> Any:
    """One run in which predictions alone keep nodes out of violations, or nothing does."""
    return live_rounds.kept(live_randtree.run("five", mode, seed, *how))


def real_tasks(args: argparse.Namespace) -> Iterator[Task]:
    """Runs of real processes, to be run one after the other."""
    pace = Pace(args.real_every, args.real_deadline)
    how = (args.real_seconds, args.real_churn, pace)
    for seed in range(args.real_runs if "real" in args.only.split(",") else 0):
        for mode in live_real.REAL_MODES:
            yield ("real", mode, str(seed)), live_real.run, ("five", mode, seed, *how)


def put(data: dict[str, Any], place: tuple[str, ...], result: Any) -> None:
    *folders, name = place
    for folder in folders:
        data = data.setdefault(folder, {})
    data[name] = result


def has(data: dict[str, Any], place: tuple[str, ...]) -> bool:
    """Whether a run is among the results."""
    *folders, name = place
    for folder in folders:
        data = data.get(folder, {})
    return name in data


@contextmanager
def kept() -> Iterator[dict[str, Any]]:
    """All results there are, to be changed; another command may run at the same time."""
    folder = os.open(DATA.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        data: dict[str, Any] = json.loads(DATA.read_text()) if DATA.exists() else {}
        yield data
        new = DATA.with_suffix(".new")
        new.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")
        new.replace(DATA)  # whoever is cut meanwhile has those before
    finally:
        os.close(folder)


def begin(args: argparse.Namespace, data: dict[str, Any]) -> None:
    """Note how runs are made, and leave out those that are to be made anew."""
    for each in filter(None, args.only.split(",")):
        if not args.go_on:
            data.pop(each, None)
        how = {name: value for name, value in vars(args).items() if name not in NOT_OF_A_RUN}
        if each in data and _of_one(data["how"][each]) != _of_one(how):
            sys.exit(f"{each} was begun with other arguments: start it without --go-on")
        data.setdefault("how", {})[each] = how


def _of_one(how: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a single run."""
    return {name: value for name, value in how.items() if name not in COUNTS}


def main() -> int:
    args = arguments()
    with kept() as data:
        begin(args, data)
    context = get_context("spawn")
    for processes, chosen in ((args.processes, tasks(args)), (1, real_tasks(args))):
        with ProcessPoolExecutor(processes, context, max_tasks_per_child=1) as pool:
            running = {
                pool.submit(what, *how): place
                for place, what, how in chosen
                if not has(data, place)
            }
            for future in as_completed(running):
                with kept() as data:
                    put(data, running[future], future.result())
                print(" ".join(running[future]), flush=True)
    held = conditions(data)
    PAGE.write_text("\n".join(page(data, held)) + "\n")
    for each in held:
        print(f"{each.verdict:9} {each.claim}: {each.measured}")
    return 0 if all(each.holds for each in held) else 1


if __name__ == "__main__":
    sys.exit(main())
