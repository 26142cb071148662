"""The report page on a live system: a small server on this machine, for its user alone.

Whatever is picked is a form that is posted; the answer is the page again. `serving.py` says who may
ask, and keeps one connection from stopping the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from presage.debug.explore import Explorer, texts
from presage.trace.plain import shortened
from presage.ui.explored import SAVES, file_of, flying
from presage.ui.page.data import page_data
from presage.ui.page.page import render
from presage.ui.serving import Desk, LocalHandler, LocalServer


class Server(LocalServer):
    """Serves the page of one explorer, which works at a desk."""

    def __init__(self, explorer: Explorer, port: int, desk: Desk) -> None:
        super().__init__(port, Handler)
        self.explorer = explorer
        self.desk = desk


class Handler(LocalHandler):
    """Answers one request."""

    server: Server

    def do_GET(self) -> None:
        """The page of where the explorer is."""
        asked = self.asked()
        if asked is not None:
            self.guarded(lambda: self._show(asked))

    def do_POST(self) -> None:
        """Take an option, or go to a place; then show the page again."""
        asked = self.asked()
        if asked is not None:
            self.guarded(lambda: self._act(asked, self._number()))

    def _show(self, asked: str) -> None:
        explorer, do = self.server.explorer, self.server.desk.do
        self.server.has_asked(self.connection)
        if asked == "":
            page = do(lambda: render(explored(explorer)))
            self.answer(200, page.encode(), "text/html")
        elif (file := do(file_of, explorer, asked)) is not None:
            self.answer(200, file.content, "application/octet-stream", file.name)
        else:
            self.answer(404, b"there is only the page\n")

    def _act(self, asked: str, number: int | None) -> None:
        self.server.has_asked(self.connection)
        if not self.server.desk.do(act, self.server.explorer, asked, number):
            self.answer(400, b"no such step; go back and load the page again\n")
            return
        self.send_response(303)
        self.send_header("Location", f"/{self.server.token}/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _number(self) -> int | None:
        body = self.body()
        if body is None:
            return None
        [text] = parse_qs(body.decode("ascii", "replace")).get("n", [""])[:1]
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def act(explorer: Explorer, asked: str, number: int | None) -> bool:
    """Do what was picked; False if there is no such thing."""
    acts: dict[str, tuple[Callable[[int], None], int]] = {
        "take": (explorer.take, len(explorer.options)),
        "go": (explorer.go, len(explorer.places)),
    }
    if asked not in acts or number is None or not 0 <= number < acts[asked][1]:
        return False
    acts[asked][0](number)
    return True


def explored(explorer: Explorer) -> dict[str, Any]:
    """The data of the page: the execution so far, and what can be done."""
    data = page_data((explorer.trace(), explorer.scenes))
    options = zip(texts(explorer.options), explorer.options, strict=True)
    return data | {
        "explore": {
            "options": [[shortened(text), option.idle] for text, option in options],
            "path": list(explorer.path),
            "branches": [[number, shortened(text)] for number, text in explorer.branches.items()],
            "flying": list(flying(explorer.scenes[-1].state)),
            "saves": [[name, text] for name, text in SAVES.items()],
        }
    }
