"""The server of `presage explore`, over real sockets: nobody stops it, only its user is heard."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from unit.ui.samples import CHEATING

from presage.cli.report import exploring
from presage.cli.target.load import load
from presage.errors import NoThread
from presage.ui import serving
from presage.ui.explore import Server

SECONDS = 30  # only a guard against a hang


@contextmanager
def served(target: str = "two_phase_commit") -> Iterator[Server]:
    with exploring(load(target).system, 0, None) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def connected(server: Server) -> socket.socket:
    return socket.create_connection((serving.HOST, server.server_port), timeout=SECONDS)


def received(connection: socket.socket) -> str:
    parts = []
    try:
        while part := connection.recv(65_536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts).decode()


def talk(server: Server, *lines: str, body: str = "") -> str:
    with connected(server) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n" + body).encode())
        return received(connection)


def host(server: Server) -> str:
    return f"Host: {serving.HOST}:{server.server_port}"


def look(server: Server) -> str:
    return talk(server, f"GET /{server.token}/ HTTP/1.1", host(server))


def take(server: Server, number: int) -> str:
    body, path = f"n={number}", f"/{server.token}/take"
    return talk(
        server, f"POST {path} HTTP/1.1", host(server), f"Content-Length: {len(body)}", body=body
    )


def test_a_silent_connection_stops_nobody() -> None:
    with served() as server, connected(server), connected(server) as half:
        half.sendall(b"GET / HT")
        assert " 200 " in look(server)[:20]
        assert " 303 " in take(server, 0)[:20]


def test_more_silent_connections_than_there_is_room_for_stop_nobody() -> None:
    with served() as server, ExitStack() as silent:
        many = [silent.enter_context(connected(server)) for _ in range(3 * serving.CONNECTIONS_MAX)]
        assert " 200 " in look(server)[:20]
        assert received(many[0]) == ""  # the oldest was closed


def test_a_connection_that_talks_for_too_long_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "SECONDS_MAX", 0.0)
    with served() as server, connected(server) as slow:
        slow.sendall(b"GET / HT")
        assert received(slow) == ""


def test_a_body_that_never_comes_is_not_waited_for_by_others() -> None:
    with served() as server, connected(server) as half:
        head = f"POST /{server.token}/take HTTP/1.1\r\n{host(server)}\r\nContent-Length: 3\r\n\r\nn"
        half.sendall(head.encode())
        assert " 303 " in take(server, 0)[:20]
        assert len(server.explorer.places) == 2


@pytest.mark.parametrize(
    "headers",
    [
        ["Host: evil.example"],
        ["Host: {right}", "Host: evil.example"],
        ["Host: evil.example", "Host: {right}"],
        ["Host: {right}", "Host: {right}"],
        [],
    ],
)
def test_only_one_host_and_only_the_right_one_is_answered(headers: list[str]) -> None:
    with served() as server:
        right = f"{serving.HOST}:{server.server_port}"
        lines = [header.format(right=right) for header in headers]
        assert " 403 " in talk(server, f"GET /{server.token}/ HTTP/1.1", *lines)[:20]


@pytest.mark.parametrize(
    "lengths",
    [
        ["9" * 5_000],
        ["9" * 60_000],
        ["1001"],
        ["-1"],
        ["3", "4"],
        ["0x3"],
        ["²"],
        [],
    ],
)
def test_a_length_that_is_none_or_too_large_is_refused(lengths: list[str]) -> None:
    with served() as server:
        headers = [f"Content-Length: {length}" for length in lengths]
        path = f"/{server.token}/take"
        text = talk(server, f"POST {path} HTTP/1.1", host(server), *headers, body="n=0")
        assert " 400 " in text[:20] and "no such step" in text
        assert len(server.explorer.places) == 1
        assert " 200 " in look(server)[:20]


def test_what_is_no_http_is_answered_with_an_error_or_not_at_all() -> None:
    with served() as server:
        for line in ("", "\x00" * 100, "GET", "GET / HTTP/9.9", "BREW / HTTP/1.1", "x" * 70_000):
            assert " 200 " not in talk(server, line)[:20]
        many = [f"X-{number}: y" for number in range(500)]
        text = talk(server, f"GET /{server.token}/ HTTP/1.1", host(server), *many)
        assert " 431 " in text[:20]
        assert " 200 " in look(server)[:20]


def test_a_handler_that_is_refused_makes_no_other_step_fail(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(CHEATING, encoding="utf-8")
    with served(f"{tmp_path}/bad.py") as server:
        names = [str(option.event) for option in server.explorer.options]
        cheat = next(k for k, name in enumerate(names) if "cheat" in name)
        assert " 303 " in take(server, cheat)[:20]  # from here on it is refused
        for expected in (3, 4):
            text = take(server, cheat)
            assert " 500 " in text[:20] and "time.time" in text
            assert " 303 " in take(server, 1 - cheat)[:20]
            assert " 200 " in look(server)[:20]
            assert len(server.explorer.places) == expected


def test_a_fault_of_presage_is_said_and_one_can_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("on purpose")

    with served() as server:
        with monkeypatch.context() as patch:
            patch.setattr(server.explorer, "take", broken)
            text = take(server, 0)
            assert " 500 " in text[:20] and "ZeroDivisionError: on purpose" in text
        assert " 303 " in take(server, 0)[:20]


def test_many_readers_at_once_are_all_answered() -> None:
    answers: list[str] = []
    with served() as server:
        threads = [
            threading.Thread(target=lambda: answers.append(take(server, 0)[:20])) for _ in range(12)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == 12
        assert all(" 303 " in answer or " 400 " in answer for answer in answers)
        assert " 200 " in look(server)[:20]


def test_a_desk_whose_thread_cannot_start_is_an_error(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(NoThread, match="the thread that runs the explored system could not be"):
        serving.Desk()
