"""`presage snapshot`: one consistent state of a running system, as a trace without steps.

The command asks one node for a checkpoint of a new number, and all others for the earliest one of
that number or a larger one. Frames carry the numbers, so these make a consistent cut.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import sys
from pathlib import Path
from typing import Any

from presage.cli.common import EXIT_HELD
from presage.cli.logs import system_of
from presage.cli.nodes import control_of, data_folder
from presage.errors import CommandRefused, NotRunning
from presage.model.world.system import System
from presage.trace.trace import ORDINARY, Trace
from presage.ui.output import say


def run_snapshot(args: argparse.Namespace) -> int:
    """Write the snapshot to a file, or to standard output."""
    from presage.runtime.snapshot import assemble
    from presage.runtime.vocabulary import teach
    from presage.trace import codec

    data = data_folder(args)
    with contextlib.redirect_stdout(sys.stderr):  # of what the code prints when it is imported
        target, parameters, system = system_of(args, data)
    if args.node not in system.names:
        raise CommandRefused(
            f"there is no node `{args.node}`",
            f"the nodes are {', '.join(system.names)}",
            "name one of these",
        )
    reader = system.live()[0].codec  # nodes wrote messages with such a one
    teach(system, reader)
    assembled = assemble(system, _checkpoints(data, args.node, system), codec=reader)
    trace = _trace(system, assembled, {"target": target, "parameters": parameters})
    if args.out:
        codec.write(trace, args.out)
    else:
        sys.stdout.buffer.write(codec.encode(trace))
        sys.stdout.buffer.flush()
    outside = ", ".join(assembled.outside)
    say(
        f"{len(system.names) - len(assembled.outside)} nodes"
        + (f"; outside: {outside}" * bool(outside))
    )
    return EXIT_HELD


def _checkpoints(data: Path, first: str, system: System) -> dict[str, Any]:
    """A checkpoint of each node that answers, all of one cut."""
    from presage.runtime import checkpointing
    from presage.runtime.control import Request, ask

    found = {}
    number = 0
    for name in (first, *(each for each in system.names if each != first)):
        try:
            answer = ask(control_of(data, name), Request("checkpoint", args=[number]))
        except NotRunning:
            if name == first:
                raise
            continue
        found[name] = checkpointing.read(base64.b64decode(answer))
        number = number or found[name].number
    return found


def _trace(system: System, assembled: Any, named: dict[str, Any]) -> Trace:
    from presage.execution.origin import saved_origin
    from presage.model.world.origin import begun_in
    from presage.model.world.world import World

    begun = begun_in(
        system, assembled.snapshot, outside=assembled.outside, observed=not system.observers
    )
    return Trace.of(
        begun,
        (),
        message="a state of a running system",
        prop=ORDINARY,
        kind="live",
        origin=saved_origin(begun),
        initial=World.initial(begun).fingerprint,
        **named,
    )
