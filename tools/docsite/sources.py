"""The pages of the site, from the documents of the repository.

`docs/` is written for a reader of the repository; the site is a view of it. Pages keep their text
and their lines. Only links that leave `docs/` are rewritten, and what one would look for in a
folder becomes a page: the list of decisions, the names of the package, the options of commands.
`docs/index.md` is the front page; each of its sections, with the links in it, is one of the menu.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from docsite.names import names_page
from docsite.options import options_page

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FRONT = DOCS / "index.md"
DECISIONS = "decisions/index.md"
PROJECT = ("ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
LINK = re.compile(r"(?<=\]\()(?P<path>[^)\s#:]+)(?=(?:#[^)\s]*)?\))")
LABELLED = re.compile(r"\[([^\]]+)\]\(([^)\s#:]+)\)")
SECTION = re.compile(r"^## (?P<title>.+)$", re.MULTILINE)
FENCED = re.compile(r"(^ *```.*?^ *```)", re.MULTILINE | re.DOTALL)

# Generated pages stand in the menu behind the page that explains the same by hand.
GENERATED = {
    "reference/names.md": ("reference/system.md", "Public names", names_page),
    "reference/options.md": ("reference/command-line.md", "Commands and options", options_page),
}


def arrange(folder: Path) -> None:
    """Write all that Sphinx reads into `folder`, which holds nothing else afterwards."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in _contents():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _contents() -> Iterator[tuple[str, bytes]]:
    """Each file of the sources, by name: pages, what they link to, and what is generated."""
    outside: set[Path] = set()
    pages = [*sorted(DOCS.rglob("*.md")), *(ROOT / name for name in PROJECT)]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        outside.update(_outside(page, text))
        text = with_links(page, text)
        yield place(page), (text + menu() if page == FRONT else text).encode()
    for path in {path for path in DOCS.rglob("*") if path.is_file()} - set(pages) | outside:
        yield place(path), path.read_bytes()
    yield DECISIONS, decisions_page().encode()
    for name, (_, _, write) in GENERATED.items():
        yield name, write().encode()


def place(path: Path) -> str:
    """Where a file of the repository is in the sources of the site."""
    if path == DOCS / "decisions":
        return DECISIONS
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    if path == ROOT / "README.md":
        return FRONT.name
    name = path.relative_to(ROOT).as_posix()
    return f"project/{name.lower()}" if name in PROJECT else f"files/{name}"


def links(page: Path, text: str) -> list[Path]:
    """The files and folders of the repository that a page links to, in order."""
    prose = FENCED.sub("", text)
    return [Path(os.path.normpath(page.parent / link["path"])) for link in LINK.finditer(prose)]


def with_links(page: Path, text: str) -> str:
    """The text of a page with links that lead to the same files on the site."""
    start = Path(place(page)).parent

    def moved(link: re.Match[str]) -> str:
        target = Path(os.path.normpath(page.parent / link["path"]))
        if not target.exists() or not target.is_relative_to(ROOT):
            return link["path"]
        return os.path.relpath(place(target), start)

    parts = FENCED.split(text)
    return "".join(part if at % 2 else LINK.sub(moved, part) for at, part in enumerate(parts))


def _outside(page: Path, text: str) -> set[Path]:
    """Files that are no pages, and that a page links to: shown as they are."""
    return {
        path
        for path in links(page, text)
        if path.is_file() and path.is_relative_to(ROOT) and place(path).startswith("files/")
    }


def sections() -> dict[str, dict[str, str]]:
    """The sections of the front page: of each the pages it links to, with what it calls them."""
    _, *parts = SECTION.split(FRONT.read_text(encoding="utf-8"))
    listed: dict[str, dict[str, str]] = {}
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        pages = listed[title] = {}
        for label, path in LABELLED.findall(text):
            page = place(Path(os.path.normpath(FRONT.parent / path)))
            pages.setdefault(page, label.replace("`", ""))
            for name, (before, label, _) in GENERATED.items():
                if before == page:
                    pages[name] = label
    return listed


def menu() -> str:
    """The menu of the site, as Sphinx reads it: the sections of the front page."""
    lines: list[str] = []
    for title, pages in sections().items():
        lines += ["", "```{toctree}", ":hidden:", f":caption: {title}", ""]
        lines += [f"{label} <{page}>" for page, label in pages.items()] + ["```", ""]
    return "\n".join(lines)


def decisions_page() -> str:
    """The list of all decisions: in the repository their folder is that list."""
    pages = sorted((DOCS / "decisions").glob("*.md"))
    about = "Choices that were not obvious, each with what else was tried, in the order of areas."
    lines = [f"- [{page.stem[:4]}: {_title(page)}]({page.name})" for page in pages]
    return "\n".join(["# Decisions", "", about, "", *lines, ""])


def _title(page: Path) -> str:
    first = page.read_text(encoding="utf-8").partition("\n")[0]
    return re.sub(r"^# (\d+[:.]? )?", "", first)
