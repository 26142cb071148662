"""Commands that show the whole state: all fields, any expression, and what is in flight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presage.debug.inspecting import around, channels, node_state, value_of
from presage.errors import BadCommand
from presage.ui.debug.commands import command
from presage.ui.theme import Span, cells, pad

if TYPE_CHECKING:
    from presage.ui.debug.console import Console

GROUP = "look"
NAME_COLUMNS_MAX = 24
HOW = {
    "datagrams": "in any order",
    "queue": "in this order",
    "stream": "on a stream, in this order",
    "mailbox": "waiting",
}


@command(
    "state [NODE]",
    "the whole state: every field of all nodes, or of one",
    group=GROUP,
    example=lambda console: f"state {console.session.names[0]}",
)
def state(console: Console, rest: str) -> None:
    session = console.session
    nodes = (rest,) if rest else session.names
    lines = [line for node in nodes for line in _node_lines(console, node)]
    if not rest:
        parts = around(session)
        lines += _field_lines(console, parts) if parts else []
        count = sum(len(each.messages) for each in channels(session))
        many = f"{count} message{'' if count == 1 else 's'}"
        lines.append(console.dim(f"{many} under way; `messages` lists them"))
    console.say(lines)


def _node_lines(console: Console, node: str) -> list[str]:
    head = console.theme.line(Span(console.theme.clean(node), "node"))
    parts = node_state(console.session, node)
    return [head, *(_field_lines(console, parts) or ["  not begun yet"])]


def _field_lines(console: Console, parts: dict[str, str]) -> list[str]:
    theme = console.theme
    columns = min(max(map(cells, parts), default=0), NAME_COLUMNS_MAX)
    lines: list[str] = []
    for name, text in parts.items():
        lead = f"  {pad(theme.fit(theme.clean(name), columns), columns)}  "
        lines += theme.wrap(lead, text)
    return lines


@command(
    "print EXPR",
    "what a Python expression over `world` and the nodes gives here",
    group=GROUP,
    example=lambda console: f"print {_example(console)}",
)
def print_(console: Console, rest: str) -> None:
    if not rest:
        raise BadCommand(f"there is no expression; for example `print {_example(console)}`")
    node, text = value_of(console.session, rest)
    console.say(_node_lines(console, node) if node is not None else console.theme.wrap("", text))


def _example(console: Console) -> str:
    return f"world[{console.session.names[0]!r}]"


@command("messages [NODE]", "what is in flight, with arguments, channel by channel", group=GROUP)
def messages(console: Console, rest: str) -> None:
    theme, lines = console.theme, []
    if rest:
        node_state(console.session, rest)  # refuses what is no node
    for name, sent, kind in channels(console.session):
        if rest and rest not in name.split(" -> "):
            continue
        lines.append(theme.line(Span(theme.clean(name), "node"), Span(f"  {HOW[kind]}", "dim")))
        for message in sent:
            lines += theme.wrap("  ", message)
    console.say(lines or ["nothing is in flight"])
