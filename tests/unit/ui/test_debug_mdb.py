"""What MaceMC's debugger could do, each ability driven as text: commands in, a transcript out."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from unit.debug.samples import drive, found, ordered, saved

from presage.trace.trace import Trace

Compare = Callable[[str, str], None]


@cache
def overtaken() -> Trace:
    """Six steps; the last one breaks `in_order`."""
    return found(ordered(), "in_order")


@cache
def lost() -> Trace:
    """A message is lost at step 7, the critical transition."""
    return found(ordered(drop=1), "all_answered")


def compare(snapshot: Compare, name: str, *commands: str, at: int = 0) -> None:
    snapshot(f"debug-{name}", drive(ordered(), overtaken(), *commands, at=at))


def test_1_steps_forward_and_backward_and_enter_repeats(snapshot: Compare) -> None:
    compare(snapshot, "steps", "next", "", "n 2", "prev", "", "p 9", "p", "next 99")


def test_2_jumps_to_a_step_to_the_ends_and_to_the_critical_step(snapshot: Compare) -> None:
    compare(snapshot, "jumps", "jump 4", "first", "last", "j 0", "critical", "jump 7", "jump x")


def test_3_steps_and_lists_one_node_alone(snapshot: Compare) -> None:
    commands = ("node server", "n", "n", "p", "list 1..6", "w all", "n", "node nobody")
    compare(snapshot, "node", *commands)


def test_4_filters_highlights_and_searches_by_regular_expressions(snapshot: Compare) -> None:
    filters = ("i Answer", "list 0..6", "e Answer", "list 0..6", "filter node:client -kind:action")
    searches = (
        "list 0..6",
        "filter",
        "find number=2",
        "show 4",
        "find",
        "x sends",
        "grep (",
        "t off",
    )
    compare(snapshot, "filters", *filters, *searches, "n", "props", at=3)


def test_5_tells_what_differs_between_steps_and_between_traces(
    snapshot: Compare, tmp_path: Path
) -> None:
    saved(lost(), tmp_path, "lost.trace")
    text = drive(ordered(), overtaken(), "diff 2 6", "d 6 6", "diff", "diff 2 x", at=6)
    snapshot("debug-diff", text)
    commands = ("m TMP/lost.trace:2", "diff 7 --with TMP/lost.trace:6", "m", "m TMP/lost.trace:9")
    text = drive(ordered(drop=1), lost(), *commands, at=4, folder=tmp_path)
    snapshot("debug-diff-with", text)


def test_6_lists_what_can_happen_next_and_takes_it_by_hand_or_by_chance(
    snapshot: Compare,
) -> None:
    text = drive(ordered(drop=1), lost(), "events", "take 1", "a", "0", "r", "", "take 99", at=5)
    snapshot("debug-events", text)


def test_7_runs_on_calmly_until_all_is_well_or_says_that_no_walk_got_there(
    snapshot: Compare,
) -> None:
    commands = ("R", "prev", "live", "switch main", "diff live", "G", "live walks=x", "live y=1")
    snapshot("debug-live", drive(ordered(drop=1), lost(), *commands, at=7))


def test_8_branches_and_keeps_paths_logs_and_event_graphs(
    snapshot: Compare, tmp_path: Path
) -> None:
    commands = ("B mine", "take 0", "branches", "branch mine", "switch main", "graph 1..4")
    kept = ("save path TMP/p.trace", "save log TMP/l.txt", "save graph TMP/g.txt", "save x y")
    text = drive(
        ordered(), overtaken(), *commands, "switch mine", *kept, "save", at=3, folder=tmp_path
    )
    snapshot("debug-branches", text)
    snapshot("debug-log", (tmp_path / "l.txt").read_text())
    assert "*" in (tmp_path / "g.txt").read_text()
