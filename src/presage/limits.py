"""What the kernel is told: the system, how far a search may go, how it draws, what it keeps.

The kernel reads the fields of these by their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from presage._core import Checkpoint, Spill


class KernelSystem(Struct, frozen=True):
    values: Sequence[list[Any]]  # of each node, before its start
    ghosts: Sequence[Sequence[bool]]  # per node and field
    observers: Sequence[Any]
    properties: Sequence[str]  # always, sometimes, rest, step; at the end seal, for each
    seals: Sequence[KernelSeal]
    budgets: Sequence[int]  # -1 is unlimited
    network: str
    skip_noops: bool
    severed: Sequence[Sequence[bool]]  # per partition: whether it stands between each two nodes
    lost: Any  # what is delivered to a node whose stream is gone; None: there are no streams
    notice: type | None  # of messages that are neither dropped nor duplicated; None: there are none
    ruled: bool  # `bridge.arrived` hears of messages that can arrive at one node together
    symmetric: tuple[list[list[int]], list[str], list[list[bool]]] | None = None
    histories: KernelHistories | None = None  # None: Python alone follows and judges them
    timed: bool = False  # the last observer holds the clocks, and `bridge.due` says what they allow


class KernelHistories(Struct, frozen=True):
    """Which observers keep histories that the kernel follows, and which properties judge them."""

    kept: Sequence[bool]  # per observer
    claims: Sequence[tuple[int, bool] | None]  # per property: the observer, whether by real time
    names: Sequence[str]  # of the nodes
    classes: tuple[type, type, type, type]  # History, Client, Done, Pending


class KernelSeal(Struct, frozen=True):
    """What may happen where the condition of a seal holds, which is a property, too."""

    kinds: Sequence[str]  # of `ORDINARY`
    nodes: Sequence[int]
    types: tuple[type, ...]  # of messages
    first: bool


class Weighing(Struct, frozen=True):
    """What events weigh in random walks."""

    faults: Sequence[int]  # in the order of `FAULTS`
    lost: Sequence[int]  # to hear that a stream broke, was refused, is half open
    calm: bool = False  # follow the weights of choices, too


class Limits(Struct, frozen=True):
    """The limits of a search; None: there is none."""

    depth: int | None = None  # counts the initial state
    states: int | None = None
    seconds: float | None = None
    memory_mib: int | None = None
    threads: int = 1
    alone_until: int = 0  # in `bfs`, states from which on threads other than the first take part
    keep_going: bool = False
    seed: int = 0
    walks: int | None = None  # executions
    first: int = 0  # the number of the first of them
    weights: Weighing | None = None  # in walks; None: every successor is as likely as any other


class Totals(Struct, frozen=True):
    """What shards of a search counted together, and what ended it."""

    unique: int = 0
    generated: int = 0
    depth: int = 0
    seconds: float = 0.0
    handler_runs: int = 0
    property_runs: int = 0
    faults: Sequence[int] = ()
    cut: bool = False
    interrupted: bool = False
    lost: bool = False
    late: bool = False
    crowded: bool = False
    violated: bool = False
    notes: Sequence[str] = ()


class Storage(Struct, frozen=True):
    """Where a search keeps its progress, and what does not fit into memory."""

    checkpoint: Checkpoint | None = None
    spill: Spill | None = None


class DelayPlan(Struct, frozen=True):
    """Which order is natural, and what it costs to depart from it."""

    scheduler: str  # rtc, rr, random; custom: all is asked of `user`
    delays: int | None = None  # stop when all that costs so many is explored
    cost: str = "log"  # of a place in the order: position, log, deviation
    choice: int = 1  # the cost of an unlikely answer of a choice
    fault: int = 1
    commuting: int = 0  # besides, if the order of it and of the first task does not matter
    user: Any = None  # a `presage.search.delay.asked.Asked`: ranks tasks, or orders them


class SkipPlan(Struct, frozen=True):
    """Which faults are left out because they are like others."""

    roles: Any  # a `presage.search.alike.roles.Roles`: gives roles, hears what is not alike
    flight: Sequence[bool]  # per node: whether the types of messages to and from it count
    audit: int  # states that are looked at behind some of the faults left out
    exact: bool = False  # compare the states that faults lead to, up to an exchange of nodes


class KernelOrigin(Struct, frozen=True):
    """A saved state to begin in, as canonical bytes."""

    locals: Sequence[Sequence[bytes]]  # per node, its values
    observers: Sequence[bytes]
    budgets: Sequence[int]  # what is left; -1 is unlimited
    partition: int
    links: Sequence[tuple[int, int, list[bytes], list[bytes], int]]  # ends, queues, flags
    mail: Sequence[Sequence[bytes]]  # channels on an ordered network; else one message each


class KernelFilter(Struct, frozen=True):
    """Refuses events at one node."""

    node: int
    kind: str  # deliver, receive, timer, action
    name: str  # of the message's class, the timer or the action
    source: int | None  # of the message; None: anybody


class PredictionPlan(Struct, frozen=True):
    """What a prediction looks for."""

    own_events: int | None = None  # how often each event that nobody caused is listed at all
    filters: Sequence[KernelFilter] = ()
    unjudged: Sequence[int] = ()  # properties that are not judged


class CyclePlan(Struct, frozen=True):
    """Which endless executions to look for, and how."""

    algorithm: str  # scc, map, ndfs, indfs
    claims: Sequence[tuple[int, str]]  # properties, and the fairness that each assumes


class HuntPlan(Struct, frozen=True):
    """How to hunt; `presage.search.hunt.settings` says what these mean."""

    eventually: Sequence[int]  # the properties that must hold again and again
    calm: Weighing
    walk_length: int
    depth_step: int
    depth: int
    by_steps: bool
    likely_first: bool
    tree: bool
    delay: DelayPlan | None  # the order of runs with few delays; None: there are none
    random: bool
    storm: int
    prefixes: int
    prefix: tuple[int, Sequence[int]] | None
    part: tuple[int, int] = (0, 1)  # which share of the executions, and of how many
    run_words: int | None = None  # kept of runs, by each thread; None: as many as hours take


class Effort(Struct, frozen=True):
    """How hard to look for a critical transition."""

    walks: int  # from each place
    region: int  # states that are searched to make sure that nothing recovers
    samples: int = 0  # places where the share of walks that recover is measured
