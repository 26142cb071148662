"""Every safety bug of the catalogues by few delays, in one configuration for all."""

import importlib

import pytest

from presage import check
from presage.systems import chord, mace_transport, paxos, randtree

SYSTEMS = (chord, randtree, mace_transport)
# States at most: about what each needed when this was written.
MOST = {
    "CB-CH1": 45_000,
    "CB-RT6": 1_450_000,
    "CB-RT1": 15_600,
    "CB-RT2": 8_000,
    "RT-15": 32_000,
}
USUAL = 2_000


def catalogue():
    for system in SYSTEMS:
        for bug in importlib.import_module(f"{system.__name__}.bugs").BUGS:
            if bug.kind == "safety":
                slow = pytest.mark.slow if bug.id == "CB-RT6" else ()
                yield pytest.param(system, bug, id=bug.id, marks=slow)


def test_there_are_twenty_five_of_them():
    assert len(list(catalogue())) == 25


@pytest.mark.parametrize(("system", "bug"), [*catalogue()])
def test_run_to_completion_finds_every_safety_bug(system, bug):
    made = system.system(**{"bug": bug.id} | dict(bug.parameters))
    report = check(made, search="delay", states=MOST.get(bug.id, USUAL), traces=None)
    assert report.properties[bug.property] == "violated"
    assert report.delayed.scheduler == "rtc" and report.delayed.reached <= 5


def test_paxos_that_forgets_a_promise_needs_three_delays():
    report = check(paxos.system(clients=2, bug="last_promise"), search="delay", traces=None)
    assert (report.unique, report.delayed.reached) == (342, 3)
    assert report.delayed.bounds == tuple(sorted(report.delayed.bounds))
