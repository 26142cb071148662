"""Sweeps: the smallest first, what is behind a cut not tried, and nothing claimed that was not."""

from dataclasses import replace
from itertools import product

import pytest

from presage import Report
from presage._results import StopReason
from presage.errors import BadSystem, BadTarget
from presage.execution.budget import Budget
from presage.search.report import Violation
from presage.search.sweep import Item, causes, exit_status, frontier, points, swept

WHOLE = Report(exhausted=True, properties={"fine": "held"})
CUT = Report(stopped_by=StopReason.SECONDS, properties={"fine": "held"})
BROKEN = replace(WHOLE, violations=(Violation("fine", "safety", "why"),))


def run_sizes(limit: int, report: Report, *, keep_going: bool = False) -> list[Item]:
    """A sweep over two parameters, whose product decides what becomes of a point."""
    axes = {"a": ["1", "2", "3"], "b": ["1", "2", "3"]}

    def run(item: Item, seconds: float | None) -> Report:
        large = int(item.parameters["a"]) * int(item.parameters["b"]) > limit
        return report if large else WHOLE

    return swept(points("t", axes), run, Budget(), keep_going=keep_going)


def named(items: list[Item], status: str) -> set[str]:
    return {item.name for item in items if item.status == status}


@pytest.mark.parametrize("limit", range(10))
def test_what_is_exhausted_cut_and_untried_is_what_the_sizes_say(limit: int) -> None:
    items = run_sizes(limit, CUT)
    sizes = set(product(range(1, 4), range(1, 4)))
    small = {(a, b) for a, b in sizes if a * b <= limit}
    shown = {f"a={a}, b={b}" for a, b in small}
    assert named(items, "exhausted") == shown
    edge = {
        (a, b)
        for a, b in sizes - small
        if not any(x <= a and y <= b and (x, y) != (a, b) for x, y in sizes - small)
    }
    assert named(items, "cut") == {f"a={a}, b={b}" for a, b in edge}
    assert len(named(items, "untried")) == 9 - len(small) - len(edge)
    largest = {
        (a, b)
        for a, b in small
        if not any(x >= a and y >= b and (x, y) != (a, b) for x, y in small)
    }
    assert {item.name for item in frontier(items)} == {f"a={a}, b={b}" for a, b in largest}
    assert exit_status(items) == 0


def test_a_violation_ends_a_sweep_unless_it_is_to_go_on() -> None:
    items = run_sizes(3, BROKEN)
    assert named(items, "violated") == {"a=2, b=2"}  # the first whose size is above 3
    assert not named(items, "cut") and len(named(items, "untried")) == 4
    assert exit_status(items) == 1
    items = run_sizes(3, BROKEN, keep_going=True)
    assert len(named(items, "violated")) == 4 and not named(items, "untried")
    [(key, where)] = causes(items).items()
    assert key == ("fine", "fine") and len(where) == 4


def test_points_beside_each_other_share_the_time_and_the_last_gets_all_of_it() -> None:
    shares: list[float] = []

    def run(item: Item, seconds: float | None) -> Report:
        assert seconds is not None
        shares.append(seconds)
        return WHOLE

    swept(points("t", {"a": ["1", "2"], "b": ["1", "2"]}), run, Budget(1000.0), keep_going=False)
    assert [round(share / 1000, 1) for share in shares] == [1.0, 0.5, 1.0, 1.0]


def test_what_there_was_no_time_for_was_not_tried() -> None:
    items = swept([Item("a"), Item("b")], lambda *_: WHOLE, Budget(0.0), keep_going=True)
    assert [(item.status, item.reason) for item in items] == [("untried", "no time was left")] * 2


def test_systems_of_a_folder_do_not_depend_on_each_other_and_an_interrupt_ends_all() -> None:
    def run(item: Item, seconds: float | None) -> Report:
        if item.target == "bad":
            raise BadTarget("there is none", "a cause", "a remedy")
        return replace(CUT, stopped_by=StopReason.INTERRUPT) if item.target == "slow" else BROKEN

    targets = ["bad", "one", "slow", "two"]
    items = swept([Item(each) for each in targets], run, Budget(), keep_going=False)
    assert [item.status for item in items] == ["error", "violated", "cut", "untried"]
    assert items[3].reason == "interrupted"
    assert exit_status(items) == 1
    assert exit_status(items[:1]) == 2


def test_a_search_that_was_never_to_meet_all_is_no_frontier() -> None:
    walked = Report(search="walk", properties={"fine": "held"})
    items = swept(points("t", {"a": ["1", "2"]}), lambda *_: walked, Budget(), keep_going=False)
    assert [item.status for item in items] == ["sampled", "sampled"]
    assert frontier(items) == []


def test_too_many_points_are_refused() -> None:
    values = [str(number) for number in range(200)]
    with pytest.raises(BadSystem, match="the sweep has 40,000 points"):
        points("t", {"a": values, "b": values})
