"""No shipped system, nor any bug of a catalogue, depends on the order of a set or dict."""

import importlib

import pytest

from presage import check
from presage.systems import SHIPPED, chord, mace_transport, pastry, randtree
from presage.systems.chord import bugs as chord_bugs
from presage.systems.mace_transport import bugs as mace_transport_bugs
from presage.systems.pastry import bugs as pastry_bugs
from presage.systems.randtree import bugs as randtree_bugs

SERVICES = [name for name in SHIPPED if not name.startswith("simgrid")]
BUGS = [
    (module.system, bug)
    for module, bugs in (
        (mace_transport, mace_transport_bugs.BUGS),
        (randtree, randtree_bugs.BUGS),
        (chord, chord_bugs.BUGS),
        (pastry, pastry_bugs.BUGS),
    )
    for bug in bugs
]


@pytest.mark.parametrize("name", SERVICES)
def test_a_shipped_system_depends_on_no_order(name):
    module = importlib.import_module(SHIPPED[name])
    if not hasattr(module, "system"):
        pytest.skip("it is made of processes, whose objects live on")
    report = check(module.system(), states=1500, keep_going=True, traces=None, liveness="rest")
    assert report.orders == ()


@pytest.mark.slow
@pytest.mark.parametrize(("system", "bug"), BUGS, ids=[bug.id for _, bug in BUGS])
def test_a_historic_bug_depends_on_no_order(system, bug):
    made = system(**{"bug": bug.id} | dict(bug.parameters))
    report = check(made, states=3000, keep_going=True, traces=None, liveness="rest")
    assert report.orders == ()
