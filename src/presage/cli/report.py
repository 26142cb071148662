"""What `presage report` writes: the page of a trace, and the forms that other tools read."""

from __future__ import annotations

import argparse
import os
import shlex
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from presage.cli.options import EXPORTS
from presage.cli.target.load import Checkable
from presage.cli.target.traced import load_traced
from presage.debug.explore import Explorer
from presage.errors import BadTarget, BadTrace, HandlerStuck
from presage.execution.frames import Frame, frames
from presage.execution.sandbox import SECONDS_DEFAULT, Sandbox
from presage.trace import codec
from presage.trace.causes import Causes
from presage.trace.export.itf import itf
from presage.trace.export.mermaid import mermaid
from presage.trace.export.perfetto import perfetto
from presage.trace.export.regression import regression
from presage.trace.export.shiviz import shiviz
from presage.trace.trace import Trace
from presage.ui.explore import Server
from presage.ui.origin import seen_from
from presage.ui.page.data import page_data
from presage.ui.page.page import render
from presage.ui.serving import Desk

GiveUp = Callable[[HandlerStuck], None]
LIVE, GOOD = "nearest live path", "nearest good run"
PAGE = "page"


def write(args: argparse.Namespace, give_up: GiveUp | None = None) -> dict[str, str]:
    """Write what is asked for; gives the paths, and what each is."""
    trace = codec.read(args.trace)
    wanted = {name: getattr(args, name) for name in EXPORTS if getattr(args, name)}
    loaded = load_traced(trace, args.trace, args.target, "report", trust=args.trust)
    scenes = frames(loaded.system, trace, give_up=give_up)
    ran = msgspec.structs.replace(trace, target=loaded.target)
    written = {}
    for name, path in wanted.items():
        _save(path, _export(name, ran, scenes, args, path))
        written[path] = EXPORTS[name]
    if args.out or args.open or not wanted:
        out = args.out or Path(args.trace).with_suffix(".html").name
        _save(out, _page(ran, scenes, args, give_up))
        written[out] = PAGE
    return written


def open_page(path: str) -> bool:
    """Show a page, a file or an address, in the user's browser; False if none was found."""
    is_address = path.startswith("http://")
    return webbrowser.open(path if is_address else Path(path).resolve().as_uri())


@contextmanager
def exploring(
    system: Checkable,
    port: int,
    give_up: GiveUp | None,
    target: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Iterator[Server]:
    """A server of the page of a live system, ready to serve; saved paths name `target`."""
    with Sandbox(SECONDS_DEFAULT, give_up) as sandbox:
        desk = Desk()
        explorer = desk.do(Explorer, system, sandbox, target, parameters)
        try:
            server = Server(explorer, port, desk)
        except OSError as error:
            raise BadTarget(
                f"port {port} cannot be used: {(error.strerror or 'unknown reason').lower()}",
                "another program listens there",
                "leave out `--port`, and a free one is taken",
            ) from error
        with server:
            yield server


def _scenes(
    trace: Trace, path: str | Path, target: str | None, trust: bool, give_up: GiveUp | None
) -> tuple[Frame, ...]:
    system = load_traced(trace, path, target, "report", trust=trust).system
    return frames(system, trace, give_up=give_up)


def _page(
    trace: Trace, scenes: tuple[Frame, ...], args: argparse.Namespace, give_up: GiveUp | None
) -> str:
    others = []
    if (live := codec.live_of(args.trace, trace)) is not None:
        other = codec.read(live)
        label = LIVE if trace.kind == "liveness" else GOOD
        theirs = _scenes(other, live, args.target, args.trust, give_up)
        others.append((label, "live", (other, theirs)))
    if args.other:
        other = codec.read(args.other)
        label = Path(args.other).name
        target = args.target if other.target is None else None
        theirs = _scenes(other, args.other, target, args.trust, give_up)
        others.append((label, "with", (other, theirs)))
    path = Path(args.trace)  # what is elsewhere is no business of the page's readers
    command = f"presage replay {shlex.quote(path.name if path.is_absolute() else str(path))}"
    return render(page_data((trace, scenes), others, command=command))


def _export(
    name: str, trace: Trace, scenes: tuple[Frame, ...], args: argparse.Namespace, path: str
) -> str:
    causes = Causes(trace, scenes[0].sends)
    match name:
        case "shiviz":
            return shiviz(causes)
        case "perfetto":
            return perfetto(causes)
        case "mermaid":
            return mermaid(causes, trace.critical or trace.step)
        case "itf":
            return itf(trace, [scene.state for scene in scenes])
    folder = Path(path).resolve().parent
    beside = os.path.relpath(Path(args.trace).resolve(), folder)
    return regression(trace, beside, seen_from(trace.target, folder))


def _save(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise BadTrace(
            f"`{path}` cannot be written: {(error.strerror or 'unknown reason').lower()}",
            "a folder that does not exist or may not be written to",
            "name another file",
        ) from error
