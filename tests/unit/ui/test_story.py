"""A replayed trace is told in full: what every step sent, recorded, logged and changed."""

from collections.abc import Callable

import msgspec
import pytest
from unit.ui.samples import join, trace

from presage.trace.trace import Sent, Trace
from presage.ui.story import render
from presage.ui.theme import Theme

Compare = Callable[[str, str], None]


@pytest.mark.parametrize("width", [80, 120])
def test_a_reproduced_violation_tells_every_step(
    short_trace: Trace, snapshot: Compare, width: int
) -> None:
    text = render(short_trace, Theme(width=width), message=short_trace.message)
    snapshot(f"story-{width}", text)


def test_a_trace_that_no_longer_violates_says_so(short_trace: Trace, snapshot: Compare) -> None:
    snapshot("story-holds-80", render(short_trace, Theme(), message=None))


def test_a_loop_is_told_with_how_often_it_was_gone_round() -> None:
    steps = [join(index, "n0", "n1") for index in range(1, 4)]
    story = trace(steps, kind="liveness", loop=2, fairness="weak", dead=True, critical=1)
    text = render(story, Theme(), message="n1 waits", rounds=1)
    assert "one_root never holds again after step 1" in text
    assert ">    1  n1  deliver    Join(ttl=3) n0 -> n1   critical transition\n" in text
    assert "     2  n1  deliver    Join(ttl=3) n0 -> n1   repeats from here\n" in text
    assert "loop: repeats from step 2, fairness assumed: weak" in text
    assert text.endswith("reproduced: 3 steps, the loop 1 more time, every state the same")


@pytest.mark.parametrize(
    ("message", "last"),
    [
        ("holds again after 3 steps", "reproduced: 3 steps, every state the same"),
        (None, "not reproduced: one_root does not hold after the same 3 steps"),
    ],
)
def test_a_live_path_is_no_violation(message: str | None, last: str) -> None:
    steps = [join(index, "n0", "n1") for index in range(1, 4)]
    story = trace(steps, kind="live", message="holds again after 3 steps")
    lines = render(story, Theme(), message=message).splitlines()
    assert lines[0] == "replay of a trace in which one_root holds again after 3 steps"
    assert not any(line.startswith(">") or "why" in line for line in lines)
    assert lines[-1] == last


def test_nothing_is_folded(long_trace: Trace) -> None:
    text = render(long_trace, Theme(), message="why")
    assert all(f"{index:>5}  n" in text for index in range(1, 201))


def test_a_message_too_long_for_its_row_is_told_below_it() -> None:
    detail = f"Join(path={'x' * 40!r})"
    story = trace([join(1, "n0", "n1", detail=detail, failure="ValueError: no")])
    text = render(story, Theme(), message="why")
    assert f"deliver    {detail[:40]}" in text
    assert "…') n0 -> n1\n" in text
    assert f"   {detail}\n" in text
    assert "raises ValueError: no" in text


def test_a_bad_initial_state_is_a_story_of_no_steps() -> None:
    story = msgspec.structs.replace(trace([]), message="two roots")
    text = render(story, Theme(), message="two roots")
    assert "one_root fails in the initial state" in text
    assert "reproduced: 0 steps" in text


def test_nothing_is_cut_everything_goes_on_below() -> None:
    message = f"Join(path={[f'n{at}' for at in range(40)]})"
    before, after = "[]", f"{list(range(30))}"
    told = join(
        1, "n0", "n1", detail=message, sends=(Sent("n1", "n2", message),), logs=("word " * 40,),
        records=(f"Return(value={list(range(50))})",), changes={"n1": {"path": (before, after)}},
    )  # fmt: skip
    text = render(trace([told]), Theme(), message="why")
    assert max(map(len, text.splitlines())) <= 80
    flat = " ".join(text.split())
    assert f"sends {message} -> n2" in flat
    assert "deliver Join(path=[" in flat and f"n0 -> n1 {message} sends" in flat
    assert f"n1.path [] -> {after}" in flat
    assert "word " * 39 in flat and "48, 49])" in flat


def test_a_remark_goes_below_rather_than_hide_a_destination() -> None:
    told = join(1, "sender one", "receiver two", detail=f"Join(path={'n0 ' * 40})")
    story = trace([told], kind="liveness", critical=1, dead=True, recovery=((1, 0, 60),))
    lines = render(story, Theme(), message="why").splitlines()
    [at] = [at for at, line in enumerate(lines) if line.startswith(">")]
    assert lines[at].endswith("sender one -> receiver two")
    assert lines[at + 1].strip() == "0% recover, critical transition"
