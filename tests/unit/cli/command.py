"""Run presage in a process of its own, as a user does."""

import os
import pty
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

from whole.commands.harness import run

__all__ = ["COUNTER", "PRESAGE", "fails", "on_terminal", "run", "signalled", "write"]

PRESAGE = [sys.executable, "-P", "-m", "presage"]

COUNTER = """
    from presage import Service, System, Verdict, action, always, sometimes

    class Counter(Service):
        count: int = 0

        @action(when=lambda self: self.count < 3)
        def increment(self) -> None:
            print("counting")
            self.count += 1

    @always
    def small(world):
        return Verdict(world["n0"].count <= LIMIT, f"the count is {world['n0'].count}")

    LIMIT = 3

    def system(*, nodes: int = 1) -> System:
        return System(nodes={f"n{i}": Counter() for i in range(nodes)}, properties=[small])
"""


def write(text: str, *, limit: int = 3, name: str = "counter.py") -> None:
    Path(name).write_text(dedent(text).replace("LIMIT = 3", f"LIMIT = {limit}"), encoding="utf-8")


def fails(result: subprocess.CompletedProcess[str], status: int, *said: str) -> None:
    assert result.returncode == status, result.stderr
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.stderr
    for text in said:
        assert text in result.stderr


def signalled(number: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Let a command run until the checked code has printed a line, and a moment longer."""
    command = [*PRESAGE, *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        process.stderr.readline()
        time.sleep(0.5)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(command, process.returncode, out, err)


def on_terminal(*arguments: str, **environ: str) -> tuple[int, str]:
    """Exit status and everything written to a terminal by a command."""
    here, there = pty.openpty()
    command = [*PRESAGE, *arguments]
    with subprocess.Popen(
        command, stdout=there, stderr=there, env=os.environ | {"TERM": "xterm"} | environ
    ) as process:
        os.close(there)
        written = b""
        while True:
            try:
                piece = os.read(here, 65536)
            except OSError:  # how Linux says that the other side is closed
                break
            if not piece:
                break
            written += piece
    os.close(here)
    return process.returncode, written.decode()
