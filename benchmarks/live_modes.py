"""What the live experiments share: modes, a network, nodes on a virtual clock, and what they count.

The four modes of one run differ in nothing but steering: the same seed, and the same schedule of
kills and starts, which is drawn before the run begins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from presage.model.world.system import System
from presage.runtime.foreseeing import SteeredCluster
from presage.runtime.foresight import Foresight
from presage.runtime.frame import Frame, Kind, Messages
from presage.runtime.shaping import Shape
from presage.runtime.steer_options import SteerOptions
from presage.runtime.virtual import VirtualCluster

MODES = ("none", "check", "steer", "both")
PREDICTING = ("steer", "both")
KERNELS = 2  # for each node: one process looks ahead for all of them
NETWORK = Shape(delay=0.065, jitter=0.02, loss=0.003)  # a round trip of 130 ms


@dataclass(frozen=True)
class Pace:
    """How often nodes look ahead, and for how long."""

    every: float  # seconds of virtual time
    deadline: float  # seconds
    states: int | None = None  # that each lane of a prediction may meet, whatever time it takes

    def options(self, mode: str) -> SteerOptions | None:
        """Of a mode; None: nothing is steered."""
        if mode == "none":
            return None
        return SteerOptions(
            every=self.every,
            deadline=self.deadline,
            checks=mode in ("check", "both"),
            predicts=mode in PREDICTING,
        )


@dataclass
class Traffic:
    """Bytes on the wire, of messages and of what steering adds to them."""

    count: Counter[str] = field(default_factory=Counter)
    size: Counter[str] = field(default_factory=Counter)

    def note(self, frame: Frame | Messages) -> None:
        """A frame is sent, or several in a row."""
        self.count[frame.kind.name] += len(frame.bodies) if isinstance(frame, Messages) else 1
        self.size[frame.kind.name] += frame.size


class Measured(VirtualCluster):
    """A cluster that counts bytes, and can lose the datagrams of one class between two nodes."""

    def __init__(self, system: System, **more: Any) -> None:
        super().__init__(system, **more)
        self.traffic = Traffic()
        self.lossy: set[tuple[type, str, str]] = set()

    def transmit(self, source: str, to: str, frames: Sequence[Frame | Messages]) -> None:
        """Write frames to the socket of two nodes."""
        for frame in frames:
            self.traffic.note(frame)
        super().transmit(source, to, frames)

    def throw(self, source: str, to: str, frame: Frame) -> None:
        """Send a datagram, unless those of its class are lost."""
        self.traffic.note(frame)
        if self.lossy:
            message = self.automata[0].codec.decode(frame.body)
            if (type(message), source, to) in self.lossy:
                return
        super().throw(source, to, frame)


@contextmanager
def steered(
    cluster: VirtualCluster, mode: str, pace: Pace, foresight: Foresight | None = None
) -> Iterator[SteeredCluster | None]:
    """Steer all nodes of a cluster that has not run yet, as the mode says."""
    options = pace.options(mode)
    if options is None:
        yield None
        return
    with ExitStack() as stack:
        if options.predicts and foresight is None:
            kernels = KERNELS * len(cluster.system.names)
            foresight = stack.enter_context(
                Foresight(cluster.system, kernels=kernels, states=pace.states)
            )
        yield SteeredCluster(cluster, foresight, options)


def counts(cluster: SteeredCluster | None) -> dict[str, int]:
    """What steering did, of all processes that there were."""
    total: Counter[str] = Counter()
    for lookout in cluster.every if cluster is not None else ():
        total.update(vars(lookout.steering.counts))
        total["checked"] += lookout.steering.check.checked
        total["no_cut"] += lookout.inconsistent
    return dict(total)


def spread(values: list[float], digits: int = 2) -> str:
    """A median and a range, as the tables have them."""
    if not values:
        return "–"
    low, mid, high = min(values), median(values), max(values)
    if low == high:
        return f"{mid:,.{digits}f}"
    return f"{mid:,.{digits}f} ({low:,.{digits}f}–{high:,.{digits}f})"


def checkpoint_kinds() -> tuple[str, ...]:
    """The kinds of frames that steering adds."""
    return (Kind.GATHER.name, Kind.CHECKPOINT.name, Kind.PATH.name)
