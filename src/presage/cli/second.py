"""Start the second process of a search, under another hash seed, and talk with it.

It is a command as any other, without a parent of its own: this process is its parent, and it ends
when this one does, whatever ends it. It reads what to run from its standard input and writes what
it found to its standard output.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence

import msgspec

from presage import _core as core
from presage.cli.target.load import load
from presage.environ import CHILD
from presage.execution.causes import forgiving
from presage.execution.sandbox import NOW, Sandbox
from presage.model.world.system import System
from presage.search.check import build
from presage.search.twin.compare import Failed
from presage.search.twin.wire import Request

SEED = "1"  # a search itself runs under 0
LOOKS_PER_SECOND = 20
LINE_MAX = 200  # of what the process says of itself


class Second:
    """A second process that has been started."""

    def __init__(self, arguments: Sequence[str], request: bytes) -> None:
        import tempfile  # which most checks do not need
        from subprocess import PIPE

        from presage.cli.seeded import start

        nowhere = os.open(os.devnull, os.O_RDWR)
        try:
            # A file, not a pipe: nobody has to feed it while it loads.
            with tempfile.TemporaryFile() as asked:
                asked.write(request)
                asked.seek(0)
                self._process = start(
                    arguments,
                    {"PYTHONHASHSEED": SEED, CHILD: f"{os.getpid()} {nowhere} {nowhere}"},
                    stdin=asked,
                    stdout=PIPE,
                    pass_fds=(nowhere,),
                )
        except OSError as error:
            raise Failed(f"no process could be started: {error.strerror}") from error
        finally:
            os.close(nowhere)

    def answer(self, seconds: float, goes_on: Callable[[], bool]) -> bytes:
        """What it says within so many seconds, while `goes_on()`."""
        from subprocess import TimeoutExpired

        ends = NOW() + seconds
        while True:
            try:
                said, complaint = self._process.communicate(timeout=1 / LOOKS_PER_SECOND)
                break
            except TimeoutExpired:
                if not goes_on():
                    raise Failed("interrupted") from None
                if NOW() > ends:
                    raise Failed("it did not answer in time") from None
            except OSError as error:
                raise Failed(f"it cannot be talked to: {error.strerror}") from error
        if self._process.returncode or not said:
            lines = complaint.decode(errors="backslashreplace").splitlines()
            why = next(iter(lines), f"it ended with status {self._process.returncode}")
            raise Failed(why.removeprefix("error: ")[:LINE_MAX])
        return said

    def end(self) -> None:
        """Let it go, whatever it does."""
        if self._process.poll() is None:
            self._process.kill()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._process.wait()


def starter(target: str, settings: dict[str, str]) -> Callable[[bytes], Second]:
    """What starts a process that loads `target` once more."""
    arguments = [target, *(f"--set={name}={value}" for name, value in settings.items()), "--twin"]
    return lambda request: Second(arguments, request)


def serve(target: str, settings: dict[str, str]) -> None:
    """The work of a second process: answer the one request that comes."""
    from presage.search.twin import backwards
    from presage.search.twin.rerun import as_it_is, learn_names, moved, rerun

    said = os.dup(1)
    os.dup2(2, 1)  # of what the checked code prints
    request = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Request)
    system = load(target, settings).system
    if not isinstance(system, System):
        raise TypeError("a search of services asked for it")
    system = forgiving(system, {prop: frozenset(each) for prop, each in request.known.items()})
    opaque = any(node.opaque for node in system.automata)
    ways = [as_it_is, core.backwards] if not opaque and backwards.allow() else [as_it_is]
    ways += [moved(way) for way in ways]
    with Sandbox(request.handler_seconds, None) as sandbox:
        learn_names(system, request)
        system.load_histories(request.histories)
        answer = rerun(system, request, build, sandbox, ways=ways)
    with open(said, "wb") as out:
        out.write(msgspec.msgpack.encode(answer))
