"""The debugger and explanations on traces of processes."""

import random

import msgspec
import pytest
from mpi.scripts import written
from process.random_programs import random_program
from unit.debug.programs import choosing, claimed, found, ordered, stuck
from unit.debug.samples import drive, saved, session

from presage import check, replay
from presage.cli.target.load import load
from presage.debug.explain import explain
from presage.errors import BadCommand, BadTrace, Diverged
from presage.frontends.mpi import script
from presage.ui.debug.registry import COMMANDS
from presage.ui.explanation import brief
from presage.ui.story import violation_of


def told(program, trace):
    with session(program, trace) as opened:
        return explain(opened, "it fails")


def flat(text):
    return " ".join(text.split())


def test_a_deadlock_is_gone_through_both_ways():
    trace = found(stuck(), "no_deadlock", search="bfs").trace
    text = drive(stuck(), trace, "last", "events", "random", "why", "prev 2", "first", "n", at=0)
    assert "0  the initial state\n        a logs waits at x\n        b logs waits at y\n" in text
    assert "nothing can happen here" in text
    assert "nothing likely would change anything here" in text
    assert "no_deadlock does not hold after step" in text
    assert "a waits for a message at `x`; b waits for a message at `y`" in flat(text)
    assert f"\n>    {len(trace.steps)}  " in text


def test_an_assertion_of_chord_is_shown_where_it_is_raised():
    program = load("simgrid.chord").system
    trace = found(program, "no_exception").trace
    text = drive(
        program,
        trace,
        "critical",
        "list 1..3",
        "diff 1 2",
        "node node 2",
        "prev",
        "node all",
        "filter node:node 1 kind:send",
        "list",
        "filter",
        "grep request",
        "past",
        "graph 1..4",
        "blame node 2.(at)",
        "explain",
    )
    assert "raises AssertionError: the answer is a notify of node 1 at chord.py" in flat(text)
    assert "at chord.py\n" in text
    assert "filter: node:node 1 kind:send" in text
    assert "every step up to here had some influence on it" in text
    assert "no_exception fails at step 15. What is not true is `" in flat(text)
    assert "[delivered 5]" in text
    assert "error:" not in text


def test_a_script_is_debugged_with_what_it_prints(tmp_path):
    lines = (
        "print('rank', rank)\nif rank == 0:\n    comm.recv(source=1)\n    print('got it')\n"
        "    comm.recv(source=1)\nelse:\n    comm.send('x', dest=0)\n"
    )
    program = script(written(tmp_path, lines), 2)
    trace = found(program, "no_deadlock").trace
    text = drive(
        program,
        trace,
        "grep got",
        "why",
        "explain",
        "node rank 1",
        "save log TMP/log",
        folder=tmp_path,
        at=len(trace.steps),
    )
    assert "logs got it" in text and "logs got it" in (tmp_path / "log").read_text()
    assert "rank 0 waits in recv(source=1" in text and "rank 1 has ended" in flat(text)
    assert "is the last that could happen." in flat(text)
    assert "0  the initial state\n        rank 0 logs rank 0\n" in drive(program, trace)


@pytest.mark.slow
def test_every_way_is_listed_in_the_words_it_is_then_told_in():
    trace = found(choosing(), "no_exception").trace
    with session(choosing(), trace) as opened:
        names = [str(option.event) for option in opened.options() if option.event.node == "chooser"]
        assert names == ["0 of 3", "1 of 3", "2 of 3"]
    rng = random.Random(7)
    for seed in range(40):
        program = random_program(seed)
        with session(program, first_trace(program)) as opened:
            for _ in range(30):
                options = opened.options()
                if not options:
                    break
                option = rng.choice(options)
                step = opened.take(option.taken)
                words = (option.event.node, option.event.kind, option.event.label)
                assert (step.node, step.kind, step.label) == words
            again = replay(program, opened.as_trace())
            assert [each.fingerprint for each in again.steps] == [
                each.fingerprint for each in opened.here.steps
            ]


def first_trace(program):
    return check(program, traces=None).violations[0].trace


def test_branches_are_made_kept_and_left():
    trace = found(ordered(), "no_exception").trace
    text = drive(
        ordered(),
        trace,
        "take 0",
        "random",
        "random",
        "branches",
        "switch main",
        "branch mine",
        "events",
        "1",
        "branches",
    )
    assert "on a new branch, b1; `switch main` goes back" in text
    assert "> b1: 3 steps, parts from main after step 2" in text
    assert "> mine: 4 steps, parts from main after step 3" in text


def test_what_was_published_can_be_waited_for_and_blamed():
    trace = found(claimed(), "in_order").trace
    text = drive(
        claimed(),
        trace,
        "until len(server.seen or ()) == 1",
        "until world['server'].seen == (2, 1)",
        "blame server.seen",
        "why",
        "explain",
        "back until 'server' not in at",
        "jump 0",
        "until 'client 2' in ended",
        "until mailboxes",
        "until server.seen.append(1)",
        "help until",
    )
    assert "M server.seen  (2,) -> (2, 1)" in text
    assert "\n  ✓ len(seen) < 9\n  ✗ list(seen) == sorted(seen): list(seen) is [2, 1]" in text
    assert "in_order does not hold after step" in text
    assert "What is not true is `list(seen) == sorted(seen)`" in flat(text)
    assert "here: until 'server' in ended" in text
    assert "it raised AttributeError" in flat(text)


def test_what_is_for_services_is_refused_in_one_line():
    trace = found(stuck(), "no_deadlock").trace
    of_services = [each.name for each in COMMANDS.values() if each.of_services]
    assert {"drop", "crash", "cut", "heal", "live", "calm"} <= set(of_services)
    for name in of_services:
        text = drive(stuck(), trace, f"{name} a").splitlines()
        assert text[-2] == f"error: `{name}` is for services: processes have no faults"
    assert "crash NODE" not in drive(stuck(), trace, "help")


def test_files_notes_and_pages(tmp_path):
    trace = found(stuck(), "no_deadlock").trace
    path = saved(trace, tmp_path)
    text = drive(
        stuck(),
        trace,
        "note look here",
        "notes",
        "save path TMP/p.trace",
        "save trace TMP/t.trace",
        "save test TMP/test_it.py",
        "save graph TMP/g.txt",
        "diff 0 --with TMP/t.trace:2",
        "report",
        folder=tmp_path,
        at=1,
        path=path,
        report=lambda: "page.html",
    )
    assert "noted at step 1, in TMP/a.trace" in text and "     1  look here" in text
    assert "page: page.html" in text and "differ" in text
    assert {"p.trace", "t.trace", "test_it.py", "test_it.trace", "g.txt"} <= {
        each.name for each in tmp_path.iterdir()
    }


def test_a_program_that_was_edited_is_found_out():
    trace = found(ordered(), "no_exception").trace
    steps = list(trace.steps)
    steps[2] = msgspec.structs.replace(steps[2], fingerprint=1)
    with session(ordered(), msgspec.structs.replace(trace, steps=tuple(steps))) as opened:
        opened.jump(2)
        with pytest.raises(Diverged, match="step 3"):
            opened.jump(4)
        assert opened.step == 2
        opened.jump(1)
    with pytest.raises(Diverged, match="the initial state"), session(stuck(), trace):
        pass
    steps[2] = msgspec.structs.replace(trace.steps[2], choices=((9, 10),))
    with session(ordered(), msgspec.structs.replace(trace, steps=tuple(steps))) as opened:
        with pytest.raises(BadTrace, match="not possible any more"):
            opened.jump(4)
        with pytest.raises(BadCommand):
            opened.select("nobody")


def test_steps_that_do_not_matter_are_left_out_of_explanations():
    violation = found(stuck(), "no_deadlock", search="bfs")
    explained = told(stuck(), violation.trace)
    assert explained.needed.complete and "a waits for a message at `x`" in explained.text
    late = padded(ordered(3), found(ordered(3), "no_exception").trace)
    explained = told(ordered(3), late)
    assert len(explained.needed.steps) == len(late.steps) - 1
    assert "without any one of them it does not come to this" in explained.text
    assert "What is not true is `seen == sorted(seen)`" in explained.text
    assert "only" in brief(ordered(3), violation_of(late))


def padded(program, trace):
    """The trace with a step of a client before its last one, if one is possible there."""
    with session(program, trace) as opened:
        opened.jump(len(trace.steps) - 1)
        node = trace.steps[-1].node
        spare = next(o for o in opened.options() if o.event.node != node)
        last = opened.here.taken(len(trace.steps))
        opened.take(spare.taken)
        opened.take(last)
        return opened.as_trace()
