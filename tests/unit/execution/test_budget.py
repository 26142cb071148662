"""One budget for a whole command: what is left is left for all phases together."""

import signal
import threading
from dataclasses import replace

import pytest

from presage import Service, System, action, always, check, eventually, sometimes
from presage._core import forget_stop, request_stop, stop_requested
from presage.execution import budget as module
from presage.execution.budget import Budget
from presage.search import liveness
from presage.search.liveness import examine


class Clock:
    """A clock that is set by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(module, "NOW", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture(autouse=True)
def nobody_asks():
    yield
    forget_stop()


def test_what_one_phase_spends_the_next_does_not_have(clock: Clock) -> None:
    budget = Budget(40)
    clock.now += 15
    assert (budget.remaining(), budget.spent_by) == (25, None)
    deadline = budget.deadline(20)
    assert (deadline.remaining(), deadline.allows()) == (20, True)
    clock.now += 20
    assert (deadline.remaining(), deadline.allows()) == (0, False)
    assert budget.deadline(20).remaining() == 5
    clock.now += 6
    assert (budget.remaining(), budget.spent_by) == (0, "seconds")


def test_without_a_limit_only_a_request_to_stop_ends_it(clock: Clock) -> None:
    budget = Budget()
    clock.now += 1e9
    assert (budget.remaining(), budget.spent_by) == (None, None)
    request_stop()
    assert (budget.remaining(), budget.spent_by) == (0, "interrupt")
    assert not budget.deadline(20).allows()


def test_the_first_ctrl_c_asks_to_stop_and_the_second_one_ends() -> None:
    budget = Budget()
    with budget.watching():
        with budget.watching():  # as by a check inside of another
            signal.raise_signal(signal.SIGINT)
        assert stop_requested() and budget.interrupted
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert budget.interrupted and not stop_requested()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_user_s_own_is_left_alone() -> None:
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:
        with Budget().watching():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [1] and not stop_requested()


def test_other_threads_have_no_signals_and_need_none() -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append(check(lamp(), traces=None).exhausted))
    thread.start()
    thread.join()
    assert found == [True]


class Lamp(Service):
    lit: bool = False
    n: int = 0

    @action
    def switch(self) -> None:
        self.lit = not self.lit

    @action(when=lambda self: self.n < 50)
    def count(self) -> None:
        self.n += 1


def lamp() -> System:
    lit = eventually(lambda world: world["a"].lit, name="lit")
    small = always(lambda world: world["a"].n <= 50, name="small")
    return System({"a": Lamp()}, properties=[lit, small])


def test_a_request_to_stop_ends_a_search_as_ctrl_c_does() -> None:
    request_stop()
    report = check(lamp(), traces=None)
    assert (report.stopped_by, report.exhausted) == ("interrupt", False)
    assert report.properties == {"lit": "unknown", "small": "held"}
    assert check(lamp(), traces=None).exhausted  # the request was that of the first


@pytest.mark.parametrize("spills", [False, True])
@pytest.mark.parametrize("ended_by", ["seconds", "memory", "interrupt"])
def test_a_cut_second_pass_leaves_its_property_unknown(
    ended_by: str, spills: bool, monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    more = {"spill": tmp_path, "memory_mib": 9_999} if spills else {}
    whole = check(lamp(), traces=None, **more)
    assert (whole.exhausted, whole.properties["lit"]) == (True, "held")
    if ended_by == "seconds":
        monkeypatch.setattr(liveness, "share_of", lambda *_: 0.0)
    elif ended_by == "memory":

        def little(*args):
            *others, settings, graph = args
            return examine(*others, replace(settings, memory_mib=1), graph)

        monkeypatch.setattr("presage.search.check.examine", little)
    else:
        ask = lambda *_: (request_stop(), None)[1]  # noqa: E731
        monkeypatch.setattr(liveness, "share_of", ask)
    report = check(lamp(), traces=None, **more)
    assert report.unique == whole.unique
    assert (report.exhausted, report.stopped_by) == (False, ended_by)
    assert report.properties == {"lit": "unknown", "small": "held"}
    headline, *_ = str(report).splitlines()
    assert headline.startswith("held so far: 1 property, to depth 52, 1 property unknown")
    assert report.exit_status == 0
    with pytest.raises(AssertionError, match="held so far"):
        report.assert_holds()
    report.assert_holds(allow_partial=True)


def test_what_the_states_alone_prove_is_proved_also_if_the_second_pass_is_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system = lamp()
    never = sometimes(lambda world: world["a"].n > 50, name="never")
    system = System({"a": Lamp()}, properties=[*system.properties, never])
    monkeypatch.setattr(liveness, "share_of", lambda *_: 0.0)
    report = check(system, traces=None)
    assert [violation.kind for violation in report.violations] == ["unreached"]


def test_a_depth_first_search_does_not_claim_what_only_cycles_tell() -> None:
    class Idle(Service):
        lit: bool = False
        n: int = 0

        @action
        def turn(self) -> None:
            self.n = (self.n + 1) % 3

        @action
        def light(self) -> None:
            self.lit = True

    lit = eventually(lambda world: world["a"].lit, name="lit", fairness="none")
    system = System({"a": Idle()}, properties=[lit])
    report = check(system, search="dfs", traces=None)
    assert report.properties == {"lit": "unknown"}
    assert report.is_partial
    asked = check(system, search="dfs", liveness="rest", traces=None)
    assert asked.properties == {"lit": "held"}
    assert check(system, traces=None).properties == {"lit": "violated"}
