"""The kernels that predictions keep: tables stay warm from one to the next.

Systems that begin in other states of one system share a kernel, and the nodes as functions, where
the same nodes are outside and the same faults may come. The least recently used one goes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from typing import Any

from presage._core import Kernel
from presage.execution.sandbox import Sandbox
from presage.model.world.faults import Faults
from presage.model.world.filters import Filter
from presage.model.world.origin import begun_in, offered
from presage.model.world.snapshot import Snapshot
from presage.model.world.system import System
from presage.records import NamedTuple
from presage.search.check import build
from presage.search.kernel.bridge import Bridge

KERNELS_MAX = 8


class Kept(NamedTuple):
    """A kernel, what answers it, and the first of the systems that share it."""

    begun: System
    bridge: Bridge
    kernel: Kernel


class Kernels:
    """Those of `system`, at most `most`."""

    def __init__(self, system: System, sandbox: Sandbox, most: int = KERNELS_MAX) -> None:
        self._system = system
        self._sandbox = sandbox
        self._most = most
        self._kept: OrderedDict[Any, Kept] = OrderedDict()

    def begin(
        self,
        snapshot: Snapshot,
        outside: Collection[str],
        observed: bool,
        filters: Collection[Filter],
        faults: Faults | None,
    ) -> System:
        """The system, begun in `snapshot`: see `begun_in`. Its nodes are those of its kernel."""
        faults = offered(self._system) if faults is None else faults
        kept = self._kept.get(_group(outside, observed, faults))
        return begun_in(
            self._system,
            snapshot,
            outside=outside,
            observed=observed,
            filters=filters,
            faults=faults,
            like=kept and kept.begun,
        )

    def of(self, begun: System) -> Kept:
        """The kernel for systems begun like this one."""
        key = group(begun)
        if key not in self._kept:
            bridge = Bridge(begun, self._sandbox, weighs=False)
            self._kept[key] = Kept(begun, bridge, build(begun, bridge))
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]


def group(begun: System) -> Any:
    """What begun systems have in common that can share a kernel."""
    return _group(begun.outside, begun.observed_known, begun.faults)


def _group(outside: Collection[str], observed: bool, faults: Faults) -> Any:
    return (frozenset(outside), observed, repr(faults))
