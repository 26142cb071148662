"""Whole commands as processes: what a shell would see of them, and nothing else.

Checked files are written with `write`; a comment `# HERE` marks the line that a message must name.
"""

import functools
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

from whole.commands.ready import Ready

TIMEOUT = 60  # seconds; only a guard against a hang
MARK = "# HERE"

Ended = subprocess.CompletedProcess[str]

ONE_NODE = """
    def system() -> System:
        return System(nodes={"n0": Node()})
"""


def command(*arguments: str) -> list[str]:
    # With -P the current folder does not come first, where a checked file could hide a module.
    return [sys.executable, "-P", "-m", "presage", *arguments]


def start(*arguments: str, **environ: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(*arguments),
        env=os.environ | environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that a command that hangs can be killed with its children
    )


def end(process: subprocess.Popen[str]) -> Ended:
    """Wait for a started process; one that hangs is killed, and the test fails."""
    try:
        out, err = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def worker(process: subprocess.Popen[str]) -> int | None:
    """The process that does the work: the one child of the parent that a command begins as."""
    try:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    except FileNotFoundError:
        return None
    return int(children) if children.strip() else None


def run_cold(*arguments: str, **environ: str) -> Ended:
    """Run a command to its end, begun as a shell begins it."""
    return end(start(*arguments, **environ))


def run(*arguments: str, **environ: str) -> Ended:
    """Run a command to its end; it starts at once (`ready`) unless Python reads `environ`."""
    if any(name.startswith(("PYTHON", "LC_", "LANG")) for name in environ):
        return run_cold(*arguments, **environ)
    status, out, err = _ready().run(list(arguments), os.environ | environ, TIMEOUT)
    return subprocess.CompletedProcess(command(*arguments), status, out, err)


@functools.cache
def _ready() -> Ready:
    return Ready()


def write(text: str, name: str = "bad.py") -> str:
    """Write a file to be checked; the place of its mark, as messages name it."""
    text = "from presage import *\n" + dedent(text)
    Path(name).write_text(text, encoding="utf-8")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if MARK in line]
    return f"{name}:{lines[0]}" if lines else name


def refused(result: Ended, status: int, *said: str) -> None:
    """It ended with `status`, said why on standard error, and nothing on standard output."""
    assert result.returncode == status, result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert result.stderr.startswith("error: ")
    assert "\n  usual cause: " in result.stderr
    assert "\n  way out: " in result.stderr
    for text in said:
        assert text in result.stderr, result.stderr


def told(result: Ended, status: int) -> dict[str, Any]:
    """The one object on standard output of a command that ended with `status`."""
    assert result.returncode == status, result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout.endswith("}\n") and result.stdout.count("\n") == 1
    report: dict[str, Any] = json.loads(result.stdout)
    return report
