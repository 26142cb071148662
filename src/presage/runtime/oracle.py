"""The process that looks ahead for a node: a fork of it, which costs it nothing but memory.

The node asks one question at a time and goes on. A prediction that takes far too long is ended by
killing the process that makes it; another takes its place. So a crash of it costs predictions, and
never the node.

Two processes: a keeper, forked before the node has a thread or an event loop, and the worker that
it forks, again and again. All three share one pair of sockets, on which a message is whole or not
there, so whatever the worker was doing when it died leaves nothing behind.

Messages are pickled: both ends are this program, and what came from peers is bytes in them.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

from presage import lifeline
from presage._core import die_with
from presage.model.world.system import System
from presage.records import NamedTuple
from presage.runtime.foresight import Foreseen, Foresight, Question
from presage.runtime.listening import Sockets

BUFFER = 4 << 20  # bytes of a message, as far as the machine lets us
NICE = 10
DEATHS_MAX = 100  # of workers in a row, until there are no more
STEADY = 1.0  # seconds after which the death of a worker begins a new row


class Unable(NamedTuple):
    """A question on which the process failed that was to answer it."""

    why: str


class Oracle:
    """A node's end of it."""

    def __init__(
        self,
        system: System,
        name: str,
        target: str | None = None,
        sockets: Sockets | None = None,
    ) -> None:
        """Fork the keeper; to be called before there is a thread or an event loop.

        `sockets` are the node's: the keeper lets go of them. It may outlive a killed node by a
        moment, in which the next process of the node could not have its address.
        """
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for each in (mine, theirs):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        parent = os.getpid()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            mine.close()
            if sockets is not None:
                sockets.close()
            _keep(parent, theirs, system, name, target)
        theirs.close()
        self.socket = mine
        self.socket.setblocking(False)
        self.worker: int | None = None  # the process that answers now
        self.ended = False  # there is nobody to ask any more
        self.dropped = 0  # questions that were too large to ask
        self.killed = 0
        self._asked = 0

    def ask(self, question: Question) -> bool:
        """Ask; false if it cannot be asked, since it is too large or nobody is there."""
        self._asked += 1
        try:
            self.socket.send(pickle.dumps((self._asked, question)))
        except OSError:
            self.dropped += 1
            return False
        return True

    def heard(self) -> list[Foreseen | Unable]:
        """What was answered since this was last called, of the last question only."""
        found: list[Foreseen | Unable] = []
        while True:
            try:
                data = self.socket.recv(BUFFER)
            except BlockingIOError:
                return found
            except OSError:
                data = b""
            if not data:
                self.ended = True
                return found
            number, answer = pickle.loads(data)
            if number is None:
                self.worker = answer
            elif number == self._asked:
                found.append(answer)

    def end_question(self) -> None:
        """Give up the question that is being answered: its process is killed."""
        self.heard()
        self._asked += 1
        if self.worker is not None:
            self.killed += 1
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.worker, signal.SIGKILL)
            self.worker = None

    def close(self) -> None:
        """End all of it."""
        self.end_question()
        self.socket.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def _keep(parent: int, near: socket.socket, *task: Any) -> NoReturn:
    """Have a worker, for as long as the node lives."""
    lifeline.detach()
    die_with(parent)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, *lifeline.endings()):
        signal.signal(number, signal.SIG_IGN)  # those are for the node, which ends this
    with contextlib.suppress(OSError):
        os.nice(NICE)
    keeper = os.getpid()
    deaths = 0
    while deaths < DEATHS_MAX:
        began = time.monotonic()
        pid = os.fork()
        if pid == 0:
            die_with(keeper)
            lifeline.leave(_guarded(_work, near, *task))
        if os.waitpid(pid, 0)[1] == 0:
            break
        deaths = deaths + 1 if time.monotonic() - began < STEADY else 0
    lifeline.leave(0)


def _guarded(function: Callable[..., None], *args: Any) -> int:
    try:
        function(*args)
    except BaseException:  # the keeper starts another
        return 1
    return 0


def _work(near: socket.socket, system: System, name: str, target: str | None) -> None:
    """Answer questions until nobody is there to ask."""
    near.send(pickle.dumps((None, os.getpid())))
    with Foresight(system, target) as foresight:
        while data := near.recv(BUFFER):
            number, question = pickle.loads(data)
            try:
                answer: Foreseen | Unable = foresight.answer(question, name)
            except Exception as error:
                near.send(pickle.dumps((number, Unable(f"{type(error).__name__}: {error}"))))
                raise
            near.send(pickle.dumps((number, answer)))
