"""The debugger on every kind of trace, and what it can do beyond MaceMC's."""

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from unit.debug.samples import (
    drive,
    failing,
    found,
    lossy,
    ordered,
    saved,
    session,
    stuck,
)

from presage.errors import BadCommand
from presage.trace import codec
from presage.ui.debug.console import Console
from presage.ui.debug.pages import Pager, keep, remember
from presage.ui.debug.registry import COMMANDS, LETTERS, resolve
from presage.ui.theme import Theme

Compare = Callable[[str, str], None]
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def last_lines(text: str, count: int) -> list[str]:
    return text.rstrip("\n").splitlines()[-count - 1 : -1]


def test_an_exception_is_shown_where_it_was_raised() -> None:
    trace = found(failing(), "no_exception")
    text = " ".join(drive(failing(), trace, "critical", "why", "explain").split())
    assert ">    6  client".replace("    ", " ").replace("  ", " ") in text
    assert "raises RuntimeError: one answer was enough" in text
    assert "no_exception does not hold after step 6: RuntimeError: one answer was enough" in text
    assert "Each of the 6 steps matters. No fault happened." in text


def test_a_deadlock_has_nothing_to_choose_from(snapshot: Compare) -> None:
    trace = found(stuck(), "no_deadlock")
    snapshot("debug-deadlock", drive(stuck(), trace, "last", "events", "random", "live", "why"))


def test_a_lasso_is_gone_round_on_live_code(snapshot: Compare) -> None:
    trace = found(lossy(), "served")
    text = drive(lossy(), trace, "last", "n", "n 2", "critical", "p", "live", "explain", "report")
    snapshot("debug-lasso", text)


def test_a_live_path_can_be_walked_and_has_nothing_to_explain() -> None:
    with session(ordered(1), found(ordered(1), "all_answered")) as opened:
        opened.jump(6)
        opened.live()
        live = opened.as_trace()
    assert (live.kind, live.message) == ("live", "holds again after 9 steps")
    text = drive(ordered(1), live, "last", "critical", "explain")
    assert text.startswith("Client: all_answered holds again after 9 steps\n")
    assert "no step of this trace is critical: it is a live path" in text
    assert "error: a live path breaks nothing" in text


def test_faults_by_hand_say_whether_the_system_allows_them(
    snapshot: Compare, tmp_path: Path
) -> None:
    trace = found(ordered(1), "all_answered")
    within = ("events", "drop 0", "switch main", "drop 99")
    beyond = ("crash server", "events", "restart server", "save trace TMP/x.trace", "crash nobody")
    others = ("reset client", "duplicate 0", "heal", "wake server", "slow server", "wake server")
    text = drive(
        ordered(1),
        trace,
        *within,
        *beyond,
        *others,
        "silent client",
        "cut a",
        at=3,
        folder=tmp_path,
    )
    snapshot("debug-faults", text)


def test_until_and_back_until_stop_where_an_expression_is_true(snapshot: Compare) -> None:
    trace = found(ordered(), "in_order")
    forward = ("until server.largest == 2", "until client.up and False", "until 1 +")
    bad = ('until world["x"]', "until client.nothing", "until client.answers[0] == 2", "until")
    back = (
        "back until server.largest == 0",
        "back until world.messages(Ask)",
        "until client.send(1)",
    )
    snapshot("debug-until", drive(ordered(), trace, "t off", *forward, *bad, *back))


def test_blame_names_the_step_that_wrote_a_value_and_enter_jumps_there(snapshot: Compare) -> None:
    trace = found(ordered(), "in_order")
    commands = ("blame server.largest", "", "", "blame client.answers", "blame client.answers[0]")
    bad = ("blame", "blame nobody.x", "blame client.x", "blame server.up", "past", "past 0")
    snapshot("debug-blame", drive(ordered(), trace, "t off", *commands, *bad, at=6))


def test_why_takes_the_property_apart_and_explain_tells_it_all(snapshot: Compare) -> None:
    trace = found(ordered(), "in_order")
    commands = ("why", "why all_answered", "why no_exception", "why nonsense", "explain", "jump 3")
    snapshot("debug-why", drive(ordered(), trace, *commands, "why", at=6))


def test_notes_stay_in_the_file_of_the_trace(tmp_path: Path) -> None:
    trace = found(ordered(), "in_order")
    path = saved(trace, tmp_path)
    commands = ("notes", "note the server is fine", "n", "note", "take 0", "note on a branch")
    text = drive(ordered(), trace, *commands, "switch main", "notes", at=3, path=path)
    assert "there are no notes" in text
    assert f"noted at step 3, in {path}" in text
    assert "error: notes belong to the trace, and this is a branch" in text
    assert "     3  the server is fine\n" in text
    assert codec.read(path).notes == ((3, "the server is fine"),)
    assert "note: the server is fine" in drive(ordered(), codec.read(path), "list", at=3)


def test_a_saved_test_and_a_saved_branch_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from presage import replay

    monkeypatch.chdir(tmp_path)
    trace = found(ordered(), "in_order")
    drive(ordered(), trace, "save test test_it.py", "jump 3", "take 0", "save trace b.trace")
    assert "test_in_order_is_not_broken" in Path("test_it.py").read_text()
    assert replay(ordered(), codec.read("test_it.trace")).message is not None
    branch = codec.read("b.trace")
    assert (len(branch.steps), replay(ordered(), branch).message) == (4, None)
    text = drive(ordered(), trace, "save log \0")
    assert "error: " in text


def test_every_command_has_a_letter_or_a_unique_beginning_and_an_example_that_works() -> None:
    assert set(LETTERS.values()) - set(COMMANDS) == {
        "diff --with",
        "filter +",
        "filter -",
        "filter node:",
        "filter -node:",
    }
    assert resolve("cri")[0].name == "critical"
    assert resolve("br")[0].name == "branch"
    assert resolve("i Ask") == (COMMANDS["filter"], "+Ask")
    assert resolve("E n2") == (COMMANDS["filter"], "-node:n2")
    assert resolve("m a.trace") == (COMMANDS["diff"], "--with a.trace")
    assert resolve("3") == (COMMANDS["take"], "3")
    with pytest.raises(BadCommand, match="`re` may be"):
        resolve("re")
    trace = found(ordered(1), "all_answered")
    skipped = {"save", "report", "restart", "heal", "wake", "cut", "silent", "quit"}
    for name, command in COMMANDS.items():
        with session(ordered(1), trace) as opened:
            opened.jump(6)
            console = Console(opened, Theme(), stdin=io.StringIO(), stdout=io.StringIO())
            example = command.example(console)
            assert resolve(example)[0].name == name
            if name not in skipped:
                console.onecmd(example)
                assert not console.failed, (name, console.stdout.getvalue())


def test_help_lists_every_command_and_shows_one_at_work_here(snapshot: Compare) -> None:
    trace = found(ordered(), "in_order")
    snapshot("debug-help", drive(ordered(), trace, "help", "h blame", "help until", "help x", at=6))


def test_colour_only_adds_to_the_text_and_ascii_is_ascii() -> None:
    trace = found(ordered(1), "all_answered")
    commands = ("events", "why", "list", "diff 2 7", "graph", "props", "help", "explain")
    plain = drive(ordered(1), trace, *commands, at=7)
    coloured = drive(ordered(1), trace, *commands, at=7, theme=Theme(width=80, colour=True))
    assert ANSI.sub("", coloured) == plain
    assert "\x1b[" in coloured
    assert drive(ordered(1), trace, *commands, at=7, theme=Theme(width=80, ascii=True)).isascii()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    trace = found(ordered(1), "all_answered")
    commands = ("events", "why", "list", "diff 2 7", "props", "past", "explain", "show 5")
    text = drive(ordered(1), trace, *commands, at=7, theme=Theme(width=width))
    assert max(len(line) for line in text.splitlines()) <= width


def test_long_output_is_turned_page_by_page() -> None:
    out, source = io.StringIO(), io.StringIO("\nq\n")
    left = Pager(2).turn(["a", "b", "c", "d", "e", "f"], out, source)
    assert left == []
    assert out.getvalue() == (
        "a\nb\n-- 4 more lines; Enter goes on, q stops -- "
        "c\nd\n-- 2 more lines; Enter goes on, q stops -- "
    )
    assert Pager(9).turn(["a"], out, source) == ["a"]


def test_what_was_typed_is_remembered_where_there_is_a_line_editor(tmp_path: Path) -> None:
    path = remember({"XDG_STATE_HOME": str(tmp_path)})
    keep(path)
    keep(None)
    assert path is not None
    assert path.is_file()


def test_completion_knows_commands_nodes_fields_and_branches() -> None:
    with session(ordered(), found(ordered(), "in_order")) as opened:
        console = Console(opened, Theme(), stdin=io.StringIO(), stdout=io.StringIO())
        assert console.completenames("bl") == ["blame "]
        assert console.completedefault("server.", "blame server.", 6, 13) == [
            "server.largest",
            "server.timers",
            "server.up",
        ]
        assert console.completedefault("ma", "switch ma", 7, 9) == ["main"]


def test_an_interrupt_takes_back_one_command_only(monkeypatch: pytest.MonkeyPatch) -> None:
    with session(ordered(), found(ordered(), "in_order")) as opened:
        out = io.StringIO()
        console = Console(opened, Theme(), stdin=io.StringIO(), stdout=out)
        monkeypatch.setattr(
            opened, "forward", lambda count: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        assert console.onecmd("next") is False
        assert out.getvalue() == "interrupted\n"
