"""The built site as it is on disk: which links are dead, and what is loaded from outside.

Sphinx checks the links that it reads. This reads what it wrote: themes and generated pages too.
"""

from __future__ import annotations

import os
import re
from collections import deque
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
NOT_LOADED = {"canonical", "alternate", "next", "prev", "index", "search", "author"}
IN_STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^)\"']+)")


@dataclass
class Page:
    """What a page has, links to and loads."""

    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.page.ids.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.page.links.append(given["href"])
        if tag == "form" and given.get("method", "get") == "get" and "action" in given:
            self.page.links.append(given["action"])  # the box for searching
        if tag == "link" and set(given.get("rel", "").split()) & NOT_LOADED:
            return
        if tag in LOADS and given.get(LOADS[tag]):
            self.page.loads.append(given[LOADS[tag]])


@dataclass
class Site:
    """All pages of a folder, by their path in it."""

    folder: Path
    pages: dict[str, Page]

    @classmethod
    def read(cls, folder: Path) -> Site:
        pages = {}
        for path in sorted(folder.rglob("*.html")):
            reader = _Reader()
            reader.feed(path.read_text(encoding="utf-8"))
            pages[path.relative_to(folder).as_posix()] = reader.page
        return cls(folder, pages)

    def dead(self) -> list[str]:
        """Links and loads that lead to no file, or to no such place in it."""
        return [
            f"{name}: {link}"
            for name, page in self.pages.items()
            for link in (*page.links, *page.loads)
            if not _is_outside(link) and not self._leads_somewhere(name, link)
        ]

    def outside(self) -> list[str]:
        """Scripts, styles, fonts and images that do not come with the site."""
        found = [
            f"{name}: {load}"
            for name, page in self.pages.items()
            for load in page.loads
            if _is_outside(load)
        ]
        for path in sorted(self.folder.rglob("*.css")):
            text = path.read_text(encoding="utf-8")
            found += [f"{path.name}: {load}" for load in IN_STYLE.findall(text)]
        return found

    def clicks(self, front: str = "index.html") -> dict[str, int]:
        """How many clicks each page that can be reached is away from the front page."""
        away, waiting = {front: 0}, deque([front])
        while waiting:
            name = waiting.popleft()
            for link in self.pages[name].links:
                target = self._target(name, link)
                if not _is_outside(link) and target in self.pages and target not in away:
                    away[target] = away[name] + 1
                    waiting.append(target)
        return away

    def _target(self, name: str, link: str) -> str:
        path = unquote(urlsplit(link).path)
        return os.path.normpath(Path(name).parent / path) if path else name

    def _leads_somewhere(self, name: str, link: str) -> bool:
        target = self._target(name, link)
        fragment = unquote(urlsplit(link).fragment)
        if target in self.pages:
            return not fragment or fragment in self.pages[target].ids
        return (self.folder / target).is_file()


def _is_outside(link: str) -> bool:
    parts = urlsplit(link)
    return bool(parts.netloc) or parts.scheme not in ("", "file")
