"""A simulation as text, at the usual widths, with and without colour, and for other programs."""

import time

import pytest
from simulate.talking import GF, MB, compute, get, pair, put, rest, single

from presage import Process, Program, simulate
from presage.process.context import current
from presage.process.ops import Choose
from presage.simulate.result import Interval, Line, Simulation, Timeline, Transfer, Usage
from presage.ui.theme import Theme
from presage.ui.timeline import render


def master(workers, rounds):
    for turn in range(rounds):
        for worker in workers:
            put(worker, turn)
        for _ in workers:
            get("results")
        print(f"round {turn} done")


def worker(name, rounds):
    for _ in range(rounds):
        get(name)
        compute(GF * (1 + current().ask(Choose(3)).choice))
        time.sleep(0.25)
        put("results", size=MB / 4)


@pytest.fixture(scope="module")
def farm():
    names = ["w0", "w1", "w2"]
    platform = {
        "hosts": {name: {"speed": GF, "uplink": f"up-{name}"} for name in ["m", *names]},
        "links": {f"up-{name}": {"bandwidth": MB, "latency": 1e-3} for name in ["m", *names]},
        "default_route": {"links": []},
    }
    bodies = {"master": Process(master, names, 2)}
    bodies |= {name: Process(worker, name, 2) for name in names}
    return simulate(Program(bodies, name="farm"), platform, seed=3)


@pytest.mark.parametrize("width", [80, 120])
def test_a_farm(farm, snapshot, width):
    text = render(farm, Theme(width=width))
    assert max(map(len, text.splitlines())) <= width
    snapshot(f"farm-{width}", text)


def test_a_farm_in_colour_and_in_ascii(farm, snapshot):
    snapshot("farm-colour", render(farm, Theme(width=80, colour=True)))
    plain = render(farm, Theme(width=80, ascii=True))
    assert plain == render(farm, Theme(width=80)) and plain.isascii()


def test_a_deadlock_and_a_failure(snapshot):
    deadlock = Program({"one": Process(get, "left"), "two": Process(put, "right")}, name="stuck")
    snapshot("deadlock", render(simulate(deadlock, pair()), Theme(width=80), title="stuck.py"))

    def wrong():
        rest(2.0)
        raise ValueError("a reason")

    text = render(simulate(Program({"wrong": wrong}, name="wrong"), single()), Theme(width=80))
    assert text.startswith("failed at 2 s: wrong\n") and "ValueError: a reason" in text


def test_a_run_that_was_stopped():
    program = Program({"endless": Process(rest, 9.0)}, name="long")
    lines = render(simulate(program, single(), until=3.0), Theme(width=80)).splitlines()
    assert lines[0] == "stopped at 3 s: long"
    assert lines[-1].endswith("100.0 %  later")


def many(count):
    """More of everything than is drawn, with text that tries to break out."""
    lines = tuple(
        Timeline(f"p{at}\x1b[2J", "h\n", 0.0, None, False, (Interval("compute", 0.0, 1.0),))
        for at in range(count)
    )
    usages = tuple(Usage(f"l{at}", 1e9, 0.5, 0.5) for at in range(count))
    log = tuple(Line(at / count, f"p{at}\x1b[2J", f"line {at}\x07") for at in range(count))
    transfers = (Transfer("box", lines[0].process, lines[1].process, 1.0, 0.0, None),)
    return Simulation(
        *("many", "x.toml", "finished", "", 1.0, 0, 1, 2),
        *(lines, transfers, usages, (Usage("h\n", 0.0, 0.0, 0.0),), log, ()),
    )


def test_much_of_everything_is_cut_and_hostile_text_is_only_text():
    text = render(many(100), Theme(width=80))
    assert "\x1b" not in text and "\x07" not in text
    for told in ("60 more processes", "60 more links", "80 more lines before"):
        assert told in text
    assert "1 choice drawn with seed 0" in text and "2 tests failed while" in text
    assert max(map(len, text.splitlines())) <= 80
