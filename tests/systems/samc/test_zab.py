"""ZooKeeper's broadcast: the paper's two bugs are found; mended, nothing is, in all states."""

import importlib
from typing import NamedTuple, get_args

import pytest
from systems.driving import Story

from presage import check
from presage.systems.samc import zab31, zab34


class Correct(NamedTuple):
    """A mended model, its budget, and how many states it has."""

    model: str
    parameters: dict
    states: int


class Broken(NamedTuple):
    """A model with a bug, its budget, how it is searched, and what fails."""

    model: str
    bug: str
    property: str
    parameters: dict = {}
    search: str = "delay"


NO_CRASH = {"crashes": 0, "restarts": 0}
ONE_CRASH = {"crashes": 1, "restarts": 1}
CORRECT = [
    Correct("zab31", NO_CRASH, 2_775),
    Correct("zab31", {**NO_CRASH, "elect": "interleaved", "writes": 1}, 1_180),
    Correct("zab34", {}, 49_471),
    pytest.param(Correct("zab31", ONE_CRASH, 326_757), marks=pytest.mark.slow),
    pytest.param(Correct("zab34", {"writes": 2}, 412_257), marks=pytest.mark.slow),
]
BROKEN = [
    Broken("zab34", "ZK-1653", "starts_again", search="bfs"),
    *(
        pytest.param(case, marks=pytest.mark.slow)
        for case in (
            Broken("zab31", "ZK-335", "one_transaction_per_number", ONE_CRASH, "bfs"),
            Broken("zab31", "ZK-335", "one_transaction_per_number", ONE_CRASH),
            Broken("zab31", "ZK-335", "one_transaction_per_number"),
            Broken("zab34", "ZK-1653", "starts_again"),
            Broken("zab34", "ZK-1653", "starts_again", {"elect": "interleaved"}),
        )
    ),
]


class Ensemble(Story):
    """Every election is over before anything else happens."""

    def __init__(self, system):
        super().__init__(system)
        self.settle()

    def do(self, kind, node, text=""):
        super().do(kind, node, text)
        self.settle()

    def settle(self):
        while self.world.seal():
            self.world.apply(self.world.enabled()[0])

    def elect(self, leader, follower):
        """They begin to serve, as far as 3.1.0 waits for anything."""
        self.do("action", "election", "elect")
        self.do("write", leader, "disk['snap']")
        self.do("receive", leader, f"Info {follower}")
        self.catch_up(follower)
        self.do("receive", leader, f"Ack {follower}")

    def catch_up(self, follower):
        self.do("receive", follower, "Sync")
        self.do("receive", follower, "UpToDate")
        self.do("write", follower, "disk['snap']")

    def crash(self, node):
        self.do("crash", node)
        self.do("broken", "election")


def system(model, **parameters):
    return importlib.import_module(f"presage.systems.samc.{model}").system(**parameters)


@pytest.mark.parametrize("case", CORRECT, ids=str)
def test_a_mended_model_holds_in_all_its_states(case):
    report = check(system(case.model, **case.parameters), traces=None)
    report.assert_holds()
    assert (report.unique, report.exhausted) == (case.states, True)


@pytest.mark.parametrize("case", BROKEN, ids=str)
def test_a_bug_breaks_the_claim_that_it_should(case):
    broken = system(case.model, bug=case.bug, **case.parameters)
    report = check(broken, search=case.search, threads=1, traces=None)
    assert [violation.prop for violation in report.violations] == [case.property]


def test_every_bug_has_both_arms():
    cases = [getattr(case, "values", [case])[0] for case in (*CORRECT, *BROKEN)]
    shown = {(case.model, getattr(case, "bug", "none")) for case in cases}
    models = {"zab31": zab31, "zab34": zab34}
    assert shown == {(name, bug) for name, model in models.items() for bug in get_args(model.Bug)}


def test_the_fourteen_steps_of_the_paper_are_an_execution():
    """A is n0, B is n2 and C is n1; #11 is (2, 1), X is v1 and Y is v0."""
    story = Ensemble(zab31.system(bug="ZK-335"))
    story.elect("n2", "n0")  # 1: B leads
    story.crash("n2")  # 2
    story.elect("n1", "n0")  # 3: C leads, in the same epoch
    assert story["n1"].epoch == 2
    story.do("call", "n1", "write")  # 4
    story.do("write", "n1", "disk['log']")
    story.crash("n0")  # 5: before it has logged it
    assert story["n1"].role == "looking"  # 6
    story.crash("n1")  # 7
    story.do("restart", "n0")  # 8
    story.do("restart", "n2")
    story.elect("n2", "n0")  # 9: in the same epoch again
    story.do("call", "n0", "write")  # 10
    story.do("receive", "n2", "Request")
    story.do("write", "n2", "disk['log']")
    story.do("receive", "n0", "Proposal")
    story.do("write", "n0", "disk['log']")
    story.do("receive", "n2", "Ack n0")
    story.do("receive", "n0", "Commit")
    assert story.broken() is None
    story.do("restart", "n1")  # 11
    story.do("action", "election", "admit")
    story.do("receive", "n2", "Info n1")  # 12
    story.catch_up("n1")  # 13
    assert [story[node].tree[-1] for node in ("n0", "n1", "n2")] == [
        ((2, 1), "v0"),
        ((2, 1), "v1"),
        ((2, 1), "v0"),
    ]
    assert story.broken() == "one_transaction_per_number"  # 14


def test_the_mended_version_takes_another_epoch_after_a_crash():
    story = Ensemble(zab31.system())
    for leader, follower, epoch in (("n2", "n0", 2), ("n1", "n0", 3)):
        story.do("action", "election", "elect")
        story.do("write", leader, "disk['snap']")
        story.do("receive", leader, f"Info {follower}")
        story.do("write", leader, "disk['accepted']")
        story.do("receive", follower, "NewEpoch")
        story.do("write", follower, "disk['accepted']")
        assert story[leader].epoch == epoch
        if leader == "n2":
            story.crash("n2")


@pytest.mark.parametrize(("bug", "role"), [("ZK-1653", "refused"), ("none", "looking")])
def test_a_crash_between_snapshot_and_epoch_is_survived_only_with_the_mark(bug, role):
    story = Ensemble(zab34.system(bug=bug))
    for kind, node, text in [
        ("action", "election", "elect"),
        ("receive", "n2", "Info n0"),
        ("write", "n2", "disk['accepted']"),
        ("receive", "n0", "NewEpoch"),
        ("write", "n0", "disk['accepted']"),
        ("receive", "n2", "AckEpoch n0"),
        ("write", "n2", "disk['current']"),
        ("receive", "n0", "Sync"),
        ("receive", "n0", "NewLeader"),
    ]:
        story.do(kind, node, text)
    while not story["n0"].disk.idle:
        story.do("write", "n0")
    for kind, node, text in [
        ("receive", "n2", "Ack n0"),
        ("receive", "n0", "UpToDate"),
        ("call", "n0", "write"),
        ("receive", "n2", "Request"),
        ("receive", "n0", "Proposal"),
        ("write", "n0", "disk['log']"),
        ("write", "n2", "disk['log']"),
        ("receive", "n2", "Ack n0"),
        ("receive", "n2", "Info n1"),
        ("receive", "n1", "NewEpoch"),
        ("write", "n1", "disk['accepted']"),
        ("receive", "n2", "AckEpoch n1"),
        ("receive", "n1", "Sync"),
        ("receive", "n1", "NewLeader"),
    ]:
        story.do(kind, node, text)
    while "snap" not in story["n1"].disk.stored:
        story.do("write", "n1")
    story.crash("n1")
    story.do("restart", "n1")
    assert story["n1"].role == role


def test_recovery_depends_on_the_disk_and_not_on_names():
    story = Ensemble(zab31.system(bug="ZK-335"))
    story.elect("n2", "n0")
    assert story["n1"].recovery() != story["n0"].recovery()
    story.do("receive", "n2", "Info n1")
    story.catch_up("n1")
    assert story["n1"].recovery() == story["n0"].recovery()
