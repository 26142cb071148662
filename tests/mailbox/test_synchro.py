"""Locks made of mailboxes."""

from math import factorial

import pytest
from process.explore import explore
from process.running import failures, first_failure, program, returned

from presage import check
from presage.mailbox import (
    Actor,
    Barrier,
    ConditionVariable,
    Mailbox,
    Mutex,
    Semaphore,
)


def start(body, count, *args):
    actors = [Actor.create(f"actor {n}", None, body, *args) for n in range(count)]
    for actor in actors:
        actor.join()


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_n_processes_that_lock_once_do_so_in_n_factorial_orders(count):
    def once(mutex):
        with mutex:
            pass

    assert check(program({"main": lambda: start(once, count, Mutex())})).traces == factorial(count)


def test_a_mutex_guards_a_value():
    def add(mutex):
        mutex.unlock(mutex.lock() + 1)

    def main():
        mutex = Mutex("sum", 5)
        start(add, 2, mutex)
        return mutex.lock()

    assert {result[0] for result in explore(program({"main": main}), reduced=True).results} == {7}


def test_a_mutex_can_be_met_by_name():
    def other():
        with Mutex.by_name("m") as value:
            return value

    assert returned(a=lambda: Mutex("m", 3) and None, b=other) == {(None, 3)}


def test_mutexes_are_equal_by_name_and_can_be_sent():
    def sends():
        mutex = Mutex("m")
        Mailbox.by_name("box").put(mutex)
        return mutex == Mutex.by_name("m"), repr(mutex)

    def receives():
        mutex = Mailbox.by_name("box").get()
        mutex.lock()
        return mutex == Mutex.by_name("m")

    assert returned(a=sends, b=receives) == {((True, "Mutex('m')"), True)}


def test_try_lock_does_not_wait():
    def main():
        mutex = Mutex("m")
        mutex.lock()
        busy = mutex.try_lock()
        mutex.unlock()
        return busy, mutex.try_lock()

    def other():
        got = Mutex.by_name("m").try_lock()
        if got:
            Mutex.by_name("m").unlock()
        return got

    assert returned(a=main) == {((False, True),)}
    assert {result[1] for result in returned(a=lambda: Mutex("m") and None, b=other)} == {
        True,
        False,
    }


@pytest.mark.parametrize(
    "text, wrong",
    [
        ("which it does not hold", lambda mutex: mutex.unlock()),
        ("would wait for itself", lambda mutex: (mutex.lock(), mutex.lock())),
        ("without holding the mutex", lambda mutex: ConditionVariable().wait(mutex)),
        ("holds no mutex", lambda mutex: ConditionVariable().notify_one()),
        ("without saying for how many", lambda mutex: Barrier.by_name("b").wait()),
        ("which is for x, y", lambda mutex: Barrier(["x", "y"]).wait()),
    ],
)
def test_misuse_is_told(text, wrong):
    def body():
        wrong(Mutex())

    assert text in first_failure(a=body)
    assert {kind for kind, _ in failures(a=body)} == {"misuse"}


@pytest.mark.parametrize("capacity, crowded", [(1, False), (2, True)])
def test_a_semaphore_lets_so_many_in(capacity, crowded):
    def visitor(semaphore, room):
        with semaphore:
            inside = room.lock() + 1
            room.unlock(inside)
            left = room.lock() - 1
            room.unlock(left)
            assert inside < 2, "crowded"

    def main():
        start(visitor, 2, Semaphore(capacity), Mutex("room", 0))

    found = explore(program({"main": main}), reduced=True)
    assert bool(found.failures) == crowded
    assert not found.deadlocks


def test_a_semaphore_without_room():
    def main():
        semaphore = Semaphore(0, "s")
        return semaphore.try_acquire(), semaphore.acquire_timeout(1)

    assert returned(a=main) == {((False, True),)}

    def open_it():
        semaphore = Semaphore(1, "s")
        return semaphore.acquire_timeout(1)

    assert returned(a=open_it) == {(False,)}, "what is there is taken at the last moment"


@pytest.mark.parametrize("parties", [2, ("actor 0", "actor 1")])
def test_nobody_passes_a_barrier_before_all_have_come(parties):
    def walker(barrier, came):
        for turn in (1, 2):
            came.unlock(came.lock() + 1)
            barrier.wait()
            here = came.lock()
            came.unlock()
            assert here >= 2 * turn, here

    def main():
        start(walker, 2, Barrier(parties), Mutex("came", 0))

    assert check(program({"main": main})).violations == ()


def test_named_parties_of_a_barrier_come_in_one_order():
    def walker(barrier):
        barrier.wait()

    def main(parties):
        start(walker, 3, Barrier(parties, "b"))

    names = ("actor 0", "actor 1", "actor 2")
    assert check(program({"main": (main, names)})).traces == 1
    assert check(program({"main": (main, 3)})).traces == 6


def test_of_counted_parties_one_came_last():
    def main():
        return Barrier(1).wait()

    assert returned(a=main) == {(True,)}


def test_a_condition_wakes_who_waits():
    def waits():
        mutex, changed = Mutex.by_name("m"), ConditionVariable.by_name("c")
        value = mutex.lock()
        while not value:
            value = changed.wait(mutex)
        mutex.unlock()
        return value

    def changes():
        mutex, changed = Mutex("m", 0), ConditionVariable("c")
        mutex.lock()
        changed.notify_one()
        mutex.unlock(5)

    assert {result[1] for result in explore(program({"a": changes, "b": waits})).results} == {5}


def test_a_condition_with_a_timeout():
    def waits():
        mutex = Mutex("m")
        mutex.lock()
        timed_out = ConditionVariable("c").wait_for(mutex, 1)
        mutex.unlock()
        return timed_out

    assert returned(a=waits) == {(True,)}
