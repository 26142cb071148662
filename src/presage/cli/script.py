"""What a command line says of an mpi4py script, and of nothing else."""

from __future__ import annotations

import argparse

from presage.errors import BadTarget

OPTIONS = ("arg", "buffering", "eager_limit", "ordered", "preemptions")


def script_of(args: argparse.Namespace) -> tuple[int | None, list[str], str]:
    """Ranks, arguments and buffering of a script that is run in one order."""
    refuse_ignored(args)
    return args.mpi, args.arg, f"{args.buffering or 'zero'}:ordered"


def refuse_ignored(args: argparse.Namespace) -> None:
    """Refuse what would mean nothing: something else than was asked for would be reported."""
    if args.mpi is not None:
        if args.set:
            raise BadTarget(
                f"`{args.target}` is a script, so `{args.set[0][0]}` cannot be set",
                "`--set` together with `--mpi`",
                "leave one of them out; a script has arguments: `--arg VALUE`",
            )
        return
    for name in OPTIONS:
        value = vars(args).get(name)
        if value is not None and value is not False and value != []:
            option = f"--{name.replace('_', '-')}"
            raise BadTarget(
                f"`{option}` is given without `--mpi`",
                "it is for scripts of mpi4py only; a system has parameters",
                "`--mpi N`, if TARGET is a script; else leave it out, and give parameters with"
                " `--set NAME=VALUE`",
            )
