"""A trace told again: the whole state after each step, verdicts and sources."""

import importlib

import pytest
from unit.execution.test_replay import Trader, trading, violation_of

from presage import (
    Faults,
    Hunt,
    Service,
    System,
    Verdict,
    always,
    check,
    eventually,
    on,
    step,
    timer,
)
from presage.errors import BadTrace, Diverged
from presage.execution.frames import PropertyStatus, frames
from presage.systems import mace_transport, randtree
from presage.trace.diff import diff
from presage.trace.plain import text_of
from presage.trace.writers import writer


def test_every_state_is_told_and_agrees_with_what_the_trace_says_changed():
    system = trading()
    trace = violation_of(system).trace
    scenes = frames(system, trace)
    assert [scene.index for scene in scenes] == list(range(len(trace.steps) + 1))
    assert [scene.step for scene in scenes[1:]] == list(trace.steps)
    for before, after in zip(scenes, scenes[1:], strict=False):
        changed = {(c.path[0], c.path[1]) for c in diff(before.state, after.state)}
        nodes = {place for place in changed if place[0] != "network"}
        told = {(node, field) for node, fields in after.step.changes.items() for field in fields}
        assert nodes == told
    assert scenes[-1].verdicts["few_deals"].holds is False
    assert all(scene.verdicts["few_deals"].holds for scene in scenes[:-1])
    assert all(scene.verdicts["no_exception"].holds for scene in scenes)


def test_what_did_not_change_is_the_same_object():
    system = trading()
    scenes = frames(system, violation_of(system).trace)
    for before, after in zip(scenes, scenes[1:], strict=False):
        for node in set(system.names) - set(after.step.changes):
            assert before.state[node] is after.state[node]


def test_messages_budgets_and_handlers_are_told():
    system = trading()
    scenes = frames(system, violation_of(system).trace)
    first = scenes[0].state
    assert first["network"] == {
        "messages": {"": "messages"},
        "faults left": {"crash": 1, "restart": 1, "drop": 1},
    }
    assert text_of(first["a"]["timers"]).startswith("timers(offer(")
    fired = next(scene for scene in scenes if scene.step and scene.step.kind == "timer")
    assert list(fired.state["network"]["messages"])[1].startswith("a -> b Offer(")
    assert fired.source.endswith(f"test_replay.py:{Trader.offer.__code__.co_firstlineno}")


class Failing(Service):
    n: int = 0

    def start(self):
        self.arm("go")
        self.log("hello")
        self.send("b", 1)

    @timer
    def go(self):
        self.n += 1
        self.arm("go")

    @on(int)
    def take(self, number):
        raise ValueError(f"no {number}")


@always
def cannot_say(world):
    raise RuntimeError("never")


@step
def grows(before, after):
    return Verdict(after.n > before.n, f"{before.n} to {after.n}")


@eventually
def big(world):
    return world["a"].n > 1


def test_verdicts_say_why_and_admit_what_they_cannot_say():
    nodes = {"a": Failing(), "b": Failing()}
    system = System(nodes, properties=[cannot_say, grows, big], faults=Faults(drop=1))
    found = check(system, traces=None, depth=4, keep_going=True).violations
    [trace] = [each.trace for each in found if each.prop == "no_exception"]
    scenes = frames(system, trace)
    assert scenes[0].logs == ("a: hello", "b: hello")
    assert [sent.to for sent in scenes[0].sends] == ["b", "b"]
    assert scenes[0].verdicts["grows"] == PropertyStatus(None, kind="step")
    assert scenes[0].verdicts["cannot_say"] == PropertyStatus(None, "RuntimeError: never")
    assert scenes[0].verdicts["big"] == PropertyStatus(
        False, "`world['a'].n > 1` is false: world['a'].n is 0", "eventually"
    )
    last = scenes[-1]
    assert last.verdicts["no_exception"].why.startswith("ValueError: no 1")
    assert last.state["b"]["(status)"].startswith("failed: ")


def test_a_trace_of_another_system_is_refused():
    trace = violation_of(trading()).trace
    with pytest.raises((BadTrace, Diverged)):
        frames(System({"a": Trader(peer="b"), "b": Trader(peer="a")}), trace)


def bug(module, name):
    bugs = importlib.import_module(f"{module.__name__}.bugs").BUGS
    return next(each for each in bugs if each.id == name)


def hunted_violation(module, name, seed=0, executions="all"):
    """A system with one of its historic bugs, and what a hunt finds in it."""
    wanted = bug(module, name)
    system = module.system(**wanted.parameters)
    system.properties = tuple(p for p in system.properties if p.name == wanted.property)
    how = {"walks": 60_000, "seed": seed, "hunt": Hunt(executions=executions)}
    [violation] = check(system, search="hunt", traces=None, **how).violations
    return system, violation


def hunted(module, name):
    """The scenes of what a hunt finds, and the live path's state at the critical step."""
    system, violation = hunted_violation(module, name)
    at = violation.critical
    live = frames(system, violation.live)
    return frames(system, violation.trace), live[min(at, len(live) - 1)].state, at


def test_the_lost_connection_of_mace_transport_shows_in_flight_entry_and_timer():
    scenes, live, at = hunted(mace_transport, "MT-3")
    paths = [change.path for change in diff(live, scenes[at].state)]
    assert any(path[:4] == ("n0", "out", "'n1'", "inflight") for path in paths)
    assert any(path[1] == "timers" and path[2].startswith("retransmit(") for path in paths)
    states = [scene.state for scene in scenes]
    assert writer(states, at, ("n0", "out", "'n1'", "inflight")) == at


def test_the_lost_join_of_randtree_shows_the_accepted_child_and_its_phase():
    scenes, live, at = hunted(randtree, "RT-init")
    assert scenes[at].state["n2"]["phase"] == "init"  # it was reset, and forgets the reply
    paths = [change.path for change in diff(live, scenes[at].state)]
    assert any(path[:2] == ("network", "messages") and "JoinReply" in path[2] for path in paths)
