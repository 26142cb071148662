"""Text is cut, wrapped and painted for the output it goes to."""

import io

import pytest

from presage.ui.theme import WIDTH_MAX, WIDTH_MIN, WIDTH_WHOLE, Span, Theme, cells


class Stream(io.StringIO):
    """A text stream that says what it is told to say of itself."""

    def __init__(self, *, terminal: bool = True, encoding: str | None = "utf-8") -> None:
        super().__init__()
        self.terminal = terminal
        self._encoding = encoding

    @property
    def encoding(self) -> str | None:  # type: ignore[override]
        return self._encoding

    def isatty(self) -> bool:
        return self.terminal


def test_colour_is_for_terminals_that_want_it() -> None:
    assert Theme.of(Stream(), environ={}).colour
    assert not Theme.of(Stream(terminal=False), environ={}).colour
    assert not Theme.of(Stream(), colour=False, environ={}).colour
    assert not Theme.of(Stream(), environ={"NO_COLOR": "1"}).colour
    assert Theme.of(Stream(), environ={"NO_COLOR": ""}).colour
    assert not Theme.of(Stream(), environ={"TERM": "dumb"}).colour


def test_symbols_are_ascii_where_the_encoding_has_no_others() -> None:
    assert Theme.of(Stream(), environ={}).symbol("holds") == "✓"
    assert Theme.of(Stream(), ascii=True, environ={}).symbol("holds") == "+"
    for encoding in ("ascii", "latin-1", "no-such-encoding", None):
        assert Theme.of(Stream(encoding=encoding), environ={}).symbol("ellipsis") == "..."


@pytest.mark.parametrize(("columns", "width"), [("5", WIDTH_MIN), ("80", 80), ("500", WIDTH_MAX)])
def test_the_width_is_that_of_the_terminal_within_reason(
    monkeypatch: pytest.MonkeyPatch, columns: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert Theme.of(Stream(), environ={}).width == width


def test_a_line_is_cut_to_the_width_however_it_is_painted() -> None:
    spans = Span("abc", "bad"), Span("defgh", "dim"), Span("ij")
    assert Theme(width=10).line(*spans) == "abcdefghij"
    assert Theme(width=6).line(*spans) == "abcde…"
    assert Theme(width=6, ascii=True).line(*spans) == "abc..."
    assert Theme(width=4, ascii=True).line(*spans) == "abc."
    assert Theme(width=6, colour=True).line(*spans) == "\x1b[1;31mabc\x1b[0m\x1b[2mde…\x1b[0m"


def test_text_of_the_checked_system_cannot_move_the_cursor_or_break_a_line() -> None:
    assert Theme().clean("a\x1b[31m\nb\tc\x00é漢") == "a\\x1b[31m b c\\x00é漢"
    assert Theme(ascii=True).clean("é漢") == "\\xe9\\u6f22"


def test_wide_and_combining_characters_are_counted_as_they_are_drawn() -> None:
    assert cells("ab") == 2
    assert cells("漢字") == 4
    assert cells("e\u0301") == 1
    assert Theme(width=5).line(Span("漢字漢字")) == "漢字…"


def test_wrapped_text_is_aligned_and_ends_with_an_ellipsis_when_cut() -> None:
    theme = Theme(width=16)
    assert theme.wrap("why: ", "one two three four") == ["why: one two", "     three four"]
    assert theme.wrap("why: ", "one two three four", lines_max=1) == ["why: one two …"]
    assert theme.wrap("why: ", "one\ntwo") == ["why: one", "     two"]
    assert theme.wrap("why: ", "") == ["why:"]


def test_tables_and_drawings_have_the_whole_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "240")
    assert Theme.of(Stream(), environ={}).width == WIDTH_MAX
    assert Theme.of(Stream(), width_max=WIDTH_WHOLE, environ={}).width == 240
