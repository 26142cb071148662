"""Schedulers of users: what they are asked, and what becomes of one that breaks its contract."""

from concurrent.futures import ThreadPoolExecutor
from time import sleep

import pytest
from unit.search.delay import schedulers

from presage import Delay, Scheduler, check
from presage.errors import BadScheduler, BadSystem
from presage.search.delay.asked import Asked, ServiceTasks
from presage.systems import chord, paxos, two_phase_commit


def checked(system, scheduler, **how):
    return check(system, search="delay", delay=Delay(scheduler), traces=None, **how)


@pytest.mark.parametrize("scheduler", [schedulers.Nodes(), schedulers.SlowNode("tm"), Scheduler()])
def test_a_search_with_a_users_scheduler_meets_what_there_is(scheduler):
    for threads in (1, 2):
        report = checked(two_phase_commit.system(rms=4), scheduler, threads=threads)
        assert (report.unique, report.exhausted) == (1_568, True)


class Slow(dict):
    """Lets other threads run before it takes something in."""

    def setdefault(self, key, value):
        sleep(0.001)
        return super().setdefault(key, value)


def test_threads_that_ask_at_once_get_a_number_for_each_state():
    tasks = ServiceTasks(two_phase_commit.system(rms=2))
    asked = Asked(tasks, schedulers.Nodes(), lambda ask, *args: ask(*args))
    asked._numbers = Slow()
    with ThreadPoolExecutor(8) as pool:
        given = list(pool.map(asked._number, [(n % 20,) for n in range(80)]))
    assert [asked._states[number] for number in given] == [(n % 20,) for n in range(80)]
    assert asked.states == len(set(given)) == 20


def test_a_scheduler_that_changes_no_rank_is_the_one_it_is_based_on():
    for base in ("rtc", "rr", "random"):
        own = type("Own", (Scheduler,), {"base": base})()
        mine, native = (checked(paxos.system(clients=2), each) for each in (own, base))
        assert mine.delayed.bounds == native.delayed.bounds


def test_a_low_rank_comes_first():
    seen = []

    class Watches(Scheduler):
        def rank(self, task):
            seen.append(task)
            return super().rank(task)

    checked(two_phase_commit.system(rms=2), Watches())
    kinds = {task.kind for task in seen}
    assert kinds == {"deliver", "action"} or "deliver" in kinds
    mail = next(task for task in seen if task.kind == "deliver")
    assert mail.source and mail.message is not None and mail.name == type(mail.message).__name__


def test_streams_are_tasks_of_their_ends():
    seen = set()

    class Watches(Scheduler):
        def rank(self, task):
            seen.add((task.kind, task.node, task.source))
            return super().rank(task)

    checked(chord.system(nodes=2), Watches(), states=500)
    assert {kind for kind, _, _ in seen} >= {"stream", "timer"}
    assert all(source for kind, _, source in seen if kind == "stream")


def test_a_scheduler_with_a_state_is_asked_far_less_often_than_there_are_states():
    report = checked(two_phase_commit.system(rms=6), schedulers.SlowNode("tm"))
    assert report.unique == 50_816
    assert 0 < report.delayed.scheduler_runs < 1_000


@pytest.mark.parametrize(
    ("scheduler", "said"),
    [
        (schedulers.Forgets(), "again, and not yet"),
        (schedulers.Elsewhere(), "`next` gave nothing in the state ('', 0)"),
        (schedulers.Wavers(), "`step("),
        (schedulers.Remembers(), "the state [''] can be changed"),
        (schedulers.Half(), "no `start`"),
        (schedulers.High(), "`rank` gave 256 for "),
    ],
)
def test_a_broken_contract_is_an_error_with_the_state_and_the_task(scheduler, said):
    with pytest.raises(BadScheduler) as caught:
        checked(two_phase_commit.system(rms=2), scheduler)
    assert said in str(caught.value)
    assert f"scheduler `{type(scheduler).__name__}`" in str(caught.value)


@pytest.mark.parametrize(
    "name", ["rtx", schedulers.Nodes, type("Own", (Scheduler,), {"base": "x"})()]
)
def test_a_scheduler_that_there_is_not_is_refused(name):
    with pytest.raises(BadSystem, match="no scheduler"):
        Delay(name)
