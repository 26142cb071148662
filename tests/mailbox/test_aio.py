"""Coroutines and plain functions behave alike: the same operations, in the same order."""

import inspect

import pytest
from process.explore import explore
from process.running import first_failure, program, returned

from presage import PresageError
from presage import mailbox as plain
from presage.mailbox import aio
from presage.process.fence import Fence
from presage.process.world import ProcessWorld

MODULES = {"": (plain, aio), "this_actor": (plain.this_actor, aio.this_actor)}
CLASSES = ("Mailbox", "Comm", "ActivitySet", "Actor", "Mutex", "Semaphore", "Barrier")
MADE = {"create", "__init__", "__enter__", "__exit__", "__aenter__", "__aexit__"}


def public(thing):
    return {name for name in vars(thing) if not name.startswith("_")} - MADE


def test_both_have_the_same_names():
    assert plain.__all__ == aio.__all__
    for name in (*CLASSES, "ConditionVariable"):
        assert public(getattr(plain, name)) == public(getattr(aio, name)), name


@pytest.mark.parametrize("name", [*CLASSES, "ConditionVariable"])
def test_both_take_the_same_arguments(name):
    one, other = getattr(plain, name), getattr(aio, name)
    for method in public(one):
        if callable(getattr(one, method)):
            left = inspect.signature(getattr(one, method)).parameters
            assert list(left) == list(inspect.signature(getattr(other, method)).parameters), method


def blocking_tour():
    mutex, semaphore = plain.Mutex("m", 1), plain.Semaphore(1, "s")
    barrier, condition = plain.Barrier(1, "b"), plain.ConditionVariable("c")
    box = plain.Mailbox.by_name("box")
    with mutex as value, semaphore:
        condition.notify_all()
        condition.wait_for(mutex, 1)
    barrier.wait()
    pending = plain.ActivitySet([box.get_async()])
    box.put_init(value + plain.choose(2)).detach()
    got = pending.wait_any().get_payload()
    plain.mark(got)
    plain.publish(got=got)
    child = plain.Actor.create("child", None, blocking_child)
    comm = box.put_async(got)
    plain.Comm.wait_any([comm])
    child.join()
    try:
        box.get(timeout=1)
    except plain.TimeoutException:
        plain.this_actor.sleep_for(1)
    plain.this_actor.exit()


def blocking_child():
    return plain.Mailbox.by_name("box").get()


async def awaiting_tour():
    mutex, semaphore = await aio.Mutex.create("m", 1), await aio.Semaphore.create(1, "s")
    barrier, condition = await aio.Barrier.create(1, "b"), await aio.ConditionVariable.create("c")
    box = aio.Mailbox.by_name("box")
    async with mutex as value, semaphore:
        await condition.notify_all()
        await condition.wait_for(mutex, 1)
    await barrier.wait()
    pending = aio.ActivitySet([await box.get_async()])
    await box.put_init(value + await aio.choose(2)).detach()
    got = (await pending.wait_any()).get_payload()
    await aio.mark(got)
    await aio.publish(got=got)
    child = await aio.Actor.create("child", None, awaiting_child)
    comm = await box.put_async(got)
    await aio.Comm.wait_any([comm])
    await child.join()
    try:
        await box.get(timeout=1)
    except aio.TimeoutException:
        await aio.this_actor.sleep_for(1)
    aio.this_actor.exit()


async def awaiting_child():
    return await aio.Mailbox.by_name("box").get()


def told(body):
    """What a run asks that always takes the last step, without what differs by nature."""
    asked = []
    with Fence():
        world = ProcessWorld(program({"a": body}))
        while steps := world.enabled():
            taken = world.take(steps[-1])
            asked.append((taken.process, type(taken.op).__name__, str(taken.response)))
    assert world.is_over
    return asked


def test_the_same_code_asks_the_same():
    assert told(blocking_tour) == told(awaiting_tour)
    assert len(told(blocking_tour)) > 25


def test_the_same_code_has_as_many_orders():
    one = explore(program({"a": blocking_tour}), reduced=True)
    other = explore(program({"a": awaiting_tour}), reduced=True)
    assert one == other
    assert one.ok


def test_other_calls_to_await():
    async def tour():
        box, back = aio.Mailbox.by_name("box"), aio.Mailbox.by_name("back")
        first = await box.get_async()
        assert not await first.test()
        assert await aio.Comm.test_any([first]) == -1
        assert await first.cancel()
        second = await back.get_init().start()
        await box.put(1)
        await second.wait_for(1)
        await aio.Comm.wait_all([await box.get_async()])
        await aio.this_actor.sleep_until(5)
        await aio.this_actor.execute(1)
        await aio.this_actor.yield_()
        mutex = aio.Mutex.by_name("m")
        assert not await mutex.try_lock()
        return second.get_payload()

    def other():
        box = plain.Mailbox.by_name("box")
        got = box.get()
        plain.Mailbox.by_name("back").put_init(got + 1).detach()
        box.put(3)

    results = {result[0] for result in explore(program({"a": tour, "b": other})).results}
    assert 2 in results


async def careless():
    plain.Mailbox.by_name("box").put(1)


async def foreign():
    import asyncio

    await asyncio.sleep(0)


def test_a_coroutine_that_blocks_is_told_what_to_do():
    with pytest.raises(PresageError, match="use `presage.mailbox.aio` there"):
        returned(a=careless)


def test_awaiting_something_else_is_told():
    with pytest.raises(PresageError, match="await what `presage.mailbox.aio` gives"):
        returned(a=foreign)


def test_misuse_in_a_coroutine_is_a_violation():
    async def wrong():
        comm = await aio.Mailbox.by_name("box").get_async()
        await comm.cancel()
        await comm.wait()

    assert "which is cancelled" in first_failure(a=wrong)
