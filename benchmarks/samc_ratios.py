"""Table 3: how many executions of black-box DPOR each policy of SAMC would have left out.

DPOR is that of the paper's artefact: after an execution, each of its events is moved before the
nearest earlier one that it depends on and could have come before; the beginnings wait in a queue.
Events depend on each other if they happen at one node, or if one is a crash or a reboot. The tree
search of presage prunes more than that, so it is no measure here; this is plain Python, on a live
world whose steps are remembered.

An execution is redundant under a policy if the policy would not have moved that event, or if
its *class* was met before. `LMI` drops what a node ignores, and does not reverse two events at a
node where both orders were seen to do the same. `CMI` ties a crash or reboot to its node alone.
Under `CRS` and `RSS` no crash or reboot is moved to a place where all nodes have the same
`recovery` as where one was tried before. Only what was seen counts as commuting, so `LMI` is a
lower bound.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from presage import System, World

POLICIES = ("LMI", "CMI", "CRS", "RSS")
LENGTH_MAX = 200  # of an execution, as in the artefact
FAULTS = ("crash", "restart")
Key = tuple[Hashable, ...]


class Place(NamedTuple):
    """A state of the world."""

    saved: Any
    events: tuple[Any, ...]
    names: tuple[str, ...]  # of the events
    locals: dict[str, frozenset[tuple[str, Hashable]]]  # of each node, how it differs from first
    roles: dict[str, Hashable]  # of each node, what its recovery depends on


class Did(NamedTuple):
    """One step of an execution."""

    event: Any
    before: Place
    local: Hashable  # of its node, before
    after: Hashable
    sends: Hashable


class Execution(NamedTuple):
    """From the beginning to the end."""

    path: list[Did]
    moved: int | None  # the place of the event that was moved there; None: the first execution
    passed: Did | None  # the event before which it was moved


def stable(value: Any) -> Hashable:
    """The same for equal values, whatever the order of their sets and dicts."""
    if isinstance(value, dict):
        return tuple(sorted((repr(stable(k)), stable(v)) for k, v in value.items()))
    if isinstance(value, set | frozenset):
        return tuple(sorted(repr(stable(each)) for each in value))
    if isinstance(value, list | tuple):
        return tuple(stable(each) for each in value)
    return repr(value)


class Graph:
    """The states that executions have passed; each step is taken once."""

    def __init__(self, system: System) -> None:
        self.world = World.initial(system)
        self.names = list(system.nodes)
        self.steps: dict[tuple[int, str], tuple[int, Did]] = {}
        self.places: dict[int, Place] = {}
        self.root = self._place({name: frozenset() for name in self.names})

    def _place(self, local: dict[str, frozenset[tuple[str, Hashable]]]) -> int:
        at = self.world.fingerprint
        if at not in self.places:
            roles = {name: self._role(name, local[name]) for name in self.names}
            events = tuple(self.world.enabled())
            self.places[at] = Place(
                self.world.save(), events, tuple(map(repr, events)), local, roles
            )
        return at

    def _role(self, name: str, local: Hashable) -> Hashable:
        node = self.world.node_view(name)
        if not node.up:
            return "down"
        return stable(node.recovery()) if hasattr(node, "recovery") else local

    def take(self, at: int, event: Any) -> tuple[int, Did]:
        """The state after an event, and what it did."""
        key = (at, repr(event))
        if key not in self.steps:
            before = self.places[at]
            self.world.restore(before.saved)
            step = self.world.apply(event)
            local = dict(before.locals)
            for name, fields in step.changes.items():
                if name in local:
                    new = {each: stable(after) for each, (_, after) in fields.items()}
                    local[name] = frozenset({**dict(local[name]), **new}.items())
            after = self._place(local)
            node = event.node
            did = Did(event, before, before.locals.get(node), local.get(node), repr(step.sends))
            self.steps[key] = (after, did)
        return self.steps[key]


def depend(one: Any, other: Any) -> bool:
    return one.node == other.node or one.kind in FAULTS or other.kind in FAULTS


def executions(graph: Graph, most: int) -> Iterator[Execution]:
    """So many executions, in the order of black-box DPOR."""
    queue: deque[tuple[tuple[Any, ...], Did | None]] = deque([((), None)])
    queued, done = {""}, set()
    while queue and most > 0:
        prefix, passed = queue.popleft()
        path = run(graph, prefix)
        whole = tuple(names(path))
        if whole in done:
            continue
        done.add(whole)
        yield Execution(path, len(prefix) - 1 if prefix else None, passed)
        most -= 1
        for i, moved in moves(path):
            prefix = (*(did.event for did in path[:i]), moved)
            if repr(prefix) not in queued:
                queued.add(repr(prefix))
                queue.append((prefix, path[i]))


def moves(path: list[Did]) -> Iterator[tuple[int, Any]]:
    """From the end on: before which step of an execution which event is to be tried.

    A fault that another one left no budget for is not in the execution, and is tried in its place.
    """
    for j in range(len(path) - 1, -1, -1):
        moved = path[j].event
        for i in range(j - 1, -1, -1):
            if depend(path[i].event, moved) and moved in path[i].before.events:
                yield i, moved
                break
        if moved.kind in FAULTS:
            faults = [event for event in path[j].before.events if event.kind in FAULTS]
            yield from ((j, event) for event in faults if event != moved)


def run(graph: Graph, prefix: tuple[Any, ...]) -> list[Did]:
    """An execution that begins so; then what has waited longest is next, and faults come last."""
    at = graph.root
    path: list[Did] = []
    since: dict[str, int] = {}
    while len(path) < LENGTH_MAX:
        place = graph.places[at]
        since = {name: since.get(name, len(path)) for name in place.names}
        if len(path) < len(prefix):
            event = prefix[len(path)]
        elif place.events:
            order = [(e.kind in FAULTS, since[n]) for e, n in zip(*place[1:3], strict=True)]
            event = place.events[order.index(min(order))]
        else:
            break
        since.pop(repr(event), None)
        at, did = graph.take(at, event)
        path.append(did)
    return path


@dataclass
class Marks:
    """What was met before, under each policy."""

    outcomes: dict[Key, tuple[Hashable, Hashable]] = field(default_factory=dict)
    classes: dict[str, set[Key]] = field(default_factory=dict)
    tried: dict[str, set[Key]] = field(default_factory=dict)

    def learn(self, path: list[Did]) -> None:
        """Remember what each event does to its node."""
        for did in path:
            self.outcomes[did.event.node, did.local, repr(did.event)] = (did.after, did.sends)

    def is_new(self, execution: Execution, policies: tuple[str, ...]) -> bool:
        """Whether an execution is the first of its kind; and remember it."""
        name = "+".join(policies)
        sought = self.key(execution.path, policies)
        known = self.classes.setdefault(name, set())
        new = sought not in known and not self.independent(execution, policies)
        known.add(sought)
        for policy, kind in (("CRS", "crash"), ("RSS", "restart")):
            if policy in policies:
                tried = self.tried.setdefault(f"{name} {policy}", set())
                new &= not self.alike(tried, execution, kind)
        return new

    def independent(self, execution: Execution, policies: tuple[str, ...]) -> bool:
        """Whether an event was moved for nothing."""
        if execution.moved is None or execution.passed is None:
            return False
        moved, passed = execution.path[execution.moved], execution.passed
        node = moved.event.node
        faults = (moved.event.kind in FAULTS) + (passed.event.kind in FAULTS)
        if faults:
            return "CMI" in policies and faults == 1 and node != passed.event.node
        between = self.commute(node, moved.local, repr(passed.event), repr(moved.event))
        return "LMI" in policies and between is not None

    def alike(self, tried: set[Key], execution: Execution, kind: str) -> bool:
        """Whether a fault of this kind was moved to a place like one where it was tried."""
        path, moved = execution.path, execution.moved
        faults = [did for did in path[moved:] if did.event.kind == kind]
        if moved is not None:
            faults = faults[: path[moved].event.kind == kind]
        keys = {place_of(did) for did in faults}
        known = moved is not None and bool(keys & tried)
        tried |= keys
        return known

    def key(self, path: list[Did], policies: tuple[str, ...]) -> Key:
        """The same for executions that differ in the order of independent events alone."""
        rows: dict[str, list[Any]] = {}
        counts: dict[str, int] = {}
        faults = []
        for did in path:
            node, event = did.event.node, did.event
            ignored = did.local == did.after and did.sends == "()"
            if "LMI" in policies and ignored and event.kind not in FAULTS:
                continue
            if event.kind in FAULTS:
                cut = () if "CMI" in policies else tuple(sorted(counts.items()))
                faults.append((event.kind, node, cut))
            counts[node] = counts.get(node, 0) + 1
            rows.setdefault(node, []).append(did)
        settled = {
            node: self.sorted_row(row, faults) if "LMI" in policies else tuple(names(row))
            for node, row in rows.items()
        }
        return tuple(faults), tuple(sorted(settled.items()))

    def sorted_row(self, row: list[Did], faults: list[Any]) -> tuple[str, ...]:
        """The events of one node, those that commute in the order of their names.

        Where cuts of faults count events, an event does not move across one.
        """
        node, events = row[0].event.node, list(names(row))
        fixed = {count for _, _, cut in faults for name, count in cut if name == node}
        fixed |= {at for at, did in enumerate(row) if did.event.kind in FAULTS}
        fixed |= {at + 1 for at, did in enumerate(row) if did.event.kind in FAULTS}
        local = [did.local for did in row]
        moved = True
        while moved:
            moved = False
            for at in range(len(events) - 1):
                one, other = events[at], events[at + 1]
                if at + 1 in fixed or one <= other:
                    continue
                between = self.commute(node, local[at], one, other)
                if between is not None:
                    events[at], events[at + 1], local[at + 1] = other, one, between
                    moved = True
        return tuple(events)

    def commute(self, node: str, local: Hashable, one: str, other: str) -> Hashable | None:
        """The local state between two events in the other order, if both orders do the same."""
        first = self.outcomes.get((node, local, one))
        second = self.outcomes.get((node, local, other))
        if first is None or second is None:
            return None
        then = self.outcomes.get((node, first[0], other))
        instead = self.outcomes.get((node, second[0], one))
        if then is None or instead is None or then[0] != instead[0]:
            return None
        return second[0] if (first[1], then[1]) == (instead[1], second[1]) else None


def place_of(did: Did) -> Key:
    """What a fault meets: the role of its node, and those of the others."""
    roles = dict(did.before.roles)
    own = roles.pop(did.event.node)
    return own, tuple(sorted(map(repr, roles.values())))


def names(row: list[Did]) -> Iterator[str]:
    return (repr(did.event) for did in row)


def settle(graph: Graph) -> None:
    """Let executions begin where the first has nothing but faults left: after the set-up."""
    for did in run(graph, ()):
        if did.event.kind in FAULTS:
            break
        graph.root, _ = graph.take(graph.root, did.event)


def ratios(system: System, most: int, *, settled: bool = False) -> dict[str, Any]:
    """How many executions there were, and for each policy how many for each that is left."""
    graph, marks = Graph(system), Marks()
    if settled:
        settle(graph)
    found = list(executions(graph, most))
    for each in found:
        marks.learn(each.path)
    sets = {"none": (), **{policy: (policy,) for policy in POLICIES}, "all": POLICIES}
    left = {name: sum(marks.is_new(each, own) for each in found) for name, own in sets.items()}
    return {"executions": len(found), **{name: len(found) / left[name] for name in sets}}
