"""`presage logs`: what nodes did, line by line; merged to one execution; judged."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from presage.cli.common import EXIT_HELD, EXIT_VIOLATION, give_up
from presage.cli.nodes import data_folder
from presage.cli.options import settings_of
from presage.errors import BadTarget, CommandRefused
from presage.ui.output import write, write_json
from presage.version import VERSION

if TYPE_CHECKING:
    from presage.model.world.system import System
    from presage.runtime.log import Entry
    from presage.runtime.merge import Merged

LOOK_EVERY = 0.2  # seconds between two looks for new lines


def run_logs(args: argparse.Namespace) -> int:
    """Print, merge or judge the logs of all nodes of a data folder."""
    data = data_folder(args)
    with contextlib.redirect_stdout(sys.stderr):  # of what the code prints when it is imported
        target, parameters, system = system_of(args, data)
    if args.follow:
        with contextlib.suppress(KeyboardInterrupt):
            _follow(system, data)
        return EXIT_HELD
    entries = _entries(data)
    if not entries:
        raise CommandRefused(
            f"there are no logs in `{data}`",
            "nothing has run here yet, or `steps = false` in the cluster file",
            "`presage up TARGET` runs a system; `--data` names another folder",
        )
    if not (args.judge or args.trace):
        _print(system, [each for log in entries.values() for each in log])
        return EXIT_HELD
    return _merge(args, system, entries, {"target": target, "parameters": parameters})


def _merge(
    args: argparse.Namespace,
    system: System,
    entries: dict[str, list[Entry]],
    named: dict[str, Any],
) -> int:
    from presage.runtime.merge import merged
    from presage.trace import codec

    with contextlib.redirect_stdout(sys.stderr):  # of what the services print
        found = merged(system, entries, **named)
        broken = _judged(found) if args.judge else {}
    facts: dict[str, Any] = {"presage": VERSION, "steps": len(found.trace.steps)}
    lines = [f"{len(found.trace.steps)} steps of {len(entries)} nodes, merged"]
    if args.trace:
        codec.write(found.trace, args.trace)
        facts["trace"] = args.trace
        lines.append(f"written: `{args.trace}`")
        if found.system is not system:
            lines.append(
                "the run had faults or calls that the system does not declare: to replay it, name"
                " one that does (`Faults(...)`, `calls=...`) with `--target`"
            )
    if args.judge:
        facts["broken"] = broken
        lines += [f"`{name}` broke: {what}" for name, what in broken.items()]
        lines += [] if broken else ["no property broke"]
    if args.json:
        write_json(facts)
    else:
        write("\n".join(lines))
    return EXIT_VIOLATION if broken else EXIT_HELD


def _judged(found: Merged) -> dict[str, str]:
    """The properties that broke in a merged run, with the first step where."""
    from presage.execution.begin import begun
    from presage.execution.protocol import Execution
    from presage.execution.replay import retrace
    from presage.execution.sandbox import Sandbox

    broken: dict[str, str] = {}

    def look(execution: Execution) -> None:
        for name, status in execution.statuses().items():
            ends = status.kind in ("eventually", "sometimes", "deadlock")
            if status.holds is False and not ends and name not in broken:
                at = len(execution.steps)
                broken[name] = f"step {at}, {found.trace.steps[at - 1].label}: {status.why}"

    with Sandbox(give_up=give_up) as sandbox, begun(found.system, found.trace, sandbox) as run:
        retrace(run, found.trace, look)
    return broken


def system_of(args: argparse.Namespace, data: Path) -> tuple[str, dict[str, Any], System]:
    """The system that ran in `data`: what was named, or else what was noted there."""
    from presage.cli.target.load import load
    from presage.model.world.system import System
    from presage.runtime import noted, vocabulary

    if args.target is not None:
        loaded = load(args.target, settings_of(args.set))
    else:
        known = noted.read(data)
        if known is None:
            raise BadTarget(
                f"`{data}` does not say what ran there",
                "another folder, or one that `presage up` has not written",
                "name the system: `presage logs TARGET`",
            )
        loaded = load(known.target, known.parameters, Path(known.folder))
    assert isinstance(loaded.system, System), "only systems run live"
    vocabulary.teach(loaded.system, loaded.system.codec)
    return loaded.target, loaded.parameters, loaded.system


def _logs(data: Path) -> Iterator[tuple[str, Path]]:
    from presage.runtime.log import STEPS

    for path in sorted(data.glob(f"*/{STEPS}")):
        yield unquote(path.parent.name), path


def _entries(data: Path) -> dict[str, list[Entry]]:
    from presage.runtime import log

    return {node: list(log.read(path)) for node, path in _logs(data)}


def _follow(system: System, data: Path) -> None:
    """Print what is there, then what comes, until Ctrl-C."""
    from presage.runtime.log import read_on

    shown: dict[str, int] = {}  # how much of each log
    while True:
        fresh: list[Entry] = []
        for node, path in _logs(data):
            for entry, place in read_on(path, shown.get(node, 0)):
                fresh.append(entry)
                shown[node] = place
        _print(system, fresh)
        time.sleep(LOOK_EVERY)


def _print(system: System, entries: list[Entry]) -> None:
    from presage.runtime import log

    lines = []
    for entry in sorted(entries, key=lambda each: each.time):
        lines.append(log.text(system, entry))
        lines += [f"  {line}" for line in entry.logs]
        lines += [f"  failed: {entry.failure}"] if entry.failure else []
    if lines:
        write("\n".join(lines))
