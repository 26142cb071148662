"""Clock, chance and identity of a simulated process: what the leaves answer.

All clocks are one: the time of the process, which stands still within a step. The wall clock begins
at a fixed date. Chance is one stream per node and life; `os.urandom`, `uuid` and `secrets` draw
from it, too. The environment is a copy: what the process writes there, it alone reads.
"""

from __future__ import annotations

import errno
import os
import random
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from presage.frontends.real.machine.proc import pid
from presage.frontends.real.machine.process import Process
from presage.process.context import running
from presage.process.fence import EPOCH
from presage.process.leaves import CONVERTS, DRAWS, ORIGINALS, extend, machine_leaf

INTEGERS = {"choice", "randrange", "randint", "shuffle", "sample", "choices", "getrandbits"}
ENVIRON: Any = type(os.environ)


def here() -> Process:
    """The process that runs; leaves ask only where there is one."""
    return running.stack[-1]  # type: ignore[return-value]


def _seconds(start: float) -> Callable[[], float]:
    return lambda: start + running.stack[-1].read_clock()


def _nanoseconds(start: float) -> Callable[[], int]:
    return lambda: round((start + here().read_clock()) * 1e9)


def _clock_gettime(clock: int) -> float:
    return here().read_clock() + (EPOCH if clock == time.CLOCK_REALTIME else 0.0)


def _sleep(seconds: float) -> None:
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    process = here()
    process.sleep(seconds)


def _conversion(name: str, least: int) -> Callable[..., Any]:
    """Given a time these functions only convert it; without one they read the clock."""
    original, split = ORIGINALS[time, name], ORIGINALS[time, "gmtime"]

    def converted(*args: Any) -> Any:
        if len(args) >= least and args[-1] is not None:
            return original(*args)
        moment: Any = EPOCH + here().read_clock()
        given = args[: least - 1]
        return original(*given, split(moment) if name in ("strftime", "asctime") else moment)

    return converted


def _draw(name: str) -> Callable[..., Any]:
    if name in INTEGERS:
        return lambda *args, **named: getattr(here().integers, name)(*args, **named)
    return lambda *args, **named: getattr(here().chance, name)(*args, **named)


def _entropy(size: int, *_: Any) -> bytes:
    return here().chance.randbytes(size)


def _uuid(*_: Any, **__: Any) -> uuid.UUID:
    return uuid.UUID(bytes=_entropy(16), version=4)


def _seed(given: Any) -> Any:
    return here().chance.getrandbits(64) if given is None else given


def _make_random(made: random.Random, x: Any = None) -> None:
    ORIGINALS[random.Random, "__init__"](made, _seed(x))


def _seed_random(made: random.Random, a: Any = None, version: int = 2) -> None:
    ORIGINALS[random.Random, "seed"](made, _seed(a), version)


# The environment.


def _overlay() -> dict[str, str | None]:
    """What the process wrote; None: it removed the name."""
    return here().notes.setdefault("environ", {})  # type: ignore[no-any-return]


def _get_variable(environ: Any, key: Any) -> Any:
    overlay = _overlay()
    if environ is not os.environ or key not in overlay:
        return ORIGINALS[ENVIRON, "__getitem__"](environ, key)
    value = overlay[key]
    if value is None:
        raise KeyError(key)
    return value


def _set_variable(environ: Any, key: Any, value: Any) -> None:
    environ.encodekey(key)
    environ.encodevalue(value)
    _overlay()[key] = value


def _remove_variable(environ: Any, key: Any) -> None:
    _get_variable(environ, key)
    _overlay()[key] = None


def _variables(environ: Any) -> Iterator[Any]:
    overlay = _overlay()
    names = list(ORIGINALS[ENVIRON, "__iter__"](environ))
    yield from (name for name in names if overlay.get(name, "") is not None)
    yield from (n for n, value in overlay.items() if value is not None and n not in names)


# Identity.


def _uname() -> Any:
    real = ORIGINALS[os, "uname"]()
    return os.uname_result((real.sysname, here().name, real.release, real.version, real.machine))


def _own_number(number: int = 0) -> int:
    """The process that is meant by a number: this one, or nobody."""
    own = pid(here())
    if number not in (0, own):
        raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
    return own


def _no_descriptor(*_: Any) -> int:
    """Linux before 5.3; `asyncio` asks whether it may watch the programs that it starts so."""
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))


def _priority(which: int, who: int) -> int:
    _own_number(who if which == os.PRIO_PROCESS else 0)
    return 0


def _times() -> Any:
    spent = here().read_clock()
    return os.times_result((spent, 0.0, 0.0, 0.0, spent))


def _answers() -> dict[tuple[Any, str], Callable[..., Any]]:
    answers: dict[tuple[Any, str], Callable[..., Any]] = {}
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        start = EPOCH if name == "time" else 0.0
        answers[time, name] = _seconds(start)
        answers[time, f"{name}_ns"] = _nanoseconds(start)
    answers |= {(random, name): _draw(name) for name in DRAWS.split()}
    answers |= {(time, name): _conversion(name, least) for name, least in CONVERTS.items()}
    return answers | {
        (time, "clock_gettime"): _clock_gettime,
        (time, "clock_gettime_ns"): lambda clock: round(_clock_gettime(clock) * 1e9),
        (time, "sleep"): _sleep,
        (os, "urandom"): _entropy,
        (os, "getrandom"): _entropy,
        (random, "_urandom"): _entropy,
        (random.Random, "__init__"): _make_random,
        (random.Random, "seed"): _seed_random,
        (uuid, "uuid1"): _uuid,
        (uuid, "getnode"): lambda: int(getattr(here().host, "number", 0)),
        (os, "getpid"): lambda: pid(here()),
        (os, "getppid"): lambda: 1,
        (os, "getlogin"): lambda: "user",
        (os, "cpu_count"): lambda: 1,
        (os, "process_cpu_count"): lambda: 1,  # since Python 3.13
        (os, "sched_getaffinity"): lambda number: {0} if _own_number(number) else set(),
        (os, "getpgid"): _own_number,
        (os, "getpgrp"): _own_number,
        (os, "getsid"): _own_number,
        (os, "getpriority"): _priority,
        (os, "pidfd_open"): _no_descriptor,
        (os, "getloadavg"): lambda: (0.0, 0.0, 0.0),
        (os, "times"): _times,
        (os, "uname"): _uname,
        (socket, "gethostname"): lambda: here().name,
        (ENVIRON, "__getitem__"): _get_variable,
        (ENVIRON, "__setitem__"): _set_variable,
        (ENVIRON, "__delitem__"): _remove_variable,
        (ENVIRON, "__iter__"): _variables,
        (ENVIRON, "__len__"): lambda environ: sum(1 for _ in _variables(environ)),
    }


ANSWERS = {key: answer for key, answer in _answers().items() if hasattr(*key)}
extend((machine_leaf(*key) for key in ANSWERS), ANSWERS)
