"""Names that asyncio looks up: as with threads, but for the threads."""

import asyncio
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from unit.frontends.real.machine.fair_driver import Table, effects, run, table

from presage import check
from presage.real import Node, RealSystem

pytestmark = pytest.mark.usefixtures(table.__name__)


def lines(program: Callable[[], Any]) -> list[str]:
    found = effects(program)
    assert not found.failures
    return found.logs


async def asks() -> None:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo("b", 80, type=socket.SOCK_STREAM)
    print([address for *_, address in found], await loop.getnameinfo(("10.0.0.2", 80)))
    try:
        await loop.getaddrinfo("nobody", 80)
    except socket.gaierror as error:
        print(error.errno == socket.EAI_NONAME)
    loop.set_debug(True)
    print(len(await loop.getaddrinfo("b", 80, type=socket.SOCK_STREAM)))
    print(threading.active_count())


def test_answers_and_errors_are_those_of_the_table() -> None:
    expected = ["[('10.0.0.2', 80)] ('b', 'http')", "True", "1", "1"]
    assert lines(lambda: asyncio.run(asks())) == expected


def test_with_an_executor_a_thread_asks() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))
        print(len(await loop.getaddrinfo("b", 80, type=socket.SOCK_STREAM)))
        print(threading.active_count())

    assert lines(lambda: asyncio.run(main())) == ["1", "2"]


def test_each_answer_may_come_first_and_others_are_in_between() -> None:
    async def one(name: str) -> None:
        await asyncio.get_running_loop().getaddrinfo(name, 80)
        print(name)

    async def main() -> None:
        await asyncio.gather(one("a"), one("b"), one("b"))

    process = run(lambda: asyncio.run(main()), events=0)
    waiting = [("look up", name) for name in ("a:80", "b:80", "b:80 #2")]
    assert process.own_events() == waiting
    with Table():
        for event in reversed(waiting):
            process.go(event)
        assert process.collect().logs == ["b", "b", "a"]
        process.dispose()


def test_an_answer_that_nobody_awaits_any_more_does_not_come() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        try:
            await asyncio.wait_for(loop.getaddrinfo("b", 80), 1)
        except TimeoutError:
            print("too late")
        await asyncio.sleep(1)

    process = run(lambda: asyncio.run(main()), events=0)
    assert [event[0] for event in process.own_events()] == ["timer", "look up"]
    with Table():
        process.go(process.own_events()[0])
        assert process.collect().logs == ["too late"]
        assert [event[0] for event in process.own_events()] == ["timer"]
        process.dispose()


def test_a_look_up_costs_one_event() -> None:
    async def main() -> None:
        await asyncio.get_running_loop().getaddrinfo("b", 80)

    system = RealSystem({"a": Node(main), "b": Node(print)})
    report = check(system, traces=None)
    assert report.exhausted
    assert report.unique == 2
