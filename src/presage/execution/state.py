"""The states of a live world as plain data, node by node: what one compares, shows and blames.

A node has its fields, `timers` and `up` (in brackets where a field is called so); what else there
is to say of it has a name that no field can have. Beside the nodes there is one entry for all that
is between them.

Invariant: what has not changed since the last state is the same object, so that thousands of
states take little room and comparing neighbours takes little time.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from presage._core import FAILED, SLOW
from presage.model.service.automaton import Automaton
from presage.model.service.local_state import is_up
from presage.model.world.event import FAULT_OF
from presage.model.world.snapshot import Local, Snapshot, SnapshotReader
from presage.model.world.system import UNLIMITED, System
from presage.model.world.transport import Frozen
from presage.model.world.world import World
from presage.trace.causes import NETWORK
from presage.trace.plain import TYPE, Plain, plain, shortened
from presage.trace.show import show, show_call

State = dict[str, Plain]  # by node, and under `States.between` what is between them
UNKNOWN: Plain = {"(status)": "outside: nothing is known of it"}
TIMERS, UP, CALLS, STATUS = "timers", "up", "(calls made)", "(status)"


class States:
    def __init__(self, system: System) -> None:
        self._system = system
        names = [*system.names, *system.observers]
        self.between = NETWORK if NETWORK not in names else f"({NETWORK})"
        self._nodes: dict[str, tuple[Local, Plain]] = {}
        self._transport: tuple[Frozen, dict[str, Plain]] | None = None
        self._around: Plain = None
        self._observed: dict[str, tuple[bytes, Plain]] = {}

    def of(self, world: World) -> State:
        saved = world.save()
        state: State = {}
        for automaton, local in zip(self._system.automata, saved.locals, strict=True):
            state[automaton.name] = self._node(automaton, local)
        around = {**self._messages(saved), **self._observers(saved), **self._budgets(saved)}
        if around != self._around:
            self._around = around
        return state | {self.between: self._around}

    def _node(self, automaton: Automaton, local: Local) -> Plain:
        if automaton.name in self._system.outside:
            return UNKNOWN
        known = self._nodes.get(automaton.name)
        if known is not None and known[0] == local:
            return known[1]
        decode = self._system.codec.decode
        control = decode(local[0])
        status, calls, timers, failure = control
        fields: dict[str, Plain] = {
            field: plain(decode(local[position])) for field, position in automaton.shown.items()
        }
        armed = sorted(show_call(name, args) for name, *args in sorted(timers, key=show))
        fields[automaton.aspect(TIMERS)] = {TYPE: "timers", **dict.fromkeys(armed, "armed")}
        fields[automaton.aspect(UP)] = is_up(control)
        if automaton.workload:
            fields[CALLS] = calls
        if status in (SLOW, FAILED):
            fields[STATUS] = "slow" if status == SLOW else f"failed: {shortened(failure or '')}"
        self._nodes[automaton.name] = (local, fields)
        return fields

    def _messages(self, saved: Snapshot) -> dict[str, Plain]:
        if self._transport is not None and self._transport[0] == saved.transport:
            return self._transport[1]
        names, reader = self._system.names, SnapshotReader(self._system, saved)
        flying = Counter(
            shortened(f"{names[source]} -> {names[to]} {show(message)}")
            for source, to, message in reader.messages(None)
        )
        fields: dict[str, Plain] = {"messages": {TYPE: "messages", **flying}}
        if self._system.streams is not None:
            fields["streams"] = {TYPE: "streams", **self._streams(saved.transport)}
        if self._system.faults.partitions:
            number = saved.transport.partition
            ways = self._system.faults.partitions
            fields["partition"] = str(ways[number - 1]) if number else None
        self._transport = (saved.transport, fields)
        return fields

    def _streams(self, transport: Frozen) -> dict[str, Plain]:
        names = self._system.names
        _, opened, errors = transport.streams
        ends = dict.fromkeys(sorted(opened), "open")
        ends |= dict.fromkeys(sorted(errors), "broken, not told yet")
        return {f"{names[a]} to {names[b]}": text for (a, b), text in sorted(ends.items())}

    def _observers(self, saved: Snapshot) -> dict[str, Plain]:
        fields: dict[str, Plain] = {}
        for name, encoded in zip(self._system.observers, saved.observers, strict=False):
            if name not in self._observed or self._observed[name][0] != encoded:
                self._observed[name] = (encoded, plain(self._system.codec.decode(encoded)))
            fields[name] = self._observed[name][1]
        return {"observers": fields} if fields else {}

    def _budgets(self, saved: Snapshot) -> dict[str, Plain]:
        granted = self._system.faults.budgets
        left: dict[str, Any] = {
            kind: int(saved.budgets[fault])
            for kind, fault in FAULT_OF.items()
            if 0 < granted[fault] < UNLIMITED
        }
        return {"faults left": left} if left else {}
