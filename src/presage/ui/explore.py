"""The report page on a live system: a small server on this machine, for its user alone.

It listens on 127.0.0.1 only, answers only under a path with a random token, and only to requests
that were addressed to it by that name. Whatever is picked is a form that is posted; the answer is
the page again.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs

from presage.debug.explore import Explorer, texts
from presage.errors import PresageError
from presage.trace.plain import shortened
from presage.ui.explored import SAVES, file_of, flying
from presage.ui.page.data import page_data
from presage.ui.page.page import render

HOST = "127.0.0.1"
BODY_MAX = 1_000  # bytes of a posted form


class Server(HTTPServer):
    """Serves the page of one explorer, one request after the other."""

    def __init__(self, explorer: Explorer, port: int = 0) -> None:
        super().__init__((HOST, port), Handler)
        self.explorer = explorer
        self.token = secrets.token_urlsafe(16)
        self.hosts = {f"{name}:{self.server_port}" for name in (HOST, "localhost")}

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Server

    def do_GET(self) -> None:
        """The page of where the explorer is."""
        asked = self._asked()
        if asked == "":
            self._answer(200, render(explored(self.server.explorer)).encode())
        elif asked is not None and (file := file_of(self.server.explorer, asked)) is not None:
            self._answer(200, file.content, "application/octet-stream", file.name)
        elif asked is not None:
            self._answer(404, b"there is only the page\n", "text/plain")

    def do_POST(self) -> None:
        """Take an option, or go to a place; then show the page again."""
        explorer, asked = self.server.explorer, self._asked()
        if asked is None:
            return
        acts: dict[str, tuple[Callable[[int], None], int]] = {
            "take": (explorer.take, len(explorer.options)),
            "go": (explorer.go, len(explorer.places)),
        }
        number = self._number()
        if asked not in acts or number is None or not 0 <= number < acts[asked][1]:
            self._answer(400, b"no such step; go back and load the page again\n", "text/plain")
            return
        try:
            acts[asked][0](number)
        except PresageError as error:  # of the explored system; one can still go elsewhere
            self._answer(500, f"{error}\n".encode(), "text/plain")
            return
        self.send_response(303)
        self.send_header("Location", f"/{self.server.token}/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing: the page shows what happens."""

    def _asked(self) -> str | None:
        """What is asked for behind the token; None, and refused, if this is not our user."""
        _, token, *rest = f"{self.path}//".split("/")
        ours = secrets.compare_digest(token.encode(), self.server.token.encode())
        if ours and self.headers.get("Host") in self.server.hosts:
            return rest[0]
        self._answer(
            403, b"wrong address: use the one that `presage explore` printed\n", "text/plain"
        )
        return None

    def _number(self) -> int | None:
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > BODY_MAX:
            return None
        [text] = parse_qs(self.rfile.read(int(length)).decode("ascii", "replace")).get("n", [""])[
            :1
        ]
        return int(text) if text.isdecimal() and len(text) < 10 else None

    def _answer(
        self, status: int, body: bytes, kind: str = "text/html", saved_as: str = ""
    ) -> None:
        self.send_response(status)
        if saved_as:
            self.send_header("Content-Disposition", f'attachment; filename="{saved_as}"')
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)


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
