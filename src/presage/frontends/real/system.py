"""`RealSystem`: a system some or all of whose nodes run unmodified code.

It is a `System`: real nodes and services stand side by side, and everything else is as for
services. To learn the fields of its views each real node is started once while it is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import msgspec

from presage._core import Codec
from presage.errors import (
    BadPrototype,
    BadSystem,
    BadView,
    Nondeterminism,
    ProgramDiffers,
    ViewTooCoarse,
)
from presage.frontends.real.automaton import RealAutomaton
from presage.frontends.real.driver import Driver, Event
from presage.frontends.real.histories import Histories
from presage.frontends.real.isolate import Isolation
from presage.frontends.real.looks import Look, Shown
from presage.frontends.real.machine.names import Host
from presage.frontends.real.machine.packets import Datagram, Segment
from presage.frontends.real.machine.process import current
from presage.frontends.real.node import Node
from presage.frontends.real.patience import with_patience
from presage.frontends.real.reservations import reservations
from presage.frontends.real.service import named_calls, service_class
from presage.frontends.real.tips import Tips
from presage.model.choice import Chooser
from presage.model.service.automaton import Automaton
from presage.model.service.calls import Call
from presage.model.service.service import Service
from presage.model.world.system import Faults, System

NETWORK = "lanes"
PACKETS = (Datagram, Segment, Look, Shown)
SHIFT_SECONDS = 7_654_321.125  # of the clocks of programs, where they are varied
BALLAST = 10_007  # objects that make addresses other ones


class Saved(msgspec.Struct, frozen=True):
    """What another process needs beside the values of a state."""

    histories: list[tuple[bytes, bytes, bytes]]
    merged: dict[str, list[tuple[bytes, bytes]]]  # per node: view key, its first history
    bounds: dict[str, dict[str, int]]


class RealSystem(System):
    """A distributed system of real programs, and of services if there are any."""

    programs = True

    def __init__(
        self,
        nodes: Mapping[str, Node | Service],
        *,
        calls: Mapping[str, Sequence[Call]] | None = None,
        network: str = NETWORK,
        faults: Faults | None = None,
        name: str | None = None,
        **more: Any,
    ) -> None:
        if current() is not None:  # a private copy of the file that declares a system
            return
        nodes = _checked(nodes)
        _check_surroundings(network, more)
        self.histories = Histories()
        self.tips = Tips(self.histories)
        self.drivers: dict[str, Driver] = {}
        self.isolations: dict[Any, Isolation] = {}
        events = Codec()  # of histories
        for packet in PACKETS:
            events.learn(packet)
        prototypes, called = {}, dict(calls or {})
        with self.tips.running():  # once for all of them: the leaves take time to replace
            for each, node in nodes.items():
                if isinstance(node, Node):
                    prototypes[each] = self._prototype(each, node, tuple(nodes), called, events)
                else:
                    prototypes[each] = node
        titles = [node.title for node in nodes.values() if isinstance(node, Node)]
        super().__init__(
            prototypes,
            calls=called,
            network=network,
            faults=_severing(faults),
            name=name or titles[0],
            **more,
        )

    def _prototype(
        self,
        name: str,
        node: Node,
        names: tuple[str, ...],
        calls: dict[str, Sequence[Call]],
        codec: Codec,
    ) -> Service:
        """Start the node once; a service that has the fields of its view."""
        calls_here, functions = named_calls(name, calls.get(name, ()))
        if calls_here:
            calls[name] = calls_here
        home = node.isolate, node.path
        if home not in self.isolations:
            self.isolations[home] = Isolation(*home, collects=False)
            self.tips.collected.append(self.isolations[home].recycle)
        isolation = self.isolations[home]
        driver = Driver(
            node, Host(name, names), names, tuple(calls_here), functions, codec, isolation
        )
        self.drivers[name] = driver
        with self.tips.running():
            fields = with_patience(_fields, driver, driver.start(0, node.files))
        return service_class(node, fields, functions)()

    def live(self) -> NoReturn:
        raise BadSystem(
            f"`{self.name}` has real nodes, which are run live by themselves",
            "`presage up`, or a function of the live runtime, called for programs",
            "start the programs as you always do; `presage check` checks them",
        )

    def _automaton(
        self, index: int, node: str, prototype: Service, codec: Codec, timed: bool
    ) -> Automaton:
        driver = self.drivers.get(node)
        if driver is None:
            return super()._automaton(index, node, prototype, codec, timed)
        return RealAutomaton(
            index,
            node,
            prototype,
            **self._surroundings(node, codec, timed),
            driver=driver,
            histories=self.histories,
            tips=self.tips,
        )

    def real(self) -> list[RealAutomaton]:
        """The nodes that run real code."""
        return [node for node in self.automata if isinstance(node, RealAutomaton)]

    def saved_histories(self) -> bytes:
        saved = Saved(
            self.histories.saved(),
            {node.name: node.merging.saved() for node in self.real() if node.merging},
            {node.name: node.bounds for node in self.real()},
        )
        return msgspec.msgpack.encode(saved)

    def load_histories(self, saved: bytes) -> None:
        known = msgspec.msgpack.decode(saved, type=Saved)
        self.histories.load(known.histories)
        for node in self.real():
            if node.merging is not None:
                node.merging.load(known.merged.get(node.name, []))
            for bound, times in known.bounds.get(node.name, {}).items():
                node.bounds[bound] = node.bounds.get(bound, 0) + times

    def sources(self) -> list[str]:
        return sorted(each.digest() for each in self.isolations.values())

    def disagreement(self, what: str) -> Nondeterminism:
        merged = [node.name for node in self.real() if node.merging is not None]
        return ViewTooCoarse.of_replay(what, merged) if merged else ProgramDiffers(what)

    def vary(self) -> None:
        self._ballast = [object() for _ in range(BALLAST)][::3]
        for driver in self.drivers.values():
            driver.shift = SHIFT_SECONDS
            driver.collects = True

    def idle(self) -> list[str]:
        return [name for name, driver in self.drivers.items() if not driver.acted]

    def reservations(self) -> list[str]:
        return list(reservations(self.real()))


def _fields(driver: Driver, event: Event) -> tuple[str, ...]:
    """The names in the view of a node that was started once; none if it failed and has no view.

    In another order of its threads it may come further.
    """
    process = driver.make(0, *event[3:])
    try:
        with driver.native.tracing():
            effects = driver.apply(process, event, Chooser((), extends=True))
        try:
            return tuple(driver.view(process))
        except BadView:
            if any(each.where == "main" for each in effects.failures):
                return ()
            raise
    finally:
        process.dispose()


def _check_surroundings(network: str, more: Mapping[str, Any]) -> None:
    """Refuse what programs cannot live with."""
    if network != NETWORK:
        raise BadSystem(
            f"`RealSystem(network={network!r})`",
            "programs have connections, whose segments keep their order, beside datagrams",
            f'leave `network` out: it is "{NETWORK}"',
        )
    if more.get("symmetric"):
        raise BadSystem(
            "`RealSystem(symmetric=...)`",
            "programs send addresses, and their histories name them: none can be exchanged",
            "leave `symmetric` out",
        )


def _severing(faults: Any) -> Any:
    """Faults in which the connections that are cut are those of programs."""
    if not isinstance(faults, Faults) or not faults.cut:
        return faults
    return replace(faults, cut=0, sever=faults.sever + faults.cut)


def _checked(nodes: Any) -> dict[str, Node | Service]:
    if not isinstance(nodes, Mapping):
        return nodes  # type: ignore[no-any-return]  # `System` says what is wrong
    for name, node in nodes.items():
        if not isinstance(node, Node | Service):
            raise BadPrototype(
                f"node `{name}` is a `{type(node).__name__}`, not a `Node`",
                "the program itself given for it",
                "`Node(main)`, or `Node.program('kv.py', '--port=1')`",
            )
    return dict(nodes)
