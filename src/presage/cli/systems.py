"""Commands on a system: `run-once`, `explore`, `simulate`, `systems`, `doctor`, `mpirun`."""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import sys

from presage.cli.common import (
    EXIT_HELD,
    EXIT_NONDETERMINISM,
    EXIT_OURS,
    EXIT_VIOLATION,
    STATUSES,
    give_up,
    theme_of,
)
from presage.cli.options import given, settings_of
from presage.cli.script import script_of
from presage.errors import BadTarget
from presage.ui.output import complain, write, write_json
from presage.version import VERSION


def run_simulate(args: argparse.Namespace) -> int:
    """`presage simulate`: one run of a program on a platform, in virtual time."""
    from presage.cli.target.load import load_program
    from presage.simulate.run import simulate
    from presage.ui import timeline

    with contextlib.redirect_stdout(sys.stderr):  # of what the code prints when it is imported
        script = script_of(args)
        program = load_program(args.target, settings_of(args.set), *script)
        done = simulate(program, args.platform, seed=args.seed, until=args.until)
    if args.chrome:
        done.save_chrome(args.chrome)
    if args.json:
        write_json({"presage": VERSION, "target": args.target, **done.to_json()})
    else:
        write(timeline.render(done, theme_of(args, sys.stdout), title=args.target))
    return done.exit_status


def run_run_once(args: argparse.Namespace) -> int:
    """`presage run-once`: one random execution, shown and saved."""
    from presage.cli.target.load import load_named
    from presage.search.once import run_once
    from presage.search.settings import TRACES, Settings
    from presage.trace import codec
    from presage.ui import once

    with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
        script = script_of(args)
        loaded = load_named(args.target, settings_of(args.set), *script)
        settings = Settings(
            **given(args, Settings),
            target=loaded.target,
            parameters=loaded.parameters,
            give_up=give_up,
        )
        done = run_once(loaded.system, settings, steps=args.steps, faults=args.faults)
        path = str(codec.save(done.trace, settings.traces or TRACES))
    if args.json:
        write_json({"presage": VERSION, "target": loaded.target, **done.to_json(), "trace": path})
    else:
        same = [*(f"--set={name}={value}" for name, value in args.set)]
        same += ["--mpi", str(args.mpi)] if args.mpi else []
        command = shlex.join(["presage", "check", args.target, *same])
        write(once.render(done, command, path, theme_of(args, sys.stdout)))
    return EXIT_VIOLATION if done.is_broken else EXIT_HELD


def run_explore(args: argparse.Namespace) -> int:
    """`presage explore`: a page on a live system, until Ctrl-C."""
    from presage.cli import report as reports
    from presage.cli.target.load import load_named

    with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
        script = script_of(args)
        settings = settings_of(args.set)
        loaded = load_named(args.target, settings, *script)
        named = args.target if args.mpi is None else loaded.target
        with reports.exploring(loaded.system, args.port, give_up, named, settings) as server:
            print(f"exploring {args.target}: {server.address}\nCtrl-C ends it", file=sys.stderr)
            if args.open and not reports.open_page(server.address):
                print("no browser was found; open the address yourself", file=sys.stderr)
            with contextlib.suppress(KeyboardInterrupt):
                server.serve_forever()
    return EXIT_HELD


def run_systems(args: argparse.Namespace) -> int:
    """`presage systems`: what is shipped, with parameters and bug switches."""
    from presage.cli.target.load import shipped
    from presage.ui import systems

    write(systems.render(shipped(), theme_of(args, sys.stdout)))
    return EXIT_HELD


def run_doctor(args: argparse.Namespace) -> int:
    """`presage doctor`: run steps twice, under two hash seeds, and name what differs."""
    settings = settings_of(args.set)
    if args.twin:
        from presage.cli import second

        second.serve(args.target, settings)
        return EXIT_HELD
    from presage.cli import hashseeds
    from presage.search.doctor import compare
    from presage.ui import doctor

    if args.transcript:
        return _transcribe(args.target, settings, args.transcript)
    arguments = [args.target, *(f"--set={name}={value}" for name, value in settings.items())]
    try:
        examined = compare(hashseeds.transcripts(arguments))
    except hashseeds.Failed as failed:
        print(failed.text, end="", file=sys.stderr)
        return failed.status if failed.status in STATUSES else EXIT_OURS
    if args.json:
        write_json({"presage": VERSION, "target": args.target, **examined.to_json()})
    else:
        write(doctor.render(examined, args.target, theme_of(args, sys.stdout)))
    return EXIT_NONDETERMINISM if examined.findings else EXIT_HELD


def _transcribe(target: str, settings: dict[str, str], path: str) -> int:
    """The doctor's work in one of its processes."""
    from presage.cli import hashseeds
    from presage.cli.target.load import load
    from presage.model.world.system import System
    from presage.search.doctor import transcribe

    system = load(target, settings).system
    if not isinstance(system, System):
        raise BadTarget(
            f"`{target}` is a program",
            "the doctor examines the handlers of services",
            "`presage check` runs processes again and again, and reports what differs",
        )
    if os.environ.get("PYTHONHASHSEED") == str(hashseeds.SEEDS[1]):
        system.vary()
    hashseeds.write(transcribe(system, give_up=give_up), path)
    return EXIT_HELD


def run_mpirun(args: argparse.Namespace) -> int:
    """`presage mpirun`: one plain run of an mpi4py script, which prints for itself."""
    from presage.frontends.mpi.launch.run import mpirun

    outcome = mpirun(args.script, args.ranks, args.args, tagged=args.tag_output)
    sys.stdout.flush()
    if outcome.is_ok:
        return EXIT_HELD
    complain(f"{outcome.kind}\n{outcome.text}")
    return outcome.status
