"""Threads of pools: each order of what they do is met, and met again when it is replayed."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from presage import check, sometimes
from presage.real import Node, RealSystem, here


def pool():
    order = []
    here.expose(order=order)
    with ThreadPoolExecutor(2) as threads:
        for number in range(2):
            threads.submit(order.append, number)


def add(order, number, lock):
    with lock:
        pass
    order.append(number)


async def loop():
    order, lock = [], threading.Lock()
    here.expose(order=order)
    await asyncio.gather(*(asyncio.to_thread(add, order, n, lock) for n in range(2)))


def view(node):
    return {"order": list(node.get("order", []))}


def both_orders(program):
    claims = [
        sometimes(lambda world: world["n"].order == [0, 1], name="in order"),
        sometimes(lambda world: world["n"].order == [1, 0], name="the other way round"),
    ]
    report = check(RealSystem({"n": Node(program, view=view)}, properties=claims), traces=None)
    assert report.exhausted and set(report.properties.values()) == {"reached"}


def test_workers_that_only_call_a_built_in_function_come_in_any_order():
    both_orders(pool)


@pytest.mark.slow
def test_an_executor_joins_its_threads_in_one_order_whatever_their_addresses():
    both_orders(loop)


def bare():
    order = []
    here.expose(order=order)
    threads = [threading.Thread(target=order.append, args=(number,)) for number in range(2)]
    for each in threads:
        each.start()


def woken():
    order, event = [], threading.Event()
    here.expose(order=order)

    def tell():
        event.set()
        order.append(0)

    threading.Thread(target=tell).start()
    event.wait()
    order.append(1)


def test_threads_that_have_started_come_in_any_order():
    both_orders(bare)


def test_a_thread_is_stopped_behind_what_wakes_another():
    both_orders(woken)
