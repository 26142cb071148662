"""What each operation does, and how many executions differ by it."""

import pytest
from unit.process.scripts import kernel, probe, recv, send, wait

from presage._core import CANCEL, CHOOSE, CREATE, JOIN, KILL, PUBLISH, SLEEP, TEST
from presage.limits import Limits


def traces(*scripts, **options) -> int:
    """How many classes there are; nothing may be run in vain."""
    report = kernel(*scripts, **options).explore("odpor", Limits(keep_going=True))
    assert report.blocked == 0
    return report.traces


def findings(*scripts, reduction="odpor", **options):
    report = kernel(*scripts, **options).explore(reduction, Limits(keep_going=True))
    return [(each.kind, tuple(each.detail)) for each in report.run_findings]


def heard(script_of, *others, reduction="odpor", **options):
    """What `script_of` is answered in all executions: a generator that ends by raising it."""
    seen = set()
    engine = kernel(script_of(seen.add), *others, **options)
    report = engine.explore(reduction, Limits(keep_going=True))
    assert report.traces > 0
    return seen


def buffered(mailbox, payload=0, key=(0, 0)):
    return send(mailbox, payload, key, buffered=True)


def test_a_wait_for_two_returns_either_and_sees_what_came_first():
    # One message there and not the other, or both and a choice: four ways.
    assert traces([recv(0), recv(1), wait(0, 1)], [buffered(0)], [buffered(1)]) == 4


def test_a_wait_with_a_timeout_may_give_up_before_and_after_the_message_came():
    assert traces([recv(0), wait(0, timeout=True)], [buffered(0)]) == 3


def test_a_test_finds_the_message_or_not():
    assert traces([recv(0), (TEST, (0,))], [buffered(0)]) == 2
    assert traces([recv(0), recv(1), (TEST, (0, 1))], [buffered(0)], [buffered(1)]) == 5


def test_an_answer_carries_payload_and_key():
    def script(note):
        def run():
            yield recv(0, (-1, 3))
            note((yield wait(0)))
            note((yield send(1, buffered=True)))
            note((yield wait(0)))

        return run

    assert heard(script, [buffered(0, 7, (2, 3))]) == {(0, 7, 2, 3), (0, -1, 0, 0)}


def test_two_receives_posted_before_the_waits():
    assert traces([recv(0), recv(0), wait(0), wait(1)], [buffered(0)], [buffered(0)]) == 2


def test_rendezvous_deadlocks_where_buffering_does_not():
    def rank(mine, other, way):
        return [way(other), wait(0), recv(mine), wait(0)]

    assert findings(rank(0, 1, send), rank(1, 0, send)) == [("deadlock", (0, 1))]
    assert findings(rank(0, 1, buffered), rank(1, 0, buffered)) == []


def test_choices_multiply():
    report = kernel([(CHOOSE, (6,)), (CHOOSE, (6,))]).explore("odpor")
    assert (report.traces, report.unique) == (36, 43)


def test_votes_and_their_arrival_multiply():
    """Two-phase commit: each of n participants votes, n messages arrive in any order."""
    voter = [(CHOOSE, (2,)), buffered(0)]
    assert traces([recv(0), wait(0)] * 3, voter, voter, voter) == 2**3 * 6


def test_messages_arrive_in_one_order_for_all():
    """The mailbox of the comparison of channel models that comes with TraceForge."""
    receiver = [recv(0), wait(0)] * 3
    first = [buffered(0, 1), buffered(0, 2)]
    assert traces(receiver, first, [buffered(0, 3)], [buffered(0, 4)]) == 12
    third = [buffered(0, 3), buffered(1)]
    assert traces(receiver, first, third, [recv(1), wait(0), buffered(0, 4)]) == 6
    assert traces(receiver, [buffered(0, n) for n in range(3)]) == 1


def test_keys_that_nobody_confuses_make_sends_independent():
    by_key = [recv(0, (1, -1)), wait(0), recv(0, (2, -1)), wait(0)]
    assert traces(by_key, [buffered(0, 1, (1, 0))], [buffered(0, 2, (2, 0))]) == 1
    of_any = [recv(0), wait(0), recv(0), wait(0)]
    assert traces(of_any, [buffered(0, 1, (1, 0))], [buffered(0, 2, (2, 0))]) == 2


def test_a_wildcard_that_comes_late_begins_the_exploration_anew():
    late = [recv(1), wait(0), recv(0), wait(0)]
    senders = [[buffered(0, n, (n, 0))] for n in range(2)]
    # The senders go first, and nobody has asked for anything yet.
    report = kernel(*senders, late, [buffered(1)]).explore("odpor")
    assert (report.restarts, report.traces) == (1, 2)
    everything = kernel(*senders, late, [buffered(1)]).search()
    assert everything.run_findings == []


@pytest.mark.parametrize("reduction", ["none", "dpor", "sdpor", "odpor"])
def test_a_probe_that_waits_may_miss_what_others_receive(reduction):
    scripts = [[probe(0, blocking=True)], [recv(0)], [recv(0)], [buffered(0)]]
    report = kernel(*scripts).explore(reduction, Limits(keep_going=True))
    assert [(each.kind, each.detail) for each in report.run_findings] == [("deadlock", [0])]
    assert report.run_findings[0].count < report.traces  # sometimes it is in time


def test_a_probe_sees_the_message_and_leaves_it():
    def script(note):
        def run():
            note((yield probe(0)))
            yield recv(0)
            note((yield wait(0)))

        return run

    assert heard(script, [buffered(0, 5)]) == {(0, -1, 0, 0), (1, 5, 0, 0), (0, 5, 0, 0)}


def test_a_cancel_comes_in_time_or_too_late():
    def script(note):
        def run():
            yield recv(0)
            note((yield CANCEL, (0,)))

        return run

    assert heard(script, [buffered(0)]) == {(0, -1, 0, 0), (1, -1, 0, 0)}
    assert traces([recv(0), (CANCEL, (0,))], [buffered(0)]) == 2


def test_a_child_runs_once_created_and_can_be_joined():
    parent = [(CREATE, (1,)), (JOIN, (1,)), recv(0), wait(0)]
    assert traces(parent, created=[[buffered(0)]]) == 1
    assert findings(parent, created=[[SLEEP_OP]]) == [("deadlock", (0,))]


SLEEP_OP = (SLEEP, ())


@pytest.mark.parametrize("reduction", ["none", "dpor", "sdpor", "odpor"])
def test_the_killed_die_wherever_they_are(reduction):
    stuck = [recv(0), wait(0)]
    killer = [(KILL, (0,)), (JOIN, (0,))]
    assert findings(stuck, killer, reduction=reduction) == []
    assert findings(stuck, [SLEEP_OP], reduction=reduction) == [("deadlock", (0,))]
    # What was withdrawn meets nobody any more.
    late = [(JOIN, (0,)), send(0), wait(0)]
    assert ("deadlock", (2,)) in findings(stuck, killer, late, reduction=reduction)


def test_what_is_published_is_judged():
    seen = []

    def judge(published):
        seen.append(published)
        return [3] if dict.fromkeys(who for who, _, value in published if value == 1) else []

    both = [(PUBLISH, (0, 1)), (PUBLISH, (0, 2))]
    report = kernel(both, both, judge=judge).explore("odpor")
    (found,) = report.run_findings
    assert (found.kind, found.detail, found.path) == ("property", [3], [(0, 0)])
    assert report.stopped_by == "violation"
    kernel(both, both, judge=judge).explore("odpor", Limits(keep_going=True))
    assert ((0, 0, 1), (1, 0, 1)) in seen  # both at once


def test_what_nobody_receives_is_told_when_asked_for():
    scripts = [[buffered(4)], [recv(5)]]
    told = findings(*scripts, unmatched=True)
    assert told == [("unmatched", (4, 0, 1)), ("unmatched", (5, 1, 0))]
    assert findings(*scripts) == []


def test_a_failure_has_its_path_and_the_shortest_is_found_breadth_first():
    def run():
        yield recv(0)
        first = yield wait(0)
        assert first[1] != 2, "the second was first"

    scripts = [run, [SLEEP_OP, buffered(0, 1)], [SLEEP_OP, buffered(0, 2)]]
    assert findings(*scripts) == [("failure", (0, 0))]
    (finding,) = kernel(*scripts).search().run_findings
    assert (finding.kind, finding.detail) == ("failure", [0, 0])
    assert len(finding.path) == 4


def test_daemons_may_wait_for_ever():
    assert findings([recv(0), wait(0)], [SLEEP_OP], daemons=[0]) == []


def test_a_process_that_only_tests_is_made_to_wait():
    def run():
        yield recv(0)
        while (yield TEST, (0,))[0] == -1:
            yield SLEEP, ()

    for reduction in ("none", "dpor", "sdpor", "odpor"):
        report = kernel(run, [buffered(0)], spins=2).explore(reduction)
        assert report.run_findings == []
        assert report.spun > 0
    assert kernel(run, [buffered(0)], spins=2).explore("odpor").traces == 3
    assert kernel(run, [SLEEP_OP], spins=2).search().run_findings[0].kind == "deadlock"


def test_a_child_that_fails_at_once_is_found():
    def child():
        raise AssertionError("no good")
        yield

    scripts = [[(CREATE, (2,))], [SLEEP_OP]]
    assert findings(*scripts, created=[child]) == [("failure", (2, 0))]
