"""Greenlets that ran a process are used again, and keep nothing of it."""

import gc
import weakref

import greenlet

from presage.process.live import ENDED, lend_greenlet, return_greenlet


class Body:
    """What a greenlet is to run; it may hold a whole system."""

    def __call__(self) -> object:
        return ENDED


def test_an_idle_greenlet_keeps_nothing_of_what_it_ran() -> None:
    work = lend_greenlet()
    work.parent = greenlet.getcurrent()
    for _ in range(2):  # the first is what it is started for
        body = Body()
        kept = weakref.ref(body)
        assert work.switch(body) is ENDED
        del body
        gc.collect()
        assert kept() is None
    return_greenlet(work)
    assert lend_greenlet() is work
    return_greenlet(work)


def test_a_new_greenlet_waits_for_what_to_run() -> None:
    work = lend_greenlet()
    assert work and not work.dead  # started: what it is started with it would keep
    return_greenlet(work)
