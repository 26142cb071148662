"""The page of a running system: a small server on this machine, for its user alone.

The page asks once, and then listens: whenever the board has changed, all who listen get it again.
A button is a form that is posted. `serving.py` says who may ask.

Invariant: however many listen, and however slowly, the board is made at most a few times a second.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from html import escape
from urllib.parse import parse_qs

import msgspec

from presage.runtime.board import Board, Operator
from presage.trace.trace import Trace
from presage.ui.page.assemble import Part, assembled, embedded
from presage.ui.serving import LocalHandler, LocalServer

HERE, SHARED = "presage.ui.live", "presage.ui.page"
STYLES = (Part(SHARED, "page.css"), Part(HERE, "live.css"))
SCRIPTS = (
    Part(SHARED, "text.js"),
    *(Part(HERE, f"{name}.js") for name in ("topology", "paths", "live")),
)
EVERY = 0.3  # seconds between two boards
QUIET_MAX = 5.0  # seconds without a word, after which a listener is asked whether it is there
LISTENERS_MAX = 8
PREDICTION = "prediction-"

Page = Callable[[Trace], str]  # a trace as the report page


class LiveServer(LocalServer):
    """Serves the board of one operator; `page` makes the report page of a predicted path."""

    def __init__(self, operator: Operator, port: int, page: Page) -> None:
        self.ends = threading.Event()  # first: a port that is taken closes the server at once
        super().__init__(port, LiveHandler)
        self.operator = operator
        self.page = page
        self.listening = 0
        self._newest = (float("-inf"), b"")  # when it was made, and the board as JSON
        self._making = threading.Lock()

    def newest(self) -> bytes:
        """The board as JSON, a moment old at most."""
        with self._making:
            made, text = self._newest
            if time.monotonic() - made >= EVERY:
                text = msgspec.json.encode(self.operator.board())
                self._newest = (time.monotonic(), text)
            return text

    def listens(self, more: int) -> bool:
        """One listener more or less; False where there are too many."""
        with self._making:
            if more > 0 and self.listening >= LISTENERS_MAX:
                return False
            self.listening += more
            return True

    def server_close(self) -> None:
        """Let all who listen go, too."""
        self.ends.set()
        super().server_close()


class LiveHandler(LocalHandler):
    """Answers one request."""

    server: LiveServer

    def do_GET(self) -> None:
        """The page, the stream of boards, or the path of a prediction."""
        asked = self.asked()
        if asked is not None:
            self.server.has_asked(self.connection)
            self.guarded(lambda: self._show(asked))

    def do_POST(self) -> None:
        """Do what a button says."""
        asked = self.asked()
        if asked is not None:
            self.guarded(lambda: self._act(asked, self.body()))

    def _show(self, asked: str) -> None:
        if asked == "":
            self.answer(200, rendered(self.server.operator.board()).encode(), "text/html")
        elif asked == "events":
            self._stream()
        elif asked.startswith(PREDICTION):
            self._open(asked.removeprefix(PREDICTION))
        else:
            self.answer(404, b"there is only the page\n")

    def _open(self, text: str) -> None:
        known = text.isascii() and text.isdecimal() and len(text) < 10
        trace = self.server.operator.prediction(int(text)) if known else None
        if trace is None:
            self.answer(404, b"this prediction is no longer kept\n")
        else:
            self.answer(200, self.server.page(trace).encode(), "text/html")

    def _stream(self) -> None:
        if not self.server.listens(+1):
            self.answer(503, b"too many pages are open\n")
            return
        try:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream; charset=utf-8")
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self._tell()
        finally:
            self.server.listens(-1)

    def _tell(self) -> None:
        """Write every new board, until nobody reads it or the server ends."""
        last, said = b"", time.monotonic()
        while not self.server.ends.is_set():
            board = self.server.newest()
            if board != last:
                self.wfile.write(b"data: " + board + b"\n\n")
            elif time.monotonic() - said < QUIET_MAX:
                self.server.ends.wait(EVERY)
                continue
            else:
                self.wfile.write(b":\n\n")
            last, said = board, time.monotonic()
            self.server.ends.wait(EVERY)

    def _act(self, asked: str, body: bytes | None) -> None:
        self.server.has_asked(self.connection)
        form = {} if body is None else parse_qs(body.decode("utf-8", "replace"))
        given = {name: values[0] for name, values in form.items()}
        said = act(self.server.operator, asked, given)
        if said is None:
            self.answer(400, b"no such button; load the page again\n")
        else:
            self.answer(200, f"{said}\n".encode())


def act(operator: Operator, asked: str, given: dict[str, str]) -> str | None:
    """Do what a button says; what is to say of it, or None if there is no such thing."""
    names = {node.name for node in operator.board().nodes}
    node, peer = given.get("node", ""), given.get("peer", "")
    if node not in names or (asked == "cut" and peer not in names):
        return None
    if asked == "kill":
        operator.kill(node)
        return f"{node} was killed"
    if asked == "start":
        operator.start(node)
        return f"{node} starts"
    if asked == "cut":
        operator.cut(node, peer)
        return f"the connection of {node} and {peer} was broken"
    if asked == "call" and given.get("method"):
        args = _arguments(given.get("args", ""))
        if args is None:
            return 'the arguments are not JSON: write `1, "a", [2]`'
        return operator.call(node, given["method"], args)
    return None


def _arguments(text: str) -> list[object] | None:
    try:
        return list(msgspec.json.decode(f"[{text}]".encode(), type=list[object]))
    except msgspec.DecodeError:
        return None


def rendered(board: Board) -> str:
    """The page, with the first board in it."""
    return assembled(
        Part(HERE, "live.html"),
        STYLES,
        SCRIPTS,
        "form-action 'none'; connect-src 'self'",
        {"TITLE": escape(f"{board.system}, live"), "DATA": embedded(board)},
    )
