"""The counter of the examples: the exact number of states, with and without losses."""

import importlib
import sys
from pathlib import Path

import pytest
from real import programs

from presage import Faults, check
from presage.real import Node, RealSystem

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "real"


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    yield importlib.import_module("check_counter")
    for name in ("check_counter", "counter"):
        sys.modules.pop(name, None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("drop", "states", "transitions"), [(0, 837_083, 1_960_097), (1, 2_534_243, 7_426_517)]
)
def test_the_counter_holds_in_every_order(example, drop, states, transitions):
    report = check(example.system(drop=drop), traces=None)
    assert report.exhausted and not report.violations
    assert (report.unique, report.generated) == (states, transitions)
    assert report.depth == 23


def test_a_server_that_does_not_deduplicate_is_found_in_eight_steps(example):
    report = check(example.system(deduplicate=False), traces=None)
    (violation,) = report.violations
    assert (violation.prop, violation.steps) == ("counted_once", 8)


@pytest.mark.slow
def test_a_count_in_a_file_survives_a_crash_in_every_order():
    clients = {name: Node(programs.count, 2) for name in ("alice", "bob")}
    system = RealSystem(
        {"server": Node(programs.serve, True, "/var/count"), **clients},
        faults=Faults(crash=1, restart=1, drop=1, nodes=["server"]),
    )
    report = check(system, traces=None)
    assert report.exhausted and not report.violations
    assert (report.unique, report.generated) == (13_003_091, 40_619_526)
