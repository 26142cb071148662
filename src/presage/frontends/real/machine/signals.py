"""Signals and the end of a simulated process: kept in the process, delivered as own events.

A handler runs in the main thread, which is woken for it and waits on afterwards, as CPython retries
an interrupted call. Without a handler, a signal that ends processes ends this one, unwound by
nobody. `alarm` and `setitimer` are timers like all others.
"""

from __future__ import annotations

import atexit
import errno
import math
import os
import signal
from collections.abc import Callable
from functools import partial
from typing import Any

from presage.frontends.real.machine.clock import here
from presage.frontends.real.machine.process import Part, Process
from presage.process.leaves import ORIGINALS, extend, machine_leaf

HARMLESS = {signal.SIGCHLD, signal.SIGURG, signal.SIGWINCH, signal.SIGCONT}


class Signals:
    """What a process does when a signal comes."""

    def __init__(self, process: Process) -> None:
        self.handlers: dict[int, Any] = {signal.SIGINT: signal.default_int_handler}
        self.wakeup = -1  # descriptor to which each signal is written
        self.alarm: tuple[float, float] = (0.0, 0.0)  # when the next one comes, and how often
        self._process = process

    def deliver(self, number: int) -> None:
        """A signal comes."""
        process, handler = self._process, self.handlers.get(number, signal.SIG_DFL)
        if handler == signal.SIG_IGN or (handler == signal.SIG_DFL and number in HARMLESS):
            return
        if handler == signal.SIG_DFL:
            process.exit_status = -number
            process.finish()
            if process.thread is not None:
                process.stop()
            return
        if self.wakeup != -1:
            process.stack.descriptors.get(self.wakeup).write(bytes([number]))
        if process.thread is not None and process.thread is process.main:
            handler(number, None)
        else:
            process.interrupt(lambda: handler(number, None))

    def set_alarm(self, seconds: float, interval: float = 0.0) -> tuple[float, float]:
        """Let `SIGALRM` come, at once if that was so before."""
        process = self._process
        when, before = self.alarm
        left = (max(when - process.now, 0.0) if when else 0.0, before)
        self.alarm = alarm = (process.now + seconds if seconds else 0.0, interval)
        if seconds:
            thread = process.start(lambda: self._ring(alarm), "alarm")
            thread.daemon = True
        return left

    def _ring(self, alarm: tuple[float, float]) -> None:
        process, (when, interval) = self._process, alarm
        while self.alarm is alarm:
            process.block(lambda: self.alarm is not alarm, when, "alarm")
            if self.alarm is alarm:
                self.deliver(signal.SIGALRM)
                if not interval:
                    self.alarm = (0.0, 0.0)
                when += interval


def _set_timer(which: int, seconds: float, interval: float = 0.0) -> tuple[float, float]:
    if which != signal.ITIMER_REAL:
        raise ValueError("only ITIMER_REAL is simulated: no process spends time computing")
    timer: tuple[float, float] = here().signals.set_alarm(seconds, interval)
    return timer


def _signal(number: int, handler: Any) -> Any:
    process = here()
    if process.thread is not process.main:
        raise ValueError("signal only works in main thread of the main interpreter")
    if not callable(handler) and handler not in (signal.SIG_DFL, signal.SIG_IGN):
        raise TypeError(
            "signal handler must be signal.SIG_IGN, signal.SIG_DFL, or a callable object"
        )
    if number in (signal.SIGKILL, signal.SIGSTOP):
        raise OSError(errno.EINVAL, "Invalid argument")
    before = _getsignal(number)
    process.signals.handlers[number] = handler
    return before


def _getsignal(number: int) -> Any:
    return here().signals.handlers.get(number, signal.SIG_DFL)


def _set_wakeup_fd(fd: int, *, warn_on_full_buffer: bool = True) -> int:
    process = here()
    if process.thread is not process.main:
        raise ValueError("set_wakeup_fd only works in main thread of the main interpreter")
    before, process.signals.wakeup = process.signals.wakeup, fd
    return int(before)


def _exit(status: int) -> None:
    """`os._exit`: at once, unwound by nobody."""
    process = here()
    process.exit_status = status
    process.finish()
    process.stop()


def _kill(pid: int, number: int) -> None:
    if pid not in (0, os.getpid()):
        ORIGINALS[os, "kill"](pid, number)  # the audit hook names who does it
    elif number:
        here().signals.deliver(number)


def _register(function: Any, /, *args: Any, **named: Any) -> Any:
    here().at_exit.append(partial(function, *args, **named))
    return function


def _unregister(function: Any, /) -> None:
    process = here()
    process.at_exit[:] = [each for each in process.at_exit if each.func != function]


ANSWERS: dict[tuple[Any, str], Callable[..., Any]] = {
    (signal, "signal"): _signal,
    (signal, "getsignal"): _getsignal,
    (signal, "set_wakeup_fd"): _set_wakeup_fd,
    (signal, "siginterrupt"): lambda number, flag: None,
    (signal, "pthread_sigmask"): lambda how, mask: set(),
    (signal, "alarm"): lambda seconds: math.ceil(here().signals.set_alarm(seconds)[0]),
    (signal, "setitimer"): _set_timer,
    (signal, "pthread_kill"): lambda thread, number: here().signals.deliver(number),
    (signal, "raise_signal"): lambda number: here().signals.deliver(number),
    (os, "kill"): _kill,
    (os, "_exit"): _exit,
    (os, "abort"): lambda: _exit(-signal.SIGABRT),
    (atexit, "register"): _register,
    (atexit, "unregister"): _unregister,
}
extend((machine_leaf(*key) for key in ANSWERS), ANSWERS)
Part("signals", Signals)
