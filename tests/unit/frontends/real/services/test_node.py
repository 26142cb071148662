"""The Redis service as a node: searched, merged by its view, its keys expiring at any moment."""

import asyncio

import pytest

from presage import Faults, always, check
from presage.frontends.real.here import here
from presage.frontends.real.node import Node
from presage.frontends.real.services import Redis
from presage.frontends.real.system import RealSystem


async def increment() -> None:
    reader, writer = await asyncio.open_connection("redis", 6379)
    writer.write(b"INCR n\r\n")
    await reader.readline()
    writer.close()


async def read_then_write() -> None:
    reader, writer = await asyncio.open_connection("redis", 6379)
    writer.write(b"GET n\r\n")
    size = int((await reader.readline())[1:])
    old = 0 if size < 0 else int(await reader.readline())
    writer.write(b"SET n %d\r\n" % (old + 1))
    here.expose(done=await reader.readline() == b"+OK\r\n")
    writer.close()


def progress(node) -> dict[str, bool]:
    return {"done": bool(node.get("done"))}


@always
def never_three(world) -> bool:
    return (world["redis"].data or {}).get("n") != "3"


@always
def nothing_is_lost(world) -> bool:
    done = [name for name in ("a", "b") if world[name].done]
    return len(done) < 2 or world["redis"].data.get("n") == "2"


def clients(program, **more) -> dict[str, Node]:
    return {name: Node(program, preemptions=0, **more) for name in ("a", "b")}


@pytest.mark.slow
def test_increments_are_counted_and_states_merged() -> None:
    def searched(merge: str):
        nodes = {"redis": Redis(merge=merge), **clients(increment)}
        return check(RealSystem(nodes, properties=[never_three]), traces=None)

    by_view, by_history = searched("view"), searched("history")
    assert by_view.exhausted and not by_view.violations
    assert by_history.exhausted and not by_history.violations
    assert by_view.unique <= by_history.unique


@pytest.mark.slow
def test_a_lost_update_is_found() -> None:
    nodes = {"redis": Redis(), **clients(read_then_write, view=progress)}
    report = check(RealSystem(nodes, properties=[nothing_is_lost]), traces=None)
    assert [found.prop for found in report.violations] == ["nothing_is_lost"]


async def hold() -> None:
    reader, writer = await asyncio.open_connection("redis", 6379)
    writer.write(b"SET lock 1 NX PX 1000\r\n")
    here.expose(done=await reader.readline() == b"+OK\r\n")
    await asyncio.Event().wait()


@pytest.mark.slow
def test_a_key_may_expire_at_any_moment() -> None:
    @always
    def one_holder(world) -> bool:
        return not (world["a"].done and world["b"].done)

    nodes = {"redis": Redis(), **clients(hold, view=progress)}
    report = check(RealSystem(nodes, properties=[one_holder]), traces=None)
    assert [found.prop for found in report.violations] == ["one_holder"]


@pytest.mark.slow
def test_a_crash_empties_it() -> None:
    @always
    def full_after_done(world) -> bool:
        return not world["a"].done or bool(world["redis"].data)

    nodes = {"redis": Redis(), "a": Node(hold, preemptions=0, view=progress)}
    faults = Faults(crash=1, nodes=["redis"])
    system = RealSystem(nodes, faults=faults, properties=[full_after_done])
    report = check(system, traces=None, keep_going=True)  # some connect too late, and are refused
    assert "full_after_done" in [found.prop for found in report.violations]
