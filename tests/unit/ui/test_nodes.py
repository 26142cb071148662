"""The table of running nodes."""

from presage.ui import nodes
from presage.ui.theme import Theme

RUNS = {"running": True, "pid": 7, "steps": 3, "life": 1}


def test_nodes_that_look_ahead_have_two_more_numbers():
    counts = {"predicted": 4, "filtered": 2, "refused": 3}
    plain = nodes.render({"n0": RUNS}, Theme(width=120))
    assert "ahead" not in plain
    steered = nodes.render(
        {"n0": RUNS | {"steering": counts}, "n1": {"status": -9}}, Theme(width=120)
    )
    title, first, second = steered.splitlines()
    assert title.split()[-3:] == ["ahead", "kept", "out"]
    assert first.split()[-2:] == ["4", "5"]
    assert "ended, SIGKILL" in second


def test_on_a_narrow_terminal_columns_stand_closer_and_none_is_lost():
    counts = {"predicted": 4, "filtered": 2, "refused": 3}
    seen = {"n00": RUNS | {"pid": 123456, "steering": counts}, "n01": {"status": -9}}
    wide, narrow = (nodes.render(seen, Theme(width=width)) for width in (120, 80))
    assert [line.split() for line in narrow.splitlines()] == [
        line.split() for line in wide.splitlines()
    ]
    assert max(map(len, narrow.splitlines())) <= 80 < max(map(len, wide.splitlines()))
