"""Commands that show the whole state: all fields, any expression, and what is in flight."""

from __future__ import annotations

from presage.debug.inspect import around, channels, node_state, value_of
from presage.errors import BadCommand
from presage.trace.show import plural
from presage.ui.debug.registry import Commands
from presage.ui.debug.screen import Screen
from presage.ui.theme import Span, cells, pad

command = Commands("look")
NAME_COLUMNS_MAX = 24
HOW = {
    "datagrams": "in any order",
    "queue": "in this order",
    "lane": "in a lane, in this order",
    "stream": "on a stream, in this order",
    "mailbox": "waiting",
}


@command(
    "state [NODE]",
    "the whole state: every field of all nodes, or of one",
    example=lambda screen: f"state {screen.session.names[0]}",
)
def state(screen: Screen, rest: str) -> None:
    session = screen.session
    nodes = (rest,) if rest else session.names
    lines = [line for node in nodes for line in _node_lines(screen, node)]
    if not rest:
        parts = around(session)
        lines += _field_lines(screen, parts) if parts else []
        count = sum(len(each.messages) for each in channels(session))
        lines.append(screen.dim(f"{plural(count, 'message')} under way; `messages` lists them"))
    screen.say(lines)


def _node_lines(screen: Screen, node: str) -> list[str]:
    head = screen.theme.line(Span(screen.theme.clean(node), "node"))
    parts = node_state(screen.session, node)
    return [head, *(_field_lines(screen, parts) or ["  not begun yet"])]


def _field_lines(screen: Screen, parts: dict[str, str]) -> list[str]:
    theme = screen.theme
    columns = min(max(map(cells, parts), default=0), NAME_COLUMNS_MAX)
    lines: list[str] = []
    for name, text in parts.items():
        lead = f"  {pad(theme.fit(theme.clean(name), columns), columns)}  "
        lines += theme.wrap(lead, text)
    return lines


@command(
    "print EXPR",
    "what a Python expression over `world` and the nodes gives here",
    example=lambda screen: f"print {_example(screen)}",
)
def print_(screen: Screen, rest: str) -> None:
    if not rest:
        raise BadCommand(f"there is no expression; for example `print {_example(screen)}`")
    node, text = value_of(screen.session, rest)
    screen.say(_node_lines(screen, node) if node is not None else screen.theme.wrap("", text))


def _example(screen: Screen) -> str:
    return f"world[{screen.session.names[0]!r}]"


@command("messages [NODE]", "what is in flight, with arguments, channel by channel")
def messages(screen: Screen, rest: str) -> None:
    theme, lines = screen.theme, []
    if rest:
        node_state(screen.session, rest)  # refuses what is no node
    for name, sent, kind in channels(screen.session):
        if rest and rest not in name.split(" -> "):
            continue
        lines.append(theme.line(Span(theme.clean(name), "node"), Span(f"  {HOW[kind]}", "dim")))
        for message in sent:
            lines += theme.wrap("  ", message)
    screen.say(lines or ["nothing is in flight"])
