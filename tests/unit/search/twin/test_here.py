"""`check` called from Python: a set that a handler makes is met in two orders, in this process."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from presage import Service, System, action, always, check
from presage.errors import OrderDependence
from presage.search.twin import backwards

SLOW = pytest.mark.slow
SCRIPT = """
from presage import Service, System, action, always, check, state
from presage.errors import OrderDependence

class Stored(Service):
    peers: set[str] = state(lambda: {"alpha", "beta", "gamma"})
    first: str = ""

    @action(when=lambda self: not self.first)
    def go(self) -> None:
        self.first = next(iter(self.peers))

class Made(Service):
    first: str = ""

    @action(when=lambda self: not self.first)
    def go(self) -> None:
        self.first = next(iter({"alpha", "beta", "gamma"}))

class Popped(Service):
    first: str = ""

    @action(when=lambda self: not self.first)
    def go(self) -> None:
        self.first = {"alpha", "beta", "gamma"}.pop()

class Sorted(Service):
    first: str = ""

    @action(when=lambda self: not self.first)
    def go(self) -> None:
        self.first = min({"alpha", "beta", "gamma"})

@always
def not_beta(world):
    return world["a"].first != "beta"

for service in (Stored, Made, Popped, Sorted):
    report = check(System({"a": service()}, properties=[not_beta]), traces=None)
    orders = [(found.code, found.between) for found in report.orders]
    try:
        report.assert_holds()
        held = True
    except (AssertionError, OrderDependence) as error:
        held = "depends on the order of" not in str(error)
    print(service.__name__, report.exhausted, held, orders)
"""
EXPECTED = """\
Stored False False [('Stored.go', 'orders')]
Made False False [('Made.go', 'sets')]
Popped False False [('Popped.go', 'sets')]
Sorted True True []
"""


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(n, marks=SLOW) for n in range(4, 20))])
def test_code_that_depends_on_the_order_of_a_set_is_named_under_every_hash_seed(tmp_path, seed):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    ended = subprocess.run(
        [sys.executable, str(script)],
        env=os.environ | {"PYTHONHASHSEED": str(seed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.stdout, ended.stderr) == (EXPECTED, "")


class Making(Service):
    first: int = -1

    @action(when=lambda self: self.first < 0)
    def go(self) -> None:
        self.first = next(iter({3, 5, 7}))


@always
def odd(world):
    return world["a"].first % 2 == 1


def test_what_differs_is_told_with_its_line_and_the_way_out():
    report = check(System({"a": Making()}, properties=[odd]), traces=None)
    assert not report.exhausted
    with pytest.raises(
        OrderDependence, match="depends on the order of a set that it makes"
    ) as told:
        report.assert_holds()
    assert "test_here.py:" in str(told.value)
    assert "with sets iterated backwards, differed in `first`: 3 and 7" in str(told.value)
    assert "compared with runs that iterate sets backwards: all" in str(report)
    assert report.to_json()["second_process"] is None


def test_sets_are_what_they_were_when_it_is_over(monkeypatch):
    def orders() -> tuple[list[int], list[int], int, Callable[..., object]]:
        return list({3, 5, 7}), list(iter(frozenset({3, 5, 7}))), {3, 5, 7}.pop(), set.pop

    before = orders()
    check(System({"a": Making()}), traces=None)
    assert orders() == before
    monkeypatch.setattr(backwards, "may_go_backwards", lambda: False)
    report = check(System({"a": Making()}), traces=None)
    assert "this interpreter iterates sets in one way only" in str(report)
    assert (report.orders, orders()) == ((), before)
