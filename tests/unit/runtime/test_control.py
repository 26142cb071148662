"""Commands to a node: one JSON object a line, for the owner of the folder only."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from presage.errors import CannotListen, CommandRefused, NotRunning
from presage.runtime.control import Control, Request, ask, ask_all, listen, process_of


async def answer(request: Request) -> Any:
    if request.do == "refuse":
        raise CommandRefused("no", "because", "do not ask")
    if request.do == "odd":
        return {(1, 2): {frozenset({3})}}
    return [request.name, *request.args]


@contextmanager
def serving(path: Path) -> Iterator[None]:
    """A control socket in another thread."""
    ready, stop = threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def main() -> None:
        control = Control(path, answer)
        await control.start()
        loops.append(asyncio.get_running_loop())
        ready.set()
        await stop.wait()
        control.close()

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    assert ready.wait(10)
    try:
        yield
    finally:
        loops[0].call_soon_threadsafe(stop.set)
        thread.join()


def raw(path: Path, data: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as made:
        made.settimeout(10)
        made.connect(str(path))
        made.sendall(data)
        return made.recv(65536)


def test_of_many_that_are_asked_those_that_are_silent_cost_one_patience(tmp_path: Path) -> None:
    paths = {name: tmp_path / name for name in ("here", "mute", "mute too", "gone")}
    mute = [listen(paths[name]) for name in ("mute", "mute too")]  # as a process that was stopped
    with serving(paths["here"]):
        began = time.monotonic()
        assert ask_all(paths, Request("echo", "a", [1]), 0.1) == {"here": ["a", 1]}
        assert 0.1 <= time.monotonic() - began < 5
        for _ in range(30):  # more than may wait for one that is silent
            assert ask_all({"mute": paths["mute"]}, Request("echo"), 0.0) == {}
        with pytest.raises(CommandRefused, match="usual cause: because"):
            ask_all({"here": paths["here"]}, Request("refuse"))
    for each in mute:
        each.close()


def test_what_is_asked_is_answered(tmp_path: Path) -> None:
    path = tmp_path / "control"
    with serving(path):
        assert ask(path, Request("echo", "a", [1, "b"])) == ["a", 1, "b"]
        assert path.stat().st_mode & 0o777 == 0o600
        assert process_of(path) == os.getpid()
        with pytest.raises(CommandRefused, match="usual cause: because"):
            ask(path, Request("refuse"))
        assert ask(path, Request("odd")) == {"(1, 2)": [[3]]}
    assert not path.exists()
    with pytest.raises(NotRunning, match="nobody answers"):
        ask(path, Request("echo"))
    with pytest.raises(NotRunning):
        process_of(path)


@pytest.mark.parametrize("data", [b"\n", b"[]\n", b"\xff\n", b'{"do": 1}\n', b'{"no": "do"}\n'])
def test_a_request_that_cannot_be_read_is_answered_with_an_error(
    tmp_path: Path, data: bytes
) -> None:
    path = tmp_path / "control"
    with serving(path):
        assert b'"error":"the request cannot be read' in raw(path, data)
        assert ask(path, Request("echo", "still there")) == ["still there"]


def test_a_line_without_end_ends_its_connection_only(tmp_path: Path) -> None:
    path = tmp_path / "control"
    with serving(path):
        with socket.socket(socket.AF_UNIX) as made:
            made.settimeout(10)
            made.connect(str(path))
            with pytest.raises(OSError):
                for _ in range(100):
                    made.sendall(b"x" * 65536)
        assert ask(path, Request("echo", "still there")) == ["still there"]


def test_a_path_of_any_length_will_do(tmp_path: Path) -> None:
    path = tmp_path.joinpath(*["a-folder-with-a-long-name"] * 8) / "control"
    assert len(str(path)) > 200
    with serving(path):
        assert ask(path, Request("echo", "deep")) == ["deep"]


def test_a_socket_in_use_is_refused_and_a_stale_one_replaced(tmp_path: Path) -> None:
    path = tmp_path / "control"
    with serving(path):
        with pytest.raises(CannotListen, match="is in use"):
            asyncio.run(Control(path, answer).start())
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    with serving(path):
        assert ask(path, Request("echo")) == [""]


def test_a_file_in_its_place_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "control"
    path.write_text("mine")
    with pytest.raises(CannotListen, match="cannot be made"):
        asyncio.run(Control(path, answer).start())
    assert path.read_text() == "mine"


def test_who_is_connected_when_the_node_ends_is_no_fault(tmp_path: Path) -> None:
    faults: list[dict[str, object]] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: faults.append(context))
        control = Control(tmp_path / "control", answer)
        await control.start()
        _, writer = await asyncio.open_unix_connection(str(tmp_path / "control"))
        await asyncio.sleep(0.01)
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()  # as at the end of a process
        await asyncio.wait(tasks)
        await asyncio.sleep(0)
        writer.close()
        control.close()

    asyncio.run(main())
    assert faults == []
