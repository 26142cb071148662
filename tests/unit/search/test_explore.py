"""Picking what happens next, going back, and taking another way."""

import msgspec
import pytest

from presage import Faults, Service, System, timer
from presage.search.explore import Explorer
from presage.search.replay import replay
from presage.search.watch import Watch
from presage.systems import randtree, two_phase_commit


class Chooser(Service):
    picked: str = ""

    def start(self):
        self.picked = self.choose(["a", "b"])
        self.arm("go")
        self.arm("idle")

    @timer
    def go(self):
        self.picked = self.choose(["c", "d"])

    @timer(periodic=True)
    def idle(self):
        pass


@pytest.fixture
def explorer():
    with Watch(10.0, None) as watch:
        yield Explorer(System({"n0": Chooser()}, faults=Faults(crash=1)), watch)


def texts(explorer):
    return [option.text for option in explorer.options]


def test_every_way_is_an_option_and_those_that_change_nothing_are_marked(explorer):
    assert texts(explorer) == [
        "n0 timer go, choosing 0",
        "n0 timer go, choosing 1",
        "n0 timer idle",
        "n0 crash",
    ]
    assert [option.idle for option in explorer.options] == [False, False, True, False]


def test_going_back_leaves_a_branch_and_a_way_is_taken_once(explorer):
    explorer.take(0)
    assert explorer.scenes[-1].state["n0"]["picked"] == "c"
    explorer.go(0)
    assert explorer.branches == {1: "step 1: n0 timer go"}
    explorer.take(1)
    assert explorer.scenes[-1].state["n0"]["picked"] == "d"
    assert (explorer.path, list(explorer.branches)) == ((0, 2), [1])
    explorer.go(0)
    explorer.take(0)
    assert explorer.here == 1 and len(explorer.places) == 3


@pytest.mark.parametrize("module", [two_phase_commit, randtree])
def test_what_was_explored_is_a_trace_that_replays(module):
    system = module.system()
    system.properties = ()
    with Watch(10.0, None) as watch:
        explorer = Explorer(system, watch)
        for step in range(12):
            moving = [k for k, option in enumerate(explorer.options) if not option.idle]
            if not moving:
                break
            explorer.take(moving[step * 7 % len(moving)])
            if step == 5:
                explorer.go(explorer.path[2])
        told, scenes = explorer.trace(), explorer.scenes
    assert len(told.steps) == len(scenes) - 1 > 3
    told = msgspec.structs.replace(told, prop="no_exception", kind="exception")
    assert [step.fingerprint for step in replay(system, told).steps] == [
        step.fingerprint for step in told.steps
    ]
