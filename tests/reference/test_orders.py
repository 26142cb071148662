"""Random systems that depend on an order are named, always; others never."""

import pytest
from reference.batches import batches
from reference.random_orders import Case, random_case, system_of

from presage import check
from presage.search.doctor import transcribe

SYSTEMS = 50  # in a batch
SEARCHES = ("bfs", "bfs", "dfs", "tree")
HANDLERS = {"start": "start", "action": "act", "message": "given", "timer": "due", "call": "work"}
FIELDS = {"durable": "self.kept", "message": "message.content"}
ARGUMENTS = ("call", "timer")


def part_of(case: Case) -> str:
    """What a report must name."""
    if case.place in ARGUMENTS:
        return "the arguments"
    return FIELDS.get(case.place, "self.held")


def compare(case: Case, search: str) -> None:
    report = check(system_of(case), search=search, traces=None)
    if not case.is_dependent:
        assert report.orders == ()
        assert report.exit_status == 0
        return
    (found,) = report.orders
    assert found.code == f"Reader.{HANDLERS[case.trigger]}"
    assert "random_orders.py:" in found.place
    assert report.exit_status == 3
    assert found.parts == (part_of(case),)


@pytest.mark.parametrize("batch", batches(1, 8))
def test_what_depends_on_an_order_is_named_and_nothing_else(batch):
    dependent = 0
    for seed in range(batch * SYSTEMS, (batch + 1) * SYSTEMS):
        case = random_case(seed)
        try:
            compare(case, SEARCHES[seed % len(SEARCHES)])
        except Exception as error:
            raise AssertionError(f"random_case({seed}), {case}: {error}") from error
        dependent += case.is_dependent
    assert SYSTEMS // 10 < dependent < SYSTEMS // 2  # neither kind is rare


@pytest.mark.parametrize("batch", batches(1, 6))
def test_the_doctor_names_the_same_systems(batch):
    for seed in range(10_000 + batch * SYSTEMS, 10_000 + (batch + 1) * SYSTEMS):
        case = random_case(seed)
        findings = transcribe(system_of(case)).findings
        assert bool(findings) == case.is_dependent, (seed, case, findings)
        assert all("depends on the order of" in finding for finding in findings), seed
