"""Real web servers as nodes: `http.server`, and an application of aiohttp."""

from collections.abc import Callable

import pytest
from real.web_nodes import aiohttp_server, standard_server, view, visit

from presage import always, check
from presage.real import Node, RealSystem

AIOHTTP = (
    "aiohttp==3.10.11 aiohappyeyeballs==2.4.4 aiosignal==1.3.2 attrs==24.3.0 frozenlist==1.5.0"
    " idna==3.10 multidict==6.1.0 propcache==0.2.1 yarl==1.18.3"
).split()


@always
def visitors_get_different_numbers(world) -> bool:
    numbers = [number for name in ("one", "two") for number in world[name].numbers]
    return len(numbers) == len(set(numbers))


def system(server: Node) -> RealSystem:
    visitors = {name: Node(visit, view=view) for name in ("one", "two")}
    return RealSystem({"server": server, **visitors}, properties=[visitors_get_different_numbers])


@pytest.mark.slow
def test_two_threads_of_a_server_give_one_number_twice() -> None:
    report = check(system(Node(standard_server, True, preemptions=0)))
    assert "visitors_get_different_numbers" in {each.prop for each in report.violations}


@pytest.mark.slow
def test_one_thread_does_not() -> None:
    report = check(system(Node(standard_server, False)))
    assert report.exhausted
    assert not report.violations


@pytest.mark.slow
def test_handlers_of_aiohttp_that_wait_give_one_number_twice(library: Callable[..., str]) -> None:
    server = Node(aiohttp_server, True, path=[library(*AIOHTTP)], timers=2)
    assert check(system(server)).violations


@pytest.mark.slow
def test_handlers_that_do_not_wait_do_not(library: Callable[..., str]) -> None:
    server = Node(aiohttp_server, False, path=[library(*AIOHTTP)], timers=0)
    report = check(system(server))
    assert report.exhausted
    assert not report.violations
