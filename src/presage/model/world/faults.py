"""What may go wrong, and how often: budgets of faults, and the partitions that may happen.

A budget is a number of times in one execution. What is not granted is no part of a state.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from presage._core import FAULTS
from presage.errors import BadSystem, UnknownNode
from presage.model.keywords import named_arguments
from presage.model.service.stream import Streams
from presage.records import record

UNLIMITED = math.inf
PROGRAM_FAULTS = ("sever", "refuse", "terminate")  # they happen to real nodes only
STREAM_FAULTS = ("silent_reset", "cut", "idle_close")  # they happen to connections only


@record(frozen=True, init=False)
class Partition:
    """A way in which the network may fall apart: no message goes from one side to another.

    `Partition({"left": ["a", "b"], "right": ["c"]})`. A node on no side is cut off from nobody.
    """

    sides: tuple[tuple[str, tuple[str, ...]], ...]

    def __init__(self, sides: Mapping[str, Sequence[str]]) -> None:
        if not isinstance(sides, Mapping) or len(sides) < 2:
            raise _bad_partition(sides, "has fewer than two named sides")
        named = []
        for side, nodes in sides.items():
            if isinstance(nodes, str) or not isinstance(nodes, Sequence) or not nodes:
                raise _bad_partition(sides, f"has no list of nodes as its side `{side}`")
            named.append((str(side), tuple(nodes)))
        every = [node for _, nodes in named for node in nodes]
        for node in every:
            if every.count(node) > 1:
                raise _bad_partition(sides, f"names the node `{node}` twice")
        object.__setattr__(self, "sides", tuple(named))

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(node for _, nodes in self.sides for node in nodes)

    def severs(self, one: str, other: str) -> bool:
        """Whether two nodes stand on different sides."""
        side = {node: name for name, nodes in self.sides for node in nodes}
        return one in side and other in side and side[one] != side[other]

    def __str__(self) -> str:
        return " | ".join(f"{side}: {' '.join(nodes)}" for side, nodes in self.sides)


def _bad_partition(sides: object, what: str) -> BadSystem:
    return BadSystem(
        f"`Partition({sides!r})` {what}",
        "a list of nodes, or one side only, where all sides are meant",
        '`Partition({"left": ["a", "b"], "right": ["c"]})`, each node on one side at most',
    )


_amounts: Callable[[Any], tuple[float, ...]] = attrgetter(*FAULTS)


@named_arguments
@record(frozen=True)
class Faults:
    """How often each fault may happen in one execution: a count, or `UNLIMITED`."""

    crash: float = 0
    restart: float = 0
    drop: float = 0
    duplicate: float = 0
    nodes: Sequence[str] | None = None  # those that may crash, be reset or slow; None: any
    reset: float = 0
    silent_reset: float = 0
    cut: float = 0
    idle_close: float = 0
    partition: float = 0
    heal: float = 0
    slow: float = 0
    partitions: Sequence[Partition] = ()  # the ways in which the network may fall apart
    sever: float = 0  # of connections of real nodes; there `cut` is another word for it
    refuse: float = 0
    terminate: float = 0
    notices: bool = False  # whether a crash sends `Down` to the other nodes

    def __post_init__(self) -> None:
        for fault in FAULTS:
            _check_amount(fault, getattr(self, fault))
        if isinstance(self.nodes, str):
            raise BadSystem(
                f"`Faults(nodes={self.nodes!r})` is a text, not a collection of names",
                "one name without brackets",
                f"`nodes=[{self.nodes!r}]`",
            )
        _check_notices(self.crash, self.notices)
        ways = self.partitions
        ways = (ways,) if isinstance(ways, Partition) else tuple(ways)
        object.__setattr__(self, "partitions", ways)
        apart = all(isinstance(way, Partition) for way in ways) and len(set(ways)) == len(ways)
        if bool(ways) != bool(self.partition) or not apart:
            raise BadSystem(
                f"`Faults(partition={self.partition!r}, partitions={list(ways)!r})`: one says"
                " how often the network may fall apart, the other in which ways",
                "one of them left out, or a list of anything but different `Partition`s",
                '`partition=1, partitions=[Partition({"left": ["a"], "right": ["b"]})]`',
            )

    @property
    def budgets(self) -> tuple[float, ...]:
        """The amounts in the order of `FAULTS`."""
        return _amounts(self)


def _check_amount(fault: str, amount: float) -> None:
    whole = isinstance(amount, int) and not isinstance(amount, bool)
    if amount != UNLIMITED and (not whole or amount < 0):
        raise BadSystem(
            f"`Faults({fault}={amount!r})` is not a number of times",
            "a negative number, a fraction or a flag",
            f"`{fault}=2`, or `{fault}=UNLIMITED`",
        )


def _check_notices(crash: float, notices: bool) -> None:
    if not isinstance(notices, bool):
        raise BadSystem(
            f"`Faults(notices={notices!r})` is neither true nor false",
            "a budget, as faults have one; a notice is no fault, each crash sends its own",
            "`notices=True`",
        )
    if notices and not crash:
        raise BadSystem(
            "`Faults(notices=True)` without a budget for `crash`",
            "a notice says that a node has crashed, and none can",
            "`crash=1, notices=True`, or leave `notices` out",
        )


def checked_faults(
    faults: Any,
    network: str,
    names: tuple[str, ...],
    streams: Streams | None,
    *,
    programs: bool,
) -> Faults:
    """What `System(faults=...)` is given; refuses what can happen to nothing in the system."""
    if not isinstance(faults, Faults):
        raise BadSystem(
            f"`faults` is a `{type(faults).__name__}`",
            "a dict or a number given for it",
            "`faults=Faults(crash=1, drop=2)`",
        )
    for node in faults.nodes or ():
        if node not in names:
            raise UnknownNode(node, names, "`Faults(nodes=...)`")
    for partition in faults.partitions:
        for node in partition.nodes:
            if node not in names:
                raise UnknownNode(node, names, f"`Faults(partitions=...)`: `{partition}`")
    for fault in STREAM_FAULTS:
        if getattr(faults, fault) and streams is None and not programs:
            raise BadSystem(
                f"a budget for `{fault}` in a system without streams",
                "the fault happens to connections, and there are none",
                f"`System(..., streams=Streams())`, or leave `{fault}` out",
            )
    for fault in PROGRAM_FAULTS:
        if getattr(faults, fault) and not programs:
            raise BadSystem(
                f"a budget for `{fault}` in a system without real nodes",
                "the fault happens to programs that presage runs, and there are none",
                f"`RealSystem({{...}})`, or leave `{fault}` out",
            )
    if faults.duplicate and network == "duplicating":
        raise BadSystem(
            "a budget for `duplicate` on a duplicating network",
            "that network may deliver every message again anyway",
            'leave `duplicate` out, or take `network="unordered"`',
        )
    return faults
