"""`presage.check`: what its report says, field by field, and what it refuses to start with."""

import signal

import pytest

import presage
from presage import (
    Call,
    Faults,
    PresageError,
    Service,
    System,
    Verdict,
    action,
    always,
    check,
    eventually,
    no_deadlock,
    on,
    sometimes,
    step,
)
from presage.errors import BadSystem, Impure, PropertyError
from presage.search.twin import compare
from presage.ui import summary
from presage.ui.theme import Theme


class Counter(Service):
    n: int = 0
    most: int = 3

    @action(when=lambda self: self.n < self.most)
    def go(self):
        self.n += 1


def at_most(most):
    @always(name=f"at_most_{most}")
    def small(world):
        return Verdict(world["a"].n <= most, f"the count is {world['a'].n}")

    return small


@sometimes
def two(world):
    return world["a"].n == 2


def counting(*properties, most=3, **arguments):
    return System(
        {"a": Counter(most=most), "b": Counter(most=most)}, properties=properties, **arguments
    )


def run(system, **options):
    return check(system, traces=options.pop("traces", None), **options)


def plain(report):
    return summary.render(report, Theme(width=400))


def test_a_report_tells_what_was_covered_and_what_held():
    report = run(counting(at_most(3), two, name="counting"), seed=9)
    assert (report.presage, report.system, report.nodes) == (presage.__version__, "counting", 2)
    assert (report.target, report.parameters) == (None, {})
    assert (report.search, report.seed) == ("bfs", 9)
    assert (report.unique, report.generated, report.depth) == (16, 25, 7)
    assert (report.exhausted, report.stopped_by) == (True, None)
    assert (report.executions, report.traces, report.faults) == (0, 0, {})
    assert report.properties == {"at_most_3": "held", "two": "reached"}
    assert report.violations == report.errors == report.notes == ()
    assert report.exit_status == 0
    assert report.seconds > 0 and report.peak_mib > 1
    assert report.collision_probability == 16 * 16 / 2**65
    report.assert_holds()


def test_a_handler_runs_once_for_each_local_step_and_a_property_for_each_value_it_reads():
    report = run(counting(at_most(3)))
    assert report.handler_runs == 8  # two starts, and three steps of each node
    assert report.property_runs == 4


def test_runs_of_an_eventually_on_endless_executions_are_counted(monkeypatch):
    monkeypatch.setattr(compare, "suspicious", lambda system: False)  # which asks once more
    asked = []

    @eventually
    def done(world):
        asked.append(1)
        return world["a"].n == 3

    report = run(counting(done))
    # The predicates of the live world that confirms nothing here are not asked: it holds.
    assert report.properties == {"done": "held"}
    assert report.property_runs == 4
    assert len(asked) == 8  # each of them is run twice, to be compared


def test_what_was_asked_for_is_kept_for_the_trace():
    system = counting(at_most(2))
    report = run(system, target="counting.py", parameters={"most": 3}, seed=4)
    assert (report.target, report.parameters) == ("counting.py", {"most": 3})
    [violation] = report.violations
    trace = violation.trace
    assert (trace.target, trace.parameters, trace.seed) == ("counting.py", {"most": 3}, 4)


def test_a_violation_is_the_shortest_and_tells_why():
    report = run(counting(at_most(1), two))
    assert (report.stopped_by, report.exhausted, report.exit_status) == ("violation", False, 1)
    assert report.properties["at_most_1"] == "violated"
    [violation] = report.violations
    assert (violation.prop, violation.kind, violation.message) == (
        "at_most_1",
        "safety",
        "the count is 2",
    )
    assert violation.step == violation.steps == len(violation.trace.steps) == 2
    assert (violation.critical, violation.evidence) == (None, "exact")
    assert violation.source.partition(":")[0].endswith("test_check.py")
    assert violation.signature == "def small(world)"
    assert violation.trace_path is None


def test_a_failed_assertion_tells_the_story():
    with pytest.raises(AssertionError) as failed:
        run(counting(at_most(1))).assert_holds()
    told = str(failed.value).splitlines()
    assert told[0] == "violation[safety] at_most_1 fails at step 2"
    assert told[1] == "  why: the count is 2"
    assert [line.split() for line in told[2:4]] == [
        ["1", "a", "action", "go"],
        ["2", "a", "action", "go"],
    ]
    assert "def small(world)" in told[4]


def test_a_trace_is_saved_only_where_asked_for(tmp_path):
    report = run(counting(at_most(1)), traces=tmp_path / "deep" / "traces")
    [violation] = report.violations
    assert [str(path) for path in (tmp_path / "deep" / "traces").iterdir()] == [
        violation.trace_path
    ]
    assert violation.trace_path in violation.explanation()


def test_without_keeping_going_the_search_stops_at_the_first_violation():
    properties = (at_most(0), at_most(1), at_most(2))
    assert [found.prop for found in run(counting(*properties)).violations] == ["at_most_0"]
    report = run(counting(*properties, two), keep_going=True)
    assert {found.prop: found.steps for found in report.violations} == {
        "at_most_0": 1,
        "at_most_1": 2,
        "at_most_2": 3,
    }
    assert (report.exhausted, report.stopped_by, report.unique) == (True, None, 16)


def test_a_violation_of_the_initial_state_has_no_steps():
    @always
    def busy(world):
        return world["a"].n > 0

    [violation] = run(counting(busy)).violations
    assert (violation.step, violation.steps, violation.trace.steps) == (0, 0, ())


def test_a_goal_that_is_never_reached_is_a_violation_only_if_all_was_explored():
    @sometimes
    def nine(world):
        return world["a"].n == 9

    report = run(counting(nine, two))
    assert report.properties == {"nine": "unreached", "two": "reached"}
    [violation] = report.violations
    assert (violation.kind, violation.trace) == ("unreached", None)
    assert violation.message == "none of the 16 reachable states satisfies it"
    with pytest.raises(AssertionError, match="nine is never reached"):
        report.assert_holds()
    for limit in ({"depth": 3}, {"states": 4}, {"search": "walk"}):
        limited = run(counting(nine), **limit)
        assert (limited.exhausted, limited.violations) == (False, ())
        assert limited.properties == {"nine": "unreached"}
        assert "nine was not reached by what was explored" in plain(limited)


def test_a_property_that_raises_is_an_error_with_its_line_and_the_others_are_judged():
    @always
    def wrong(world):
        return world["a"].n / world["b"].n >= 0

    @step
    def wrong_step(before, after):
        return before.nothing

    report = run(counting(wrong, wrong_step, at_most(3), two))
    assert report.properties == {
        "wrong": "error",
        "wrong_step": "error",
        "at_most_3": "held",
        "two": "reached",
    }
    assert report.exit_status == 2
    assert "property `wrong` raised ZeroDivisionError: division by zero" in report.errors[0]
    assert "test_check.py:" in report.errors[0]
    assert "node `a` has no field or method `nothing`" in report.errors[1]
    with pytest.raises(PropertyError, match="division by zero"):
        report.assert_holds()


def test_a_violation_outweighs_an_error():
    @always
    def wrong(world):
        raise KeyError("lost")

    report = run(counting(wrong, at_most(1)))
    assert (report.exit_status, len(report.errors), len(report.violations)) == (1, 1, 1)


class Chatty(Service):
    heard: bool = False

    def tell(self):
        self.send("b", "hello")

    @on(str)
    def hear(self, message):
        self.heard = True


def test_faults_are_counted_and_one_that_never_happened_is_said():
    nodes = {"a": Chatty(), "b": Chatty()}
    faults = Faults(drop=1, crash=1, nodes=["a"])
    report = run(System(nodes, calls={"a": [Call("tell")]}, faults=faults))
    assert report.faults.keys() == {"crash", "drop"}
    assert min(report.faults.values()) > 0
    quiet = run(System(nodes, faults=faults))
    assert quiet.faults == {"crash": 1, "drop": 0}
    assert "warning: no drop ever happened" in plain(quiet)
    assert "faults that happened: crash 1" in plain(quiet)


def test_a_report_with_eventually_says_whether_cycles_were_examined():
    @eventually
    def done(world):
        return world["a"].n == 3

    for liveness, said in {"exact": "were examined too", "rest": "were not examined"}.items():
        report = run(counting(done), liveness=liveness)
        assert report.properties == {"done": "held"}
        [note] = report.notes
        assert said in note
        assert said in " ".join(plain(report).split())
    assert run(counting(at_most(3), no_deadlock(unless=done))).notes == ()


def test_liveness_and_deadlock_are_told_apart():
    @eventually
    def never(world):
        return False

    report = run(counting(never, no_deadlock), keep_going=True)
    assert {found.prop: (found.kind, found.steps) for found in report.violations} == {
        "never": ("liveness", 6),
        "no_deadlock": ("deadlock", 6),
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"search": "best"}, "there is no search `best`"),
        ({"depth": 0}, "`depth` is 0"),
        ({"states": 0}, "`states` is 0"),
        ({"threads": 0}, "`threads` is 0"),
        ({"walks": 0}, "`walks` is 0"),
        ({"seconds": -1}, "`seconds` is -1"),
        ({"seconds": float("nan")}, "`seconds` is nan"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, said):
    with pytest.raises(BadSystem, match=said):
        run(counting(), **options)


def test_more_properties_than_fit_are_refused():
    with pytest.raises(BadSystem, match="the system has 64 properties"):
        run(counting(*(at_most(n) for n in range(64))))
    assert len(run(counting(*(at_most(n) for n in range(3, 66)))).properties) == 63


def test_an_error_of_the_system_is_raised_and_a_second_check_is_not_harmed():
    class Impatient(Counter):
        def start(self):
            import time

            time.time()

    with pytest.raises(Impure, match="`time.time`"):
        run(System({"a": Impatient()}))
    assert run(counting(at_most(3))).exit_status == 0


class Line:
    def __init__(self, act=lambda: None):
        self.snapshots = []
        self.act = act

    def update(self, snapshot):
        self.snapshots.append(snapshot)
        self.act()

    def done(self):
        pass


def endless():
    return System(
        {f"n{i}": Counter(most=400) for i in range(4)}, properties=[sometimes(none, name="none")]
    )


def none(world):
    return world["n0"].n < 0


def test_progress_is_told_while_the_search_goes_on():
    line = Line()
    report = run(endless(), seconds=1.0, progress=line)
    assert report.stopped_by == "seconds"
    assert line.snapshots
    uniques = [snapshot.unique for snapshot in line.snapshots]
    assert uniques == sorted(uniques)
    assert 0 < uniques[0] <= report.unique
    assert line.snapshots[-1].properties == {"none": "open"}


def test_ctrl_c_while_progress_is_told_ends_with_a_report():
    line = Line(act=lambda: signal.raise_signal(signal.SIGINT))
    try:
        report = run(endless(), seconds=20, progress=line)
    except KeyboardInterrupt:
        pytest.fail("the report was lost")
    assert (report.stopped_by, report.exhausted) == ("interrupt", False)
    assert report.unique > 0


def test_an_error_of_the_progress_line_is_not_swallowed():
    def fail():
        raise PresageError("the line is broken")

    with pytest.raises(PresageError, match="the line is broken"):
        run(endless(), seconds=20, progress=Line(act=fail))
