"""Commands to running nodes: `call`, `kill`, `start`, `status`."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from presage.cli.common import EXIT_HELD, theme_of
from presage.errors import CommandRefused, NotRunning, did_you_mean
from presage.ui.output import write, write_json
from presage.version import VERSION

START_PATIENCE = 10.0  # seconds until a node that was started must answer
CALL_PATIENCE = 60.0  # seconds for a call: more than a handler has, unless somebody gave it more


def run_call(args: argparse.Namespace) -> int:
    """`presage call`: one call of a method; prints what it returns, as JSON."""
    from presage.runtime.control import Request, ask

    control, request = (
        control_of(data_folder(args), args.node),
        Request("call", args.method, args.args),
    )
    write_json(ask(control, request, CALL_PATIENCE))
    return EXIT_HELD


def run_kill(args: argparse.Namespace) -> int:
    """`presage kill`: SIGKILL, as a crash does it."""
    from presage.runtime.control import CONTROL, Request, ask, process_of

    try:
        ask(data_folder(args) / CONTROL, Request("kill", args.node))
    except NotRunning:  # nobody looks after it: it was started by `presage run`
        os.kill(process_of(control_of(data_folder(args), args.node)), signal.SIGKILL)
    print(f"{args.node}: killed", file=sys.stderr)
    return EXIT_HELD


def run_start(args: argparse.Namespace) -> int:
    """`presage start`: a node of `presage up` that is down; returns when it answers."""
    from presage.runtime.control import CONTROL, Request, ask

    data = data_folder(args)
    try:
        facts = ask(data / CONTROL, Request("start", args.node))
    except NotRunning:
        raise NotRunning(
            f"nobody starts nodes in `{data}`",
            "`presage up` does not run there; it is `presage up` that starts them",
            f"`presage run --node {args.node} --config FILE` runs one node by itself",
        ) from None
    end = time.monotonic() + START_PATIENCE
    while not _answers(control_of(data_folder(args), args.node)):
        now = ask(data / CONTROL, Request("status"))[args.node]
        if not now["running"] or time.monotonic() > end:
            raise NotRunning(
                f"`{args.node}` was started, and does not answer",
                "it failed at once; `presage up` has said why",
                "correct that, and start it again",
            )
        time.sleep(0.02)
    print(f"{args.node}: started, process {facts['pid']}", file=sys.stderr)
    return EXIT_HELD


def _answers(control: Path) -> bool:
    from presage.runtime.control import Request, ask

    with contextlib.suppress(NotRunning):
        ask(control, Request("status"))
        return True
    return False


def run_status(args: argparse.Namespace) -> int:
    """`presage status`: what runs, and what it did."""
    from presage.runtime.metrics import exposition
    from presage.ui import nodes

    data = data_folder(args)
    if args.metrics:
        write(exposition(_asked(data, args.node, "status")).rstrip("\n"))
        return EXIT_HELD
    facts = _status(data, args.node)
    if args.json:
        write_json({"presage": VERSION, "data": str(data), "nodes": facts})
    else:
        write(nodes.render(facts, theme_of(args, sys.stdout)))
    return EXIT_HELD


def _status(data: Path, node: str | None) -> dict[str, Any]:
    """What `presage up` and the nodes themselves say, by name."""
    from presage.runtime.control import CONTROL, Request, ask

    facts: dict[str, Any] = {}
    with contextlib.suppress(NotRunning):
        facts = ask(data / CONTROL, Request("status"))
    for name, measures in _asked(data, None, "status").items():
        facts[name] = {"running": True, **facts.get(name, {}), **measures}
    if node is None and not facts:
        raise NotRunning(
            f"nothing runs in `{data}`",
            "another current folder, or another data folder",
            "`presage up TARGET` runs a system; `--data` names another folder",
        )
    if node is None:
        return facts
    if node not in facts:
        raise NotRunning(
            f"there is no node `{node}` in `{data}`{did_you_mean(node, facts)}",
            "a misspelt name, or nodes that run with another data folder",
            "`presage status` lists what runs; `--data` names another folder",
        )
    if facts[node]["running"]:
        facts[node] |= _asked(data, node, "state", key="state")[node]
    return {node: facts[node]}


def _asked(data: Path, node: str | None, what: str, key: str = "") -> dict[str, Any]:
    """What nodes answer, by name; those that do not answer are left out."""
    from presage.runtime.control import CONTROL, Request, ask_all

    paths = {unquote(path.parent.name): path for path in sorted(data.glob(f"*/{CONTROL}"))}
    some = {name: path for name, path in paths.items() if node in (None, name)}
    found = ask_all(some, Request(what))
    answers = {name: found[name] for name in some if name in found}
    if node is not None and node not in answers:
        raise NotRunning(
            f"node `{node}` does not answer",
            "it does not run, or was stopped, or runs with another data folder",
            "`presage status` lists what runs; `--data` names another folder",
        )
    return {name: {key: each} for name, each in answers.items()} if key else answers


def control_of(data: Path, node: str) -> Path:
    """The socket on which a node takes commands."""
    from presage.runtime.cluster import Cluster, Live
    from presage.runtime.control import CONTROL

    return Cluster({}, live=Live(data=str(data))).folder_of(node) / CONTROL


def data_folder(args: argparse.Namespace) -> Path:
    """The folder in which the nodes run."""
    if args.config is not None:
        from presage.runtime import cluster

        return cluster.read(args.config).data
    if not Path(args.data).is_dir():
        raise CommandRefused(
            f"there is no data folder `{args.data}`",
            "nothing has run here, or another folder is the current one",
            "`presage up TARGET` runs a system; `--data` names another folder",
        )
    return Path(args.data)
