"""In a notebook: reports, pages and progress, with all that is foreign escaped."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import presage
from presage import Service, System, Verdict, action, always, check, page, progress
from presage.errors import BadTrace
from presage.search.progress import Snapshot
from presage.ui.progress import Progress


class Counter(Service):
    count: int = 0

    @action(when=lambda self: self.count < 2)
    def increment(self) -> None:
        self.count += 1


@always
def small(world) -> Verdict:
    return Verdict(world["n<0>"].count < 2, "<script>alert('&')</script>")


def system() -> System:
    return System({"n<0>": Counter()}, properties=[small], name="a <b>")


class Tags(HTMLParser):
    """Every tag that is opened and not closed again."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.met: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.met.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_report_is_shown_with_what_broke_and_nothing_foreign_is_obeyed() -> None:
    report = check(system(), traces=None)
    shown = report._repr_html_()
    tags = Tags(shown)
    assert not tags.open and tags.met == {"div", "p", "b", "br", "small", "table", "tr", "td"} | {
        *("details", "summary", "pre", "code")
    }
    assert "&lt;script&gt;" in shown and "small fails at step 2" in shown
    assert "✗" in shown and "presage.page(system, report)" in shown


def test_texts_for_people_are_short() -> None:
    report = check(system(), traces=None)
    assert repr(report).startswith("<Report of a <b>: 1 violation; 3 states, ")
    assert repr(report.violations[0]) == "<Violation: small fails at step 2>"
    assert repr(presage.Program({"main": print})) == "Program(builtins: main)"


def test_a_page_is_made_of_a_report_a_violation_or_a_trace(tmp_path: Path) -> None:
    report = check(system(), traces=None)
    made = page(system(), report)
    [violation] = report.violations
    assert violation.trace is not None
    assert made == page(system(), violation) == page(system(), violation.trace)
    assert made.save(tmp_path / "page.html").read_text(encoding="utf-8") == made.html
    frame = Tags(made._repr_html_())
    assert frame.met == {"iframe"} and "allow-same-origin" not in made._repr_html_()
    assert repr(made).startswith("<Page small: ")


def test_without_a_violation_there_is_no_page() -> None:
    report = check(System({"a": Counter()}), traces=None)
    with pytest.raises(BadTrace, match="there is no trace to show"):
        page(system(), report)


class Shown:
    """Stands for IPython: keeps what a cell shows."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def display(self, shown: str, *, display_id: bool) -> "Shown":
        assert display_id and not self.texts
        self.texts.append(shown)
        return self

    def update(self, shown: str) -> None:
        self.texts.append(shown)


def test_progress_is_redrawn_in_the_cell_of_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Shown()
    fake = SimpleNamespace(HTML=str, display=shown.display)
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "IPython.display", fake)
    told = progress("a <b>")
    for seconds in (0.1, 0.5, 0.6, 1.0):
        told.update(Snapshot(3, 4, 2, 1, 0, 5, {"small": "open"}, seconds))
    told.done()
    assert len(shown.texts) == 2  # at most four times a second
    assert "checking a &lt;b&gt;" in shown.texts[0] and "3 states" in shown.texts[0]
    check(system(), traces=None, progress=progress("again"))


def test_elsewhere_progress_goes_to_standard_error() -> None:
    assert type(progress("x")) is Progress
