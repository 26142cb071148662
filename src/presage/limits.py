"""What the kernel is told of a search: how far it may go, how it draws, where it keeps things.

The kernel reads the fields of these by their names.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from presage._core import Checkpoint, Spill


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
    weights: Weighing | None = None  # in walks; None: every successor is as likely as any other


class Storage(Struct, frozen=True):
    """Where a search keeps its progress, and what does not fit into memory."""

    checkpoint: Checkpoint | None = None
    spill: Spill | None = None


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
    random: bool
    storm: int
    prefixes: int
    prefix: tuple[int, Sequence[int]] | None


class Effort(Struct, frozen=True):
    """How hard to look for a critical transition."""

    walks: int  # from each place
    region: int  # states that are searched to make sure that nothing recovers
    samples: int = 0  # places where the share of walks that recover is measured
