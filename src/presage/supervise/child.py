"""The child: runs the command, and tells the parent its exit status as the last act.

Signals are blocked from the parent on until the command can answer them, so that no moment is too
early for Ctrl-C. `faulthandler` writes where the code was into a file that the parent reads.
"""

from __future__ import annotations

import atexit
import faulthandler
import gc
import os
import signal
import sys
from collections.abc import Callable
from time import monotonic  # taken before handlers are kept from the clock
from types import FrameType, SimpleNamespace
from typing import Any, NoReturn

import presage
from presage import lifeline
from presage.supervise.deferred import defer, without
from presage.supervise.finder import shorten
from presage.supervise.signals import DUMPS, ENDING, PASSED, WAKES
from presage.supervise.whole import Whole

INTERRUPTED = 130
TWINS = 1.0  # seconds within which one interrupt may come by two ways
ENDS = ("_exit", "abort", "execv", "execve")  # of `os`: what ends a process and returns nothing


def run(handed: str) -> NoReturn:
    """Run the command line; `handed` is what the parent said."""
    parent, telling, dump = (int(word) for word in handed.split())
    gc.disable()  # until the command is loaded (`cli`): nothing of that becomes garbage
    defer()
    defer(("platform",), system=lambda: os.uname().sysname)  # as `uuid` asks when it is loaded
    shorten(os.path.dirname(presage.__file__))
    for descriptor in (telling, dump):
        os.set_inheritable(descriptor, False)
    lifeline.attach(telling, DUMPS, (*ENDING, *PASSED.values()))
    faulthandler.enable(dump)
    faulthandler.register(DUMPS, dump, all_threads=False)
    _tell_ends(dump)
    status = _command(parent)
    signal.pthread_sigmask(signal.SIG_BLOCK, (*ENDING, *PASSED.values()))
    atexit._run_exitfuncs()
    lifeline.end(_flushed(status))


def _flushed(status: int) -> int:
    """The exit status when everything is written, or cannot be."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        pass  # a reader that has gone away does not change the status
    except (AttributeError, ValueError):
        pass  # closed
    except OSError as error:
        from presage.ui.output import complain, unwritable

        problem = unwritable(error)
        complain(str(problem))
        return problem.exit_status
    return status


def _command(parent: int) -> int:
    try:
        _listen()
        from presage._core import die_with

        die_with(parent)
        _load_libraries()
        from presage.cli import main
        from presage.process.fence import take_leaves

        take_leaves()  # before the checked code takes names from `time` and the like
        return main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException as error:
        if not lifeline.is_interrupt(error):
            raise
        print("error: interrupted before there was anything to report", file=sys.stderr)
        return INTERRUPTED


def _load_libraries() -> None:
    """Load what the command rests on, and little of what that would load."""

    def load_msgspec() -> None:
        import msgspec  # noqa: F401

    def load_argparse() -> None:
        import argparse  # noqa: F401

    defer(("msgspec.inspect",))
    without("typing_extensions", load_msgspec)  # of which it wants what `typing` has
    # What it says is part of what presage says, which nobody translates.
    plain = SimpleNamespace(gettext=str, ngettext=lambda one, more, n: one if n == 1 else more)
    without("gettext", load_argparse, plain)


def _listen() -> None:
    """Make every way to end a command the same one."""
    last, passed = float("-inf"), False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal last, passed
        now, from_parent = monotonic(), number in PASSED.values()
        if now - last < TWINS and (passed or from_parent):
            return  # the same one, by the other way
        last, passed = now, from_parent
        core = sys.modules.get("presage._core")  # once that is there, somebody may be listening
        if core is not None and core.stop_once():
            return
        quits = number not in (signal.SIGINT, PASSED[signal.SIGINT])
        raise lifeline.Terminated if quits else KeyboardInterrupt

    heard = Whole(interrupt)
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, heard)
    for passed_on in set(PASSED.values()):
        signal.signal(passed_on, heard)
    signal.signal(WAKES, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (*ENDING, *PASSED.values()))


ORIGINALS: dict[str, Callable[..., Any]] = {name: getattr(os, name) for name in ENDS}


def _tell_ends(dump: int) -> None:
    """Let the parent know which line ended the process without a word."""
    for name in ENDS:
        setattr(os, name, _telling(name, ORIGINALS[name], dump))


def _telling(name: str, original: Callable[..., Any], dump: int) -> Callable[..., Any]:
    def ending(*args: Any, **named: Any) -> Any:
        lifeline.tell(f"act os.{name}")
        faulthandler.dump_traceback(dump, all_threads=False)
        return original(*args, **named)

    ending.__name__ = name
    return ending
