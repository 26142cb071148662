"""What became of a command that ended without saying so: the signal, the line, and what is kept."""

from __future__ import annotations

import os
import re
import signal
import sys

from presage.errors.base import explain

EXIT_NOT_CHECKABLE = 3  # the checked code does what no check survives
EXIT_OURS = 4
EXIT_USAGE = 2  # as for all code that does not return
BY_SIGNAL = 128  # the shells' convention, for what came from outside
CRASHES = {
    signal.SIGSEGV: "segmentation fault",
    signal.SIGBUS: "bus error",
    signal.SIGILL: "illegal instruction",
    signal.SIGFPE: "arithmetic fault",
    signal.SIGABRT: "abort",
    signal.SIGTRAP: "trap",
    signal.SIGSYS: "bad system call",
}
PRESAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHIPPED = os.path.join(PRESAGE, "systems")  # counts as a user's
STANDARD = os.path.dirname(os.path.abspath(os.__file__))
FRAME = re.compile(r'  File "(.*)", line (\d+|\?\?\?) in ')
BEGINS = re.compile(r"(Current thread|Stack|Thread) .*\(most recent call first\):$")


def report(status: int, lines: list[str], dump: str) -> int:
    """Say what ended a command, on standard error; gives the exit status to end with."""
    where = place(dump)
    said, remedy, code = _ended(status, lines, where)
    text = explain(f"{where}: {said[0]}" if where else said[0], said[1], remedy)
    print(f"error: {text}", file=sys.stderr)
    for each in _kept(lines):
        print(f"  {each}", file=sys.stderr)
    if os.environ.get("PRESAGE_TRACEBACK"):
        print(dump, file=sys.stderr)
    sys.stderr.flush()
    return code


def _ended(status: int, lines: list[str], where: str) -> tuple[tuple[str, str], str, int]:
    """What happened and its usual cause, the way out, and the exit status."""
    acts = [line.removeprefix("act ") for line in lines if line.startswith("act ")]
    stuck = [line.removeprefix("stuck ") for line in lines if line.startswith("stuck ")]
    crash = CRASHES.get(signal.Signals(-status)) if _is_known(-status) else None
    if stuck:
        said = f"still running after {float(stuck[-1]):g} s"
        cause = "native code that keeps the interpreter: a regular expression, a huge number"
        return (said, cause), "a smaller input, or another way to compute it", EXIT_USAGE
    if acts:
        said = f"the checked code ended the process: `{acts[-1]}`"
        cause = "code written for a live run, where a process may end or become another program"
        return (said, cause), "raise an exception, or let the handler return", EXIT_NOT_CHECKABLE
    if crash is not None and not where:
        name = signal.Signals(-status).name
        said = f"the process ended outside of the checked code: {crash} ({name})"
        way = "report it, with what `PRESAGE_TRACEBACK=1` in the environment shows"
        return (said, "a fault of presage, or of a native module that it loads"), way, EXIT_OURS
    if crash is not None:
        said = f"the checked code ended the process: {crash} ({signal.Signals(-status).name})"
        cause = "native code that was called wrongly (`ctypes`, an extension), or endless recursion"
        way = "correct that call; `PRESAGE_TRACEBACK=1` in the environment shows the whole stack"
        return (said, cause), way, EXIT_NOT_CHECKABLE
    if status < 0:
        name = signal.Signals(-status).name if _is_known(-status) else f"signal {-status}"
        said = f"the process of the command was killed ({name})"
        cause = "too little memory on this machine, or someone who ended it"
        return (
            (said, cause),
            "`--memory` bounds a search, `--checkpoint` keeps it",
            BY_SIGNAL - status,
        )
    said = f"the checked code ended the process, with exit status {status}"
    cause = "native code that ends the process by itself, or another program started in its place"
    return (said, cause), "leave that out while checking", EXIT_NOT_CHECKABLE


def _kept(lines: list[str]) -> list[str]:
    """What was earned before."""
    told = [line.removeprefix("found ") for line in lines if line.startswith("found ")]
    found = {each.split("`")[1]: each for each in told}  # the last word on each property
    files = [line.removeprefix("file ") for line in lines if line.startswith("file ")]
    return [
        *(f"found before: {each}" for each in found.values()),
        *(f"kept: `{path}`" for path in dict.fromkeys(files) if os.path.exists(path)),
    ]


def _is_known(number: int) -> bool:
    return number in signal.valid_signals() and number in set(signal.Signals)


def place(dump: str) -> str:
    """`file:line` of the innermost line of a user's code in what `faulthandler` wrote last."""
    sections: list[list[str]] = []
    for line in dump.splitlines():
        if begins := BEGINS.match(line):
            sections.append([begins[1]])
        elif sections:
            sections[-1].append(line)
    running = [section[1:] for section in sections if section[0] != "Thread"]
    for line in running[-1] if running else ():
        frame = FRAME.match(line)
        if frame and _is_users(frame[1]):
            path = os.path.relpath(frame[1])
            return f"{frame[1] if path.startswith('..') else path}:{frame[2]}"
    return ""


def _is_users(file: str) -> bool:
    if file.startswith(PRESAGE + os.sep):
        return file.startswith(SHIPPED + os.sep)
    if file.startswith("<") or "site-packages" in file:
        return not file.startswith("<")
    return not file.startswith(STANDARD + os.sep)
