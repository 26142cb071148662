"""Coverage against the reference explorer: every count of every handler, on random systems."""

from collections import Counter
from itertools import count

import pytest
from reference.batches import batches
from reference.explorer import Explorer, TooLarge
from reference.random_features import featured_system
from reference.random_systems import random_system

from presage import check
from presage._core import UP
from presage.model.service.stream import Connect, Lost

STATES_MAX = 250
SYSTEMS_PER_TEST = 3
BEGINS = ("start", "restart", "reset", "silent")


class Noting(Explorer):
    """Notes every distinct step that was run, and every one that a guard did not let in."""

    def __init__(self, system):
        super().__init__(system)
        self.steps, self.refused, self.looked = {}, {}, set()

    def runs(self, automaton, values, stimulus, held=None, choices=()):
        born = automaton.initial()
        kept = [born[at] if at in automaton.ghosts else each for at, each in enumerate(values)]
        key = (automaton.index, self.encode(kept), self.encode(stimulus))
        outcomes = super().runs(automaton, values, stimulus, held, choices)
        into = self.steps if outcomes else self.refused
        into[key] = (automaton, values[0], stimulus)
        return outcomes


def run_for(automaton, control, stimulus):
    """The name of what a step runs, worked out from the class alone; None if it runs nothing."""
    shape, kind = automaton.shape, stimulus[0]
    if kind in BEGINS:
        return "start" if shape.starts else None
    if kind == "timer":
        return f"timer {stimulus[1]}"
    if kind == "action":
        return f"action {stimulus[1]}"
    if kind == "call":
        return f"call {automaton.workload[control[1]].method}"
    if kind == "write":
        return "written" if shape.written else None
    if kind != "deliver" or control[0] != UP:
        return None
    message = stimulus[2]
    if isinstance(message, Lost):
        return "broken" if shape.broken else None
    if isinstance(message, Connect) and Connect not in shape.handlers:
        return None
    bases = [base for base in type(message).__mro__ if base in shape.handlers]
    return f"handler {shape.handlers[bases[0]].name} {bases[0].__name__}" if bases else None


def names(system):
    """What of each class may run, as coverage names it, by what it is called here."""
    told = {}
    for automaton in system.automata:
        shape = automaton.shape
        functions = [each.function for each in shape.handlers.values()]
        for message, handler in shape.handlers.items():
            several = functions.count(handler.function) > 1
            more = f"({message.__name__})" if several else ""
            name = f"handler {handler.name} {message.__name__}"
            told[automaton.index, name] = ("handler", handler.function, more)
        for name, timer in shape.timers.items():
            told[automaton.index, f"timer {name}"] = ("timer", timer.function, "")
        for name, action in shape.actions.items():
            told[automaton.index, f"action {name}"] = ("action", action.function, "")
        for call in automaton.workload:
            function = getattr(automaton.service, call.method)
            told[automaton.index, f"call {call.method}"] = ("call", function, "")
        if shape.starts:
            told[automaton.index, "start"] = ("start", automaton.service.start, "")
        if shape.broken:
            told[automaton.index, "broken"] = ("broken", shape.broken[1], "")
        if shape.written:
            told[automaton.index, "written"] = ("written", shape.written.function, "")
    return told


def expected(system):
    """How many distinct steps run each piece of code."""
    noting = Noting(system)
    noting.explore(STATES_MAX)
    known, counts = names(system), Counter()
    for automaton, control, stimulus in noting.steps.values():
        name = run_for(automaton, control, stimulus)
        if name is not None:
            counts[spelt(*known[automaton.index, name])] += 1
    return {spelt(*each): counts[spelt(*each)] for each in known.values()}


def spelt(kind, function, more):
    return kind, ".".join(function.__qualname__.split(".")[-2:]) + more


def agrees(system):
    try:
        wanted = expected(system)
    except TooLarge:
        return False
    for how in ({"threads": 1}, {"threads": 2}, {"search": "dfs"}):
        report = check(system, keep_going=True, traces=None, liveness="rest", **how)
        assert report.exhausted
        ran = {(each.kind, each.name): each.steps for each in report.coverage.ran}
        assert set(ran) == set(wanted)
        for key, steps in ran.items():
            # A search also runs restarts that a spent budget forbids: they may count for more.
            assert steps == wanted[key] if key[0] != "start" else steps >= wanted[key], key
            assert (steps > 0) == (wanted[key] > 0)
    return True


@pytest.mark.parametrize("made", [random_system, featured_system])
@pytest.mark.parametrize("wired", [False, True])
@pytest.mark.parametrize("batch", batches(1, 3))
def test_what_ran_and_how_often_is_what_the_reference_runs(made, wired, batch):
    compared = 0
    for seed in count(batch * 10_000):
        try:
            compared += agrees(made(seed, wired=wired))
        except AssertionError as error:
            raise AssertionError(f"{made.__name__}({seed}, wired={wired}): {error}") from error
        if compared == SYSTEMS_PER_TEST:
            break
