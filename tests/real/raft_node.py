"""A node of raftos 0.2.6, and what is seen of it.

The library is used as it is. It was written for Python 3.7, whose `asyncio.Queue` took a loop, so
its modules find such an `asyncio`. It was written for msgpack 0.6, so it is told to write JSON.
"""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from presage.real import here

PORT = 9000
FIELDS = "role term voted votes commit applied log match next leader request answers kept".split()


class Compatible:
    """The module `asyncio` as it was in Python 3.7."""

    futures = SimpleNamespace(InvalidStateError=asyncio.InvalidStateError)

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    @staticmethod
    def Queue(maxsize: int = 0, *, loop: Any = None) -> Any:
        return asyncio.Queue(maxsize)


async def serve() -> None:
    import raftos
    import raftos.server
    import raftos.state
    from raftos.serializers import JSONSerializer

    raftos.server.asyncio = raftos.state.asyncio = Compatible()
    raftos.configure(
        {"log_path": "/var/raft/", "serializer": JSONSerializer, "election_interval_spread": 1}
    )
    cluster = [f"{here.address(name)}:{PORT}" for name in here.names]
    await raftos.register(f"{here.address()}:{PORT}", cluster=cluster)
    await asyncio.Event().wait()


async def put(node: Any, key: str, value: int) -> None:
    """A command of a client: given to the node if it leads."""
    state = node.module("raftos.state")
    leader = node.module("raftos.server").Node.nodes[0].state.state
    if isinstance(leader, state.Leader):
        await leader.execute_command({key: value})


def view(node: Any) -> dict[str, Any]:
    server = node.module("raftos.server")
    nodes = server.Node.nodes if server is not None else []
    if not nodes:
        return dict.fromkeys(FIELDS)
    whole = nodes[0].state
    state, log = whole.state, whole.log
    leads = type(state).__name__ == "Leader"
    leader = whole.leader
    found = (
        type(state).__name__,
        whole.storage.cache.get("term"),
        whole.storage.cache.get("voted_for"),
        getattr(state, "vote_count", 0),
        log.commit_index,
        log.last_applied,
        [(entry["term"], sorted(entry["command"].items())) for entry in log.cache],
        dict(log.match_index) if leads else None,
        dict(log.next_index) if leads else None,
        leader if leader is None or isinstance(leader, str) else leader.id,
        state.request_id if leads else 0,
        {number: sorted(names) for number, names in state.response_map.items()} if leads else {},
        dict(whole.state_machine.cache),
    )
    return dict(zip(FIELDS, found, strict=True))
