"""Commands that keep something: files, notes, the page."""

from __future__ import annotations

from pathlib import Path

from presage.debug.query import lines_of
from presage.errors import BadCommand
from presage.trace import codec
from presage.trace.export.regression import regression
from presage.ui import graph
from presage.ui.debug.registry import Commands
from presage.ui.debug.screen import Screen
from presage.ui.origin import seen_from

command = Commands("keep")
KINDS = "path, trace, log, graph or test"


@command(
    "save path|trace|log|graph|test FILE",
    "the steps up to here, all of them, as text, as a graph, as a pytest that replays them",
    example="save trace mine.trace",
)
def save(screen: Screen, rest: str) -> None:
    kind, _, name = rest.partition(" ")
    if not name.strip():
        raise BadCommand(
            f"`save {rest}` lacks a file", "one word only", f"`save trace FILE`: {KINDS}"
        )
    session, path = screen.session, Path(name.strip())
    trace = session.as_trace(session.step if kind == "path" else None)
    if kind in ("path", "trace"):
        codec.write(trace, path)
    elif kind == "graph":
        _write(path, graph.render(trace, screen.theme, last=max(len(trace.steps), 1)))
    elif kind == "log":
        lines = [f"{s.index:>6}  {line}" for s in trace.steps for line in lines_of(s)]
        _write(path, "\n".join(lines))
    elif kind == "test":
        beside = codec.write(trace, path.with_suffix(codec.SUFFIX))
        target = seen_from(trace.target, path.parent)
        _write(path, regression(trace, beside.name, target).rstrip("\n"))
    else:
        raise BadCommand(f"`{kind}` cannot be saved", "a misspelt word", KINDS)
    screen.say([f"{len(trace.steps)} steps written to {screen.theme.clean(str(path))}"])
    if kind in ("path", "trace", "test") and session.beyond:
        steps = ", ".join(map(str, session.beyond))
        text = f"beyond what the system allows: step {steps}; a replay refuses this"
        screen.say(screen.theme.wrap("warning: ", text))


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
    except (OSError, ValueError) as error:  # a path may be none at all
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise BadCommand(
            f"`{path}` cannot be written: {reason}",
            "a folder that may not be written to",
            "name another file",
        ) from None


@command(
    "note TEXT",
    "write something down at this step; it stays in the trace file",
    example="note here it goes wrong",
)
def note(screen: Screen, rest: str) -> None:
    session = screen.session
    if not rest:
        raise BadCommand("there is no text", "nothing was typed", "`note TEXT`")
    if session.branch != "main":
        raise BadCommand(
            "notes belong to the trace, and this is a branch",
            "`take` or a fault went another way",
            "`switch main`, or `save trace FILE` and note it there",
        )
    session.note(rest)
    kept = ""
    if screen.path is not None:
        codec.write(session.trace, screen.path)
        kept = f", in {screen.theme.clean(str(screen.path))}"
    screen.say([f"noted at step {session.step}{kept}"])


@command("notes", "what was written down")
def notes(screen: Screen, rest: str) -> None:
    lines = []
    for step, text in screen.session.notes:
        lines += screen.theme.wrap(f"{step:>6}  ", text)
    screen.say(lines or ["there are no notes; `note TEXT` makes one"])


@command("report", "write the page of this trace")
def report(screen: Screen, rest: str) -> None:
    if screen.report is None:
        raise BadCommand("no page can be written here", "not started by `presage debug`", "`save`")
    screen.say([f"page: {screen.theme.clean(screen.report())}"])
