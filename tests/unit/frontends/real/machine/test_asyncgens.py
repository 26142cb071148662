"""Asynchronous generators of a process: closed by the loop that began them, and by no other."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
from unit.frontends.real.machine.fair_driver import process_of, run, table

pytestmark = pytest.mark.usefixtures(table.__name__)


async def numbers(closed: list[str], name: str) -> AsyncIterator[int]:
    try:
        yield 1
        yield 2
    finally:
        await asyncio.sleep(0)
        closed.append(name)


async def begin(closed: list[str], name: str) -> None:
    async for _ in numbers(closed, name):
        break


async def left_to_its_loop(closed: list[str]) -> None:
    await begin(closed, "left")
    await asyncio.sleep(1)


def test_one_that_is_left_is_closed_by_its_loop() -> None:
    closed: list[str] = []
    process = run(lambda: asyncio.run(left_to_its_loop(closed)))
    assert closed == ["left"]
    assert not process.effects.failures


def test_one_that_is_open_is_closed_when_the_loop_shuts_down() -> None:
    closed: list[str] = []
    kept: list[Any] = []

    async def main() -> None:
        kept.append(numbers(closed, "kept"))
        await anext(kept[0])

    run(lambda: asyncio.run(main()))
    assert closed == ["kept"]


def test_hooks_are_those_of_the_thread_that_runs() -> None:
    seen: list[Any] = []

    def main() -> None:
        seen.append(tuple(sys.get_asyncgen_hooks()))
        sys.set_asyncgen_hooks(firstiter=seen.append)
        seen.append(sys.get_asyncgen_hooks().finalizer)
        sys.set_asyncgen_hooks(None, print)
        seen.append(tuple(sys.get_asyncgen_hooks()))
        with pytest.raises(TypeError, match="callable finalizer expected, got int"):
            sys.set_asyncgen_hooks(finalizer=3)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            sys.set_asyncgen_hooks(None, None, None)  # type: ignore[call-arg, arg-type]

    run(main)
    assert seen == [(None, None), None, (None, print)]


def test_a_loop_outside_keeps_its_own() -> None:
    closed: list[str] = []

    async def outside() -> None:
        process = process_of(lambda: asyncio.run(left_to_its_loop(closed)))
        process.begin()
        await begin(closed, "outside")
        del process
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(outside())
    assert closed == ["left", "outside"]


def test_without_hooks_a_generator_is_closed_at_once() -> None:
    closed: list[str] = []

    async def plain() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            closed.append("plain")

    def main() -> None:
        generator = plain()
        with pytest.raises(StopIteration):
            anext(generator).__await__().send(None)  # type: ignore[attr-defined]
        del generator
        gc.collect()

    process = run(main)
    assert closed == ["plain"]
    assert not process.effects.failures
