"""A command line as a system: the first look at a program, without any file of one's own.

`presage check --nodes 3 -- python -m server --port 1` runs three processes of it. In the command,
`{name}`, `{index}` and `{address}` stand for the node's own, `{peers}` for the names of all others,
and `{peers:9000}` for those with a port. Nothing is claimed but that no exception is left unhandled
and that the nodes do not all come to rest before they end.
"""

from __future__ import annotations

import re
import shlex
from typing import Any

from presage.errors import BadTarget
from presage.frontends.real.machine.names import Host
from presage.frontends.real.node import Node
from presage.frontends.real.system import RealSystem
from presage.model.world.faults import Faults

PEERS = re.compile(r"\{peers(?::(\w+))?\}")


def command_system(
    command: str,
    *,
    nodes: int = 2,
    timers: int = 3,
    lives: int = 2,
    crash: int = 0,
    restart: int = 0,
    drop: int = 0,
    duplicate: int = 0,
    cut: int = 0,
    terminate: int = 0,
) -> RealSystem:
    """`nodes` processes of one command, with a budget of each fault."""
    names = [f"n{at}" for at in range(nodes)]
    faults = Faults(
        crash=crash, restart=restart, drop=drop, duplicate=duplicate, cut=cut, terminate=terminate
    )
    made = {name: _node(command, name, names, timers=timers, lives=lives) for name in names}
    return RealSystem(made, faults=faults, name=command)


def _node(command: str, name: str, names: list[str], **options: Any) -> Node:
    host = Host(name, names)
    own = {"name": name, "index": str(names.index(name)), "address": host.address}
    words = []
    for word in shlex.split(command)[1:]:
        if match := PEERS.fullmatch(word):
            port = f":{match[1]}" if match[1] else ""
            words += [f"{peer}{port}" for peer in host.peers]
        else:
            for key, value in own.items():
                word = word.replace(f"{{{key}}}", value)
            words.append(word)
    if words[:1] == ["-m"] and len(words) > 1:
        return Node.module(words[1], *words[2:], **options)
    if not words or words[0].startswith("-"):
        raise BadTarget(
            f"`{command}` runs neither a script nor a module",
            "an option of the interpreter, such as `-c`",
            '`"python server.py --port 1"`, or `"python -m server --port 1"`',
        )
    return Node.program(*words, **options)
