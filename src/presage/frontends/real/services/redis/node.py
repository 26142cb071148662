"""`Redis`: the server as a node of a system of real programs.

Its view is its whole state, so states of it are merged wherever they are equal.
"""

from typing import Any

from presage.frontends.real.here import here
from presage.frontends.real.node import Node
from presage.frontends.real.services.redis.view import view
from presage.frontends.real.services.redis.wire import PORT, listen

ANY_ADDRESS = "0.0.0.0"


async def redis(port: int) -> None:
    """What the process of the node runs."""
    server, listener = await listen(ANY_ADDRESS, port)
    here.expose(redis=listener.server)
    async with server:
        await server.serve_forever()


def tables(node: Any) -> dict[str, Any]:
    """The fields of the node."""
    server = node.get("redis")
    return EMPTY if server is None else view(server)


EMPTY: dict[str, Any] = dict.fromkeys(
    ("data", "expiries", "others", "clients", "waiting", "clock", "memory")
)


def Redis(port: int = PORT, *, merge: str = "view", **options: Any) -> Node:
    """A Redis that listens on `port`; the options are those of `Node`.

    Programs reach it by the name of its node. It keeps nothing when it crashes.
    """
    return Node(redis, port, view=tables, merge=merge, **options)
