"""The catalogues of historic bugs, as the documentation lists them and as `check` finds them."""

from pathlib import Path

import pytest

from presage import check
from presage.systems import bullet, chord, mace_paxos, mace_transport, pastry, randtree
from presage.systems.bullet import bugs as bullet_bugs
from presage.systems.chord import bugs as chord_bugs
from presage.systems.mace_paxos import bugs as mace_paxos_bugs
from presage.systems.mace_transport import bugs as mace_transport_bugs
from presage.systems.pastry import bugs as pastry_bugs
from presage.systems.randtree import bugs as randtree_bugs

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "systems.md"
CATALOGUES = {
    "mace_transport": (mace_transport.system, mace_transport_bugs.BUGS),
    "randtree": (randtree.system, randtree_bugs.BUGS),
    "chord": (chord.system, chord_bugs.BUGS),
    "pastry": (pastry.system, pastry_bugs.BUGS),
    "bullet": (bullet.system, bullet_bugs.BUGS),
    "mace_paxos": (mace_paxos.system, mace_paxos_bugs.BUGS),
}
# The steps of the shortest execution, for bugs that a plain search finds within a second.
SHORTEST = {
    "MT-1": 4,
    "MT-2": 6,
    "MT-3-strict": 5,
    "MT-4": 10,
    "MT-7": 6,
    "MT-8": 8,
    "MT-10": 12,
    "MT-12": 13,
    "RT-timer-safety": 1,
    "CB-RT1": 13,
    "CB-RT2": 11,
    "CB-RT5": 3,
    "CB-RT7": 11,
    "RT-m3": 5,
    "CH-17": 11,
    "CH-18": 9,
    "CH-HP1": 4,
    "CH-HP2": 8,
    "CH-Aimin": 9,
    "CB-CH2": 12,
    "CH-Z3": 10,
    "PA-size": 4,
    "CB-BU1": 5,
    "CB-BU1a": 5,
    "BU-m1": 8,
    "BU-m3": 8,
    "BU-m4": 4,
    "BU-m5": 8,
    "PX-bug1": 10,
    "PX-bug2": 12,
    "PX-maj": 2,
    "PX-acc": 10,
}
FOUND = [
    (system, bug)
    for system, bugs in CATALOGUES.values()
    for bug in bugs
    if bug.kind == "safety" and bug.id in SHORTEST
]


def row(bug):
    """A bug as the reference page lists it."""
    settings = " ".join(f"{key}={str(value).lower()}" for key, value in bug.parameters.items())
    settings = settings.replace(bug.parameters["bug"].lower(), bug.parameters["bug"])
    settings = f"`{settings}`" + (f", `{bug.options}`" if bug.options else "")
    steps = ", ".join(f"`{step}`" for step in bug.expected)
    return (
        f"| {bug.id} | {bug.summary} | {bug.kind} | `{bug.property}` | {settings}"
        f" | {steps} | {bug.provenance} |"
    )


@pytest.mark.parametrize("name", CATALOGUES)
def test_the_reference_lists_every_bug_as_it_is(name):
    _, bugs = CATALOGUES[name]
    lines = PAGE.read_text().splitlines()
    assert [each for each in lines if each in map(row, bugs)] == list(map(row, bugs))


def test_every_bug_has_its_own_id():
    ids = [bug.id for _, bugs in CATALOGUES.values() for bug in bugs]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(("system", "bug"), FOUND, ids=[bug.id for _, bug in FOUND])
def test_a_search_finds_the_shortest_way_to_a_safety_bug_and_none_where_it_is_mended(system, bug):
    steps = SHORTEST[bug.id]
    found, *_ = check(system(**bug.parameters), liveness="rest").violations
    assert (found.prop, found.steps) == (bug.property, steps)
    mended = system(**(dict(bug.parameters) | {"bug": "none"}))
    assert not check(mended, depth=steps + 1, liveness="rest").violations
