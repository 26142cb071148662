"""Progress is redrawn on a terminal, logged elsewhere, and costs a short run nothing."""

import io
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from presage.ui.progress import Limits, Progress
from presage.ui.theme import Theme

Compare = Callable[[str, str], None]


@dataclass
class Snapshot:
    unique: int = 12_960
    generated: int = 41_208
    depth: int = 9
    seconds: float = 8.4
    frontier: int = 311
    walks: int = 0
    handler_runs: int = 512
    properties: dict[str, str] = field(
        default_factory=lambda: {"one_root": "open", "seen": "reached", "loops": "violated"}
    )
    resumed_from: int = 0
    checkpoints: int = 0
    right: int = 0
    delays: int = 0
    suspect: int | None = None


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def progress(stream: io.StringIO, **more: Any) -> Progress:
    return Progress(stream, Theme(width=120), "RandTree", "4 nodes, bfs", **more)


@pytest.mark.parametrize(("width", "ascii"), [(80, False), (120, False), (120, True)])
def test_three_lines_tell_whether_waiting_pays(snapshot: Compare, width: int, ascii: bool) -> None:
    theme = Theme(width=width, ascii=ascii)
    shown = Progress(io.StringIO(), theme, "RandTree", "4 nodes, bfs", limits=Limits(depth=12))
    lines = shown.lines(Snapshot())
    assert len(lines) == 3
    snapshot(f"progress-{'ascii-' * ascii}{width}", "\n".join(lines))


def grown(shown: Progress, sizes: list[int]) -> Snapshot:
    """Let `shown` hear of levels of these sizes; gives the last snapshot."""
    unique = 0
    for depth, size in enumerate(sizes, 1):
        unique += size
        shown.update(Snapshot(depth=depth, unique=unique, seconds=depth * 1.0))
    return Snapshot(depth=len(sizes), unique=unique, seconds=len(sizes) * 1.0)


def test_levels_that_keep_growing_are_too_large_to_exhaust() -> None:
    shown = progress(io.StringIO(), estimates=True)
    last = grown(shown, [3**depth for depth in range(1, 15)])
    advice = "try `--search delay` or `presage hunt`; docs/howto/deep-bugs.md says what else helps"
    told = f"too large to exhaust: the levels keep growing; {advice}"
    assert shown.line(last).endswith(told)
    assert "too large to exhaust" in shown.lines(last)[-1]
    assert "too large" not in progress(io.StringIO()).line(last)


def test_levels_whose_growth_slows_down_tell_about_how_much_is_left() -> None:
    sizes = [round(1e9 * 2 ** -(((depth - 40) / 7) ** 2)) for depth in range(41)]
    shown = progress(io.StringIO(), estimates=True)
    last = grown(shown, sizes[10:20])
    assert "too large to exhaust: about " in shown.line(last)
    assert " states, " in shown.line(last) and " to go; try " in shown.line(last)


def test_a_search_near_its_end_is_not_called_too_large() -> None:
    sizes = [round(1e5 * 2 ** -(((depth - 20) / 5) ** 2)) for depth in range(28)]
    shown = progress(io.StringIO(), estimates=True)
    assert "too large" not in shown.line(grown(shown, sizes[8:]))
    early = progress(io.StringIO(), estimates=True)
    assert "too large" not in early.line(grown(early, [3, 9, 27]))


def test_what_a_limit_of_time_leaves_no_room_for_is_too_large_too() -> None:
    sizes = [round(1e5 * 2 ** -(((depth - 20) / 5) ** 2)) for depth in range(18)]
    shown = progress(io.StringIO(), estimates=True, limits=Limits(seconds=11))
    assert "too large to exhaust: about " in shown.line(grown(shown, sizes[8:]))


def test_a_hunt_tells_how_many_walks_came_right_and_where_it_locates() -> None:
    shown = progress(io.StringIO(), limits=Limits(walks=10_000), walked=True)
    told = "checking RandTree: 3/10,000 executions, 41,208 transitions, 4,906/s, 7 walks recovered"
    assert shown.line(Snapshot(walks=3, right=7)) == f"{told}, 8 s"
    told = "locating the critical transition, at step 9 of 204, 41,208 transitions, 8 s"
    assert shown.line(Snapshot(suspect=204)) == f"checking RandTree: {told}"


def test_a_search_by_delays_tells_how_many_are_allowed() -> None:
    shown = progress(io.StringIO(), by_delays=True).lines(Snapshot(delays=3))
    assert any("delays 3" in line and "12,960 states" in line for line in shown)
    assert not any("depth" in line for line in shown)


def test_walks_tell_how_many_executions_are_done() -> None:
    shown = progress(io.StringIO(), limits=Limits(walks=10_000), walked=True)
    hunting = Snapshot(walks=2_500, frontier=0)
    told = "checking RandTree: 2,500/10,000 executions, 41,208 transitions, 4,906/s, 8 s"
    assert shown.line(hunting) == told
    assert shown.lines(hunting)[1] == (
        "  2,500/10,000 executions  "
        + "━" * 5
        + "─" * 15
        + "  41,208 transitions  4,906/s  0:00:08"
    )


def test_without_a_terminal_a_line_is_written_every_ten_seconds() -> None:
    stream = io.StringIO()
    shown = progress(stream)
    for tenth in range(250):
        shown.update(Snapshot(seconds=tenth / 10))
    shown.done()
    assert [line.rsplit(", ", 1)[1] for line in stream.getvalue().splitlines()] == ["10 s", "20 s"]
    assert stream.getvalue().startswith(
        "checking RandTree: depth 9, 12,960 states, 4,121/s, 69% seen before, 311 waiting, 10 s\n"
    )


def test_on_a_terminal_at_most_four_drawings_a_second_and_none_remains() -> None:
    stream = Terminal()
    shown = progress(stream, live=True)
    drawn = 0
    for hundredth in range(200):
        before = stream.tell()
        shown.update(Snapshot(seconds=hundredth / 100))
        drawn += stream.tell() > before
    assert 1 <= drawn <= 8
    assert "checking RandTree" in stream.getvalue()
    shown.done()
    shown.done()
    assert stream.getvalue().rstrip().endswith("\x1b[2K")  # the last line is erased


def test_a_reader_that_has_gone_away_does_not_stop_the_search() -> None:
    class Gone(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    progress(Gone()).update(Snapshot(seconds=11))


def test_the_bar_follows_the_nearest_limit() -> None:
    assert Limits().share(Snapshot()) is None
    assert Limits(depth=18, seconds=10).share(Snapshot()) == pytest.approx(0.84)
    assert Limits(states=100).share(Snapshot()) == 1.0


def test_no_division_by_nothing_at_the_start() -> None:
    shown = progress(io.StringIO())
    nothing = Snapshot(unique=0, generated=0, depth=0, seconds=0.0, properties={})
    assert len(shown.lines(nothing)) == 2
    assert "0/s, 0% seen before" in shown.line(nothing)


def test_rich_is_not_imported_before_the_first_drawing() -> None:
    program = """
import io, sys
from presage.ui.progress import Progress
from presage.ui.theme import Theme
from types import SimpleNamespace as Snapshot
shown = Progress(io.StringIO(), Theme(), "t", "s", live=True)
shown.update(Snapshot(seconds=0.1))
shown.done()
import presage.ui.violation, presage.ui.summary, presage.ui.story, presage.ui.systems
assert not any(name.split(".")[0] == "rich" for name in sys.modules), "rich"
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_search_that_is_kept_tells_where_it_began_and_what_is_safe() -> None:
    shown = progress(io.StringIO())
    assert shown.line(Snapshot(checkpoints=1)).endswith(", 8 s, 1 checkpoint")
    kept = Snapshot(resumed_from=5_000, checkpoints=2)
    assert shown.line(kept).endswith(", resumed from 5,000, 2 checkpoints")
    assert "resumed from 5,000  2 checkpoints" in "\n".join(shown.lines(kept))
