"""A node of pysyncobj over its own TCP transport, and what is seen of it.

The library is used as it is, with a loop of the program's own (`doTick`), as its documentation
shows. One tick waits longer than an election takes: a timer is an election, or a heartbeat.
"""

from __future__ import annotations

from typing import Any

from presage.real import here

PORT = 4321
TICK_SECONDS = 2.0
FOREVER = 1e9
STATES = ("follower", "candidate", "leader")
FIELDS = (
    "role term voted votes leads log commit applied next match waits joined late known unknown"
).split()


def serve() -> None:
    from pysyncobj import SyncObj, SyncObjConf, replicated

    class Numbers(SyncObj):  # type: ignore[misc]
        def __init__(self, *args: Any) -> None:
            self.numbers: list[int] = []
            super().__init__(*args)

        @replicated  # type: ignore[untyped-decorator]
        def add(self, number: int) -> None:
            self.numbers.append(number)

    conf = SyncObjConf(
        autoTick=False,
        connectionTimeout=FOREVER,
        leaderFallbackTimeout=FOREVER,
        connectionRetryTime=0.0,
        logCompactionMinTime=FOREVER,
    )
    others = [f"{here.address(name)}:{PORT}" for name in here.peers]
    numbers = Numbers(f"{here.address()}:{PORT}", others, conf)
    here.expose(numbers=numbers)
    while True:
        numbers.doTick(TICK_SECONDS)


def add(node: Any, number: int) -> None:
    """A command of a client, on any node."""
    node.get("numbers").add(number)


def view(node: Any) -> dict[str, Any]:
    numbers = node.get("numbers")
    if numbers is None:
        return dict.fromkeys(FIELDS)
    inside = {name.removeprefix("_SyncObj__"): value for name, value in vars(numbers).items()}
    log, now = inside["raftLog"], node.now
    transport = inside["transport"]
    leads = inside["raftState"] == 2
    found = (
        STATES[inside["raftState"]],
        inside["raftCurrentTerm"],
        inside["votedForNodeId"],
        inside["votesCount"],
        getattr(inside["raftLeader"], "id", None),
        [(index, term, command) for command, index, term in log[:]],
        inside["raftCommitIndex"],
        inside["raftLastApplied"],
        {each.id: index for each, index in inside["raftNextIndex"].items()} if leads else None,
        {each.id: index for each, index in inside["raftMatchIndex"].items()} if leads else None,
        len(inside["commandsQueue"]._FastQueue__queue),
        sorted(
            (each.id, transport._connections[each].state, transport._connections[each].fileno())
            for each in transport._nodes
            if each in transport._connections
        ),
        inside["raftElectionDeadline"] < now,
        sorted(each.id for each in inside["connectedNodes"]),
        sorted(str(each.fileno()) for each in transport._unknownConnections),
    )
    return dict(zip(FIELDS, found, strict=True))
