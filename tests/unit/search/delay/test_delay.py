"""`search="delay"`: what a report claims, and what is refused."""

import subprocess
import sys

import pytest

from presage import Delay, Service, System, always, check, eventually, on
from presage.errors import BadSystem
from presage.systems import paxos, ping_pong, two_phase_commit


class Bounces(Service):
    other: str
    seen: int = 0

    def start(self) -> None:
        if self.name == "a":
            self.send(self.other, "ball")

    @on(str)
    def catch(self, ball: str) -> None:
        self.seen = (self.seen + 1) % 4
        self.send(self.other, ball)


def endless():
    never = eventually(lambda world: world["a"].seen == 9, name="never")
    return System({"a": Bounces(other="b"), "b": Bounces(other="a")}, properties=[never])


def test_what_a_limit_of_delays_ended_held_up_to_them():
    report = check(paxos.system(clients=2), search="delay", delay=Delay(delays=3), traces=None)
    assert (report.exhausted, report.stopped_by) == (False, "delays")
    assert str(report).startswith("held so far: 3 properties up to 3 delays")
    assert "not covered: whatever needs more than 3 delays" in str(report)
    assert report.delayed.done == report.delayed.reached == 3
    with pytest.raises(AssertionError):
        report.assert_holds()


def test_a_search_that_ends_is_exhaustive():
    report = check(ping_pong.system(), search="delay", traces=None)
    assert report.exhausted and report.unique == 4_094
    assert str(report).startswith("2 properties held, exhaustively")


def test_nothing_is_claimed_of_endless_executions():
    report = check(endless(), search="delay", traces=None)
    assert report.properties["never"] == "unknown"
    assert "`delay` does not keep the graph" in str(report)


def test_runs_that_do_not_end_are_cut_by_a_depth_that_is_told():
    report = check(endless(), search="delay", depth=3, liveness="rest", traces=None)
    assert (report.exhausted, report.stopped_by, report.depth) == (False, "depth", 3)


def test_a_depth_that_cut_runs_off_is_told_beside_the_delays():
    few = always(lambda world: world["a"].seen < 9, name="few")
    system = System({"a": Bounces(other="b"), "b": Bounces(other="a")}, properties=[few])
    report = check(system, search="delay", depth=3, traces=None)
    assert report.stopped_by == "depth" and report.delayed.cut
    assert str(report).startswith("held so far: 1 property up to 0 delays, to depth 3")
    report = check(system, search="delay", delay=Delay(delays=0), traces=None)
    assert report.exhausted and not report.to_json()["delay"]["cut"]
    two = paxos.system(clients=2)
    report = check(two, search="delay", depth=5, delay=Delay(delays=1), traces=None)
    assert report.stopped_by == "delays" and report.to_json()["delay"]["cut"]
    assert " up to 1 delay, to depth 5" in str(report).splitlines()[0]


def test_what_it_did_is_in_the_object_for_machines():
    delay = Delay("rr", cost="deviation", choice_delays=0, fault_delays=2, commuting_delays=3)
    report = check(two_phase_commit.system(rms=2), search="delay", delay=delay, traces=None)
    said = report.to_json()["delay"]
    assert (said["scheduler"], said["cost"]) == ("rr", "deviation")
    assert (said["choice_delays"], said["fault_delays"], said["commuting_delays"]) == (0, 2, 3)
    assert said["states"][-1] == report.unique == 56
    assert check(two_phase_commit.system(rms=2), traces=None).to_json()["delay"] is None


SPILLED = """\
import sys

from presage import check
from presage._core import resident_mib
from presage.systems import two_phase_commit

how = {"search": "delay", "memory_mib": resident_mib() + 20, "threads": 1, "traces": None}
how |= {"spill": sys.argv[1]} if sys.argv[1] else {}
report = check(two_phase_commit.system(rms=7), **how)
print(report.unique, report.exhausted, report.stopped_by)
"""


def in_a_process_of_its_own(folder):
    """What a search with little memory says; what other tests left in memory is no part of it."""
    command = [sys.executable, "-c", SPILLED, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.slow
def test_files_take_what_does_not_fit_into_memory(tmp_path):
    unique, exhausted, stopped_by = in_a_process_of_its_own("")
    assert int(unique) < 296_448 and (exhausted, stopped_by) == ("False", "memory")
    assert in_a_process_of_its_own(tmp_path) == ["296448", "True", "None"]


@pytest.mark.parametrize(
    "settings",
    [
        {"reduction": "sleep"},
        {"symmetry": True},
        {"checkpoint": "there"},
        {"walks": 3, "calm": True},
    ],
)
def test_what_it_does_not_go_with_is_refused(settings):
    with pytest.raises(BadSystem):
        check(two_phase_commit.system(rms=2), search="delay", traces=None, **settings)


def test_its_settings_are_refused_for_other_searches():
    with pytest.raises(BadSystem, match="`delay` is given for the search `bfs`"):
        check(two_phase_commit.system(rms=2), delay=Delay("rr"), traces=None)


@pytest.mark.parametrize(
    "settings",
    [{"delays": -1}, {"cost": "free"}, {"choice_delays": 1_001}, {"fault_delays": 1.5}],
)
def test_prices_that_make_no_sense_are_refused(settings):
    with pytest.raises(BadSystem):
        Delay(**settings)
