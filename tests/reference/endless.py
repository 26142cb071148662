"""Liveness of whole systems in plain Python: the graph from live worlds, fairness by fixpoints.

Another formulation than the kernel's on purpose: weak fairness as a greatest fixpoint, strong
fairness by guessing which units the loop takes.
"""

from itertools import chain, combinations

from reference.plain import TooLarge

from presage.model.world.event import FAULT_KINDS
from presage.model.world.world import World

GONE = ("broken", "refused", "keepalive")


def unit(event):
    """What fairness is about; None for a call or a fault."""
    if event.kind in ("deliver", "receive"):
        message = event.message
        # In the random systems a plain message is a member of an enum: a type of its own.
        kind = message.name if hasattr(message, "name") else type(message)
        return (event.kind, event.source, event.node, kind, getattr(message, "lane", None))
    if event.kind in GONE:
        return ("gone", event.peer, event.node)
    if event.kind == "timer":
        return ("timer", event.node, event.name, event.args)
    if event.kind == "write":
        return ("write", event.node, event.disk)
    if event.kind == "wake":
        return ("wake", event.node)
    return ("action", event.node, event.name) if event.kind == "action" else None


def graph(system, most):
    """Per state its edges (target, unit, which fault or ""), a view, and its fingerprint."""
    branches = [()]
    for automaton in system.automata:
        runs = automaton.branches(automaton.initial, ("start",))
        branches = [(*b, *(k for k, _ in run.choices)) for b in branches for run in runs]
    number, saved, views, edges = {}, [], [], []

    def meet(world):
        if world.fingerprint not in number:
            number[world.fingerprint] = len(saved)
            saved.append(world.save())
            views.append(world.view())
            if len(saved) > most:
                raise TooLarge
        return number[world.fingerprint]

    for choices in branches:
        world = World.initial(system, choices)
        meet(world)
    for state in saved:
        world.restore(state)
        here = []
        for event in world.enabled():
            for choices in world.runs(event):
                world.apply(event, choices)
                fault = event.kind if event.kind in FAULT_KINDS else ""
                here.append((meet(world), unit(event), fault))
                world.restore(state)
        edges.append(here)
    return edges, views, list(number)


def rests(edges, state):
    return all(target == state or fault for target, _, fault in edges[state])


def within(edges, states):
    """The edges among `states`, as (source, target, unit)."""
    return [(s, t, u) for s in states for t, u, _ in edges[s] if t in states]


def leading(states, pairs, goals):
    """The states from which some path by `pairs` reaches `goals`."""
    found = set(goals)
    while new := {s for s, t in pairs if t in found and s in states} - found:
        found |= new
    return found


def weakly_fair(edges, lacking):
    """States that begin a weakly fair endless path among `lacking`: shrink until it is stable."""
    enabled = {s: {u for _, u, _ in edges[s]} - {None} for s in lacking}
    units = set().union(*enabled.values())
    states = set(lacking)
    while True:
        moves = within(edges, states)
        pairs = [(s, t) for s, t, _ in moves]
        alive = {s for s, _ in pairs}
        for wanted in units:
            settled = {s for s in states if wanted not in enabled[s]}
            settled |= {s for s, _, u in moves if u == wanted}
            settled &= alive
            alive &= leading(states, pairs, settled)
        if alive == states:
            return states
        states = alive


def strongly_fair(edges, lacking):
    """Whether some loop among `lacking` takes all that is enabled on it."""
    enabled = {s: {u for _, u, _ in edges[s]} - {None} for s in lacking}
    units = sorted(set().union(*enabled.values()), key=repr)
    guesses = chain.from_iterable(combinations(units, n) for n in range(len(units) + 1))
    for guess in map(set, guesses):
        states = {s for s in lacking if enabled[s] <= guess}
        for loop in loops(edges, states):
            taken = {u for _, _, u in within(edges, loop)}
            if set().union(*(enabled[s] for s in loop)) <= taken:
                return True
    return False


def loops(edges, states):
    """The largest sets of `states` that lie on common cycles."""
    moves = [(s, t) for s, t, _ in within(edges, states)]
    back = [(t, s) for s, t in moves]
    left = set(states)
    while left:
        state = left.pop()
        ahead = leading(states, back, {t for s, t in moves if s == state})
        if state in ahead:
            both = ahead & leading(states, moves, {state})
            left -= both
            yield both


def violated(edges, holds, fairness):
    """Whether `eventually` fails: at rest, or on a fair cycle."""
    lacking = {state for state in range(len(edges)) if not holds[state]}
    if any(rests(edges, state) for state in lacking):
        return True
    if fairness == "weak":
        return bool(weakly_fair(edges, lacking))
    if fairness == "strong":
        return strongly_fair(edges, lacking)
    return any(True for _ in loops(edges, lacking))
