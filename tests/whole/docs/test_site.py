"""What the site of the documentation is made of: every page, every name, every option."""

import argparse
import re
from pathlib import Path

import pytest
import screenshots
from docsite import names, options, sources
from docsite.__main__ import main
from docsite.pages import Site

import presage
from presage.cli import _parser

DOCS = sources.DOCS


def listed() -> list[str]:
    return [page for pages in sources.sections().values() for page in pages]


def test_the_front_page_links_to_every_page_once() -> None:
    written = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    pages = {name for name in written if not name.startswith("decisions/")} - {"index.md"}
    project = {f"project/{name.lower()}" for name in sources.PROJECT}
    wanted = {*pages, *project, sources.DECISIONS, *sources.GENERATED}
    missing = wanted - set(listed())
    assert not missing, f"no section of docs/index.md links to {', '.join(sorted(missing))}"
    assert sorted(listed()) == sorted(wanted)


def test_links_that_leave_the_docs_lead_to_the_same_file_on_the_site() -> None:
    page = DOCS / "howto" / "x.md"
    text = (
        "[a](../../SECURITY.md#b), [c](faults.md) and [d](../../tools/sbom.py), [e](../decisions/)"
    )
    moved = "[a](../project/security.md#b), [c](faults.md) and [d](../files/tools/sbom.py), "
    assert sources.with_links(page, text) == moved + "[e](../decisions/index.md)"
    block = "```text\n[a](../../SECURITY.md)\n```\n"
    assert sources.with_links(page, block) == block


def test_the_sources_have_every_page_and_nothing_from_earlier(tmp_path: Path) -> None:
    (tmp_path / "gone.md").write_text("# Gone\n")
    sources.arrange(tmp_path)
    assert not (tmp_path / "gone.md").exists()
    for name in listed():
        assert (tmp_path / name).is_file(), name
    first = tmp_path / "tutorial" / "first-check.md"
    assert first.read_text() == (DOCS / "tutorial" / "first-check.md").read_text()


def test_a_folder_that_is_no_site_is_not_written_over(tmp_path: Path, monkeypatch, capsys) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    monkeypatch.setattr("sys.argv", ["docsite", str(tmp_path)])
    with pytest.raises(SystemExit):
        main()
    assert (tmp_path / "letter.txt").exists()
    assert "is not empty, and no site" in capsys.readouterr().err


def test_every_public_name_has_an_entry_with_its_signature() -> None:
    page = names.names_page()
    for name in presage.__all__:
        assert re.search(rf"^````{{py:\w+}} {name}\b", page, re.MULTILINE), name
    assert "````{py:function} reach(node: Any, pointer: str) -> frozenset[str]\n" in page
    assert "````{py:class} Envelope(source: str, to: str, message: Any)\n" in page
    assert "~~~{py:method} assert_holds(*, allow_partial: bool = False) -> None" in page


def test_no_docstring_shows_code_that_nobody_runs() -> None:
    page = names.names_page()
    assert ">>>" not in page
    assert re.findall(r"^ *```(?!`)", page, re.MULTILINE) == []


def test_every_option_of_every_command_has_an_entry() -> None:
    page = options.options_page()
    [commands] = [each.choices for each in _parser()._actions if each.choices]
    for name, command in commands.items():
        section = page.partition(f"\n## `presage {name}`\n")[2].partition("\n## ")[0]
        command.fill and command.fill(command)
        for action in command._actions:
            if action.help is not argparse.SUPPRESS and action.option_strings:
                assert f"{{option}} {action.option_strings[0]}" in section, (name, action)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A site of four pages in a row."""
    for at in range(4):
        text = f'<h1 id="top">{at}</h1><a href="p{at + 1}.html#top">on</a>' if at < 3 else "end"
        (tmp_path / f"p{at}.html").write_text(text)
    return tmp_path


def test_a_link_without_a_target_is_dead(small: Path) -> None:
    assert Site.read(small).dead() == ["p2.html: p3.html#top"]  # a page without that place
    (small / "p3.html").write_text('<h1 id="top">3</h1><img src="x.png"><a href="q.html">q</a>')
    assert Site.read(small).dead() == ["p3.html: q.html", "p3.html: x.png"]


def test_what_is_loaded_from_elsewhere_is_named_and_links_to_elsewhere_are_not(small: Path) -> None:
    assert Site.read(small).outside() == []
    (small / "p3.html").write_text(
        '<a href="https://a.org">a</a><script src="https://b.org/b.js"></script>'
        '<link rel="canonical" href="https://c.org"><link rel="stylesheet" href="//d.org/d.css">'
    )
    (small / "e.css").write_text("a { background: url('https://e.org/e.png') }")
    loads = ["p3.html: https://b.org/b.js", "p3.html: //d.org/d.css", "e.css: https://e.org/e.png"]
    assert Site.read(small).outside() == loads


def test_clicks_are_counted_from_the_front_page(small: Path) -> None:
    assert Site.read(small).clicks("p0.html") == {f"p{at}.html": at for at in range(4)}


@pytest.mark.parametrize("name", screenshots.PICTURES)
def test_pictures_are_there_and_small(name: str) -> None:
    path = DOCS / "images" / f"{name}.png"
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size <= screenshots.BYTES_MAX
