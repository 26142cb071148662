"""`here`: what the code of a real node may ask about the node it runs in.

Programs need not use it. One that was written to be checked finds its name and its peers here,
hands objects to its `view`, and records what observers are to hear of.
"""

from __future__ import annotations

from typing import Any

from presage.errors import BadCall
from presage.frontends.real.machine.process import Process, current


class Here:
    """The process that runs now."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of this node."""
        return str(_process("name").host.name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all nodes."""
        return tuple(_process("names").host.names)

    @property
    def peers(self) -> tuple[str, ...]:
        """The names of all other nodes."""
        return tuple(_process("peers").host.peers)

    @property
    def life(self) -> int:
        """How often this node was started before."""
        return int(_process("life").life)

    def address(self, node: str | None = None) -> str:
        """The address of this node, or of another one."""
        host = _process("address").host
        return str(host.addresses[node or host.name])

    def expose(self, **objects: Any) -> None:
        """Hand objects to this node's `view`, which finds them as `node.get(name)`."""
        exposed(_process("expose")).update(objects)

    def record(self, value: Any) -> None:
        """Tell the observers of the system something."""
        _process("record").record(value)

    def log(self, text: str) -> None:
        """Write a line into the trace."""
        _process("log").log.append(text)

    def __repr__(self) -> str:
        process = current()
        return "<here: nowhere>" if process is None else f"<here: {process.host.name}>"


def exposed(process: Process) -> dict[str, Any]:
    """What the code of a process has handed to its view."""
    found: dict[str, Any] = process.notes.setdefault("exposed", {})
    return found


def _process(what: str) -> Process:
    process = current()
    if process is None:
        raise BadCall(
            f"`here.{what}` was used outside of a real node",
            "a test or a script that runs the program by itself",
            "let the program take these things as arguments, and ask `here` in the node's `main`",
        )
    return process


here = Here()
