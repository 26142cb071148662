"""Commands that run nodes: `up`, all of them as local processes, and `run`, one of them."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from presage import lifeline
from presage.cli.live_options import DATA
from presage.cli.options import settings_of
from presage.errors import BadCluster, BadSystem, BadTarget, CannotListen, did_you_mean
from presage.ui.output import say, write, write_json
from presage.version import VERSION

if TYPE_CHECKING:
    from presage.cli.target.load import Loaded
    from presage.model.world.system import System
    from presage.runtime.cluster import Cluster
    from presage.runtime.process import Task


def run_up(args: argparse.Namespace) -> int:
    """`presage up`: all nodes, until Ctrl-C or for some seconds."""
    from presage.runtime import noted, up
    from presage.runtime.process import Forked

    task = _task(args)
    cluster, started = task.cluster, time.monotonic()
    beside = partial(_page, task, args.page) if args.page is not None else contextlib.nullcontext
    with noted.claimed(cluster.data):
        noted.note(cluster.data, task.target, task.parameters)
        named = args.target or cluster.target
        say(f"{named}: {len(cluster.nodes)} nodes, data in `{cluster.data}`; Ctrl-C ends them")
        ended = up.run(
            cluster,
            Forked(task),
            seconds=args.seconds,
            stops=lifeline.endings(),
            say=say,
            beside=beside,
        )
    seconds = time.monotonic() - started
    if args.json:
        write_json(
            {
                "presage": VERSION,
                "target": args.target or cluster.target,
                "nodes": len(cluster.nodes),
                "seconds": round(seconds, 3),
                "failed": ended.failed,
            }
        )
    else:
        failed = ", ".join(f"`{name}`" for name in ended.failed) or "none"
        write(f"{len(cluster.nodes)} nodes ran for {seconds:.1f} s; failed: {failed}\n")
    return ended.status


@contextlib.contextmanager
def _page(task: Task, port: int) -> Iterator[None]:
    """Serve the page of a running system, on a thread of its own."""
    from threading import Thread

    from presage.runtime.operator import ClusterOperator
    from presage.ui.live.server import LiveServer
    from presage.ui.notebook import page

    operator = ClusterOperator(task.cluster, task.system.name)
    try:
        server = LiveServer(operator, port, lambda trace: page(task.system, trace).html)
    except OSError as error:
        raise CannotListen(
            f"the page cannot be served on port {port}: {error.strerror}",
            "another program listens there",
            "`--page` without a port takes a free one",
        ) from None
    with server:
        Thread(target=server.serve_forever, name="presage-page", daemon=True).start()
        say(f"page: {server.address}")
        try:
            yield
        finally:
            server.shutdown()


def run_run(args: argparse.Namespace) -> int:
    """`presage run`: one node in the foreground, until Ctrl-C."""
    from presage.runtime import noted, process

    if args.config is None:
        raise BadCluster(
            "`presage run` needs a cluster file",
            "one node must know where the others are",
            "`--config cluster.toml`; `presage up` runs all nodes without one",
        )
    task = _task(args)
    if args.node not in task.cluster.nodes:
        names = list(task.cluster.nodes)
        raise BadCluster(
            f"`{args.config}` has no node `{args.node}`{did_you_mean(args.node, names)}",
            f"its nodes are {', '.join(names)}",
            "`--node` with one of these names",
        )
    noted.note(task.cluster.data, task.target, task.parameters)
    address = task.cluster.nodes[args.node]
    say(f"{args.node}: listens on {address}; Ctrl-C ends it")
    with contextlib.redirect_stdout(sys.stderr):  # of what the service prints
        return process.run(task, args.node, lifeline.endings())


def _task(args: argparse.Namespace) -> Task:
    """The system and the cluster that were named, compared with each other."""
    from presage.runtime import cluster as clusters
    from presage.runtime.process import Task
    from presage.runtime.up import local_cluster
    from presage.search.checkpoint.code_digest import Definition

    file = clusters.read(args.config) if args.config is not None else None
    with contextlib.redirect_stdout(sys.stderr):  # of what the code prints when it is imported
        loaded, system = _system(args, file)
        definition = Definition(system)
    data = getattr(args, "data", None)
    if file is None:
        file = local_cluster(system.names, data or DATA)
    else:
        timers = {name for automaton in system.automata for name in automaton.shape.timers}
        clusters.check(file, system.names, timers, args.config)
        file = file if data is None else file.with_data(data)
    if args.steer is not None:
        file = msgspec.structs.replace(
            file, steer=msgspec.structs.replace(file.steer or clusters.Steer(), mode=args.steer)
        )
    if file.steer is not None and file.steer.mode != "off":
        _check_steered(system, loaded.target or system.name)
    if file.tls is None and not all(each.is_loopback for each in file.nodes.values()):
        say("warning: insecure = true: anybody who reaches a node may pose as a peer")
    return Task(
        system, definition, file, args.seed, args.workload, loaded.target, loaded.parameters, say
    )


def _check_steered(system: System, target: str) -> None:
    """Refuse a system that cannot be looked ahead of, and say what is not judged."""
    if system.seals:
        raise BadSystem(
            f"`{target}` has seals, and cannot be steered",
            "a seal lets a search leave events out; a running network keeps to none",
            "`--steer off`, or a system without `seals`",
        )
    if system.observers:
        names = ", ".join(f"`{name}`" for name in system.observers)
        say(
            f"note: observers hear nothing while nodes run ({names}): properties that ask one are"
            " not judged ahead; `presage logs --judge` judges them afterwards"
        )


def _system(args: argparse.Namespace, file: Cluster | None) -> tuple[Loaded, System]:
    from presage.cli.target.load import load
    from presage.model.world.system import System

    target = args.target or (file.target if file is not None else None)
    if target is None:
        raise BadTarget(
            "no system was named",
            "neither TARGET nor `--config` was given",
            "`presage up randtree`; `presage systems` lists names",
        )
    same = file is not None and target == file.target
    parameters = dict(file.parameters) if same and file is not None else {}
    loaded = load(target, parameters | settings_of(args.set))
    if not isinstance(loaded.system, System):
        raise BadTarget(
            f"`{target}` is a program, and cannot be run live",
            "only services run live; a program of processes is run by what it is written for",
            "name a `System`, or a function that returns one",
        )
    return loaded, loaded.system
