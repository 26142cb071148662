"""A rank that executes tasks, until there is no more to come."""

from __future__ import annotations

import io
import os
import pickle
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from types import MethodType, ModuleType
from typing import Any, NamedTuple

from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.rma.memory import leave, take
from presage.process.leaves import Leaf

READY, FAILED, BEGIN = 0, -1, -2  # instead of the number of a task
END = "end"  # instead of a task
RUN_NAME = "__worker__"  # of the script, as workers run it
WORKERS = "workers"  # where a worker keeps the communicator of all workers


class Boxes(NamedTuple):
    """The mailboxes of an executor."""

    setup: str
    tasks: str
    results: str

    @classmethod
    def of(cls, name: str) -> Boxes:
        return cls(*(f"{name} {each}" for each in cls._fields))


class Setup(NamedTuple):
    """What a worker has to know at first."""

    main: bool  # whether it runs the script, but for what is guarded by the name of the module
    path: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    variables: bytes  # global ones of the script, pickled
    initializer: bytes  # and its arguments, pickled


class _Pickler(pickle.Pickler):
    def reducer_override(self, given: Any) -> Any:
        """Functions that presage has replaced, such as `time.sleep`, go by their names."""
        is_leaf = isinstance(given, MethodType) and isinstance(given.__self__, Leaf)
        return given.__name__ if is_leaf else NotImplemented


def pickled(given: Any) -> bytes:
    """As `pickle.dumps`."""
    out = io.BytesIO()
    _Pickler(out).dump(given)
    return out.getvalue()


class RemoteTraceback(Exception):
    """Where a task has failed, at its worker."""


def serve(name: str, comm: Any, main: ModuleType | None, run: Callable[[], None]) -> None:
    """Execute the tasks of an executor; `run` runs the script in `main`."""
    boxes = Boxes.of(name)
    setup = _set_up(boxes, comm, main, run)
    is_ready = initialized(*pickle.loads(setup.initializer))
    leave(boxes.results, (READY if is_ready else FAILED, b""))
    while is_ready and (task := _next_task(boxes)) != END:
        _execute(*task)
    del current_rank().own_notes[WORKERS]


def serve_all(name: str, comm: Any, main: ModuleType | None, run: Callable[[], None]) -> None:
    """The same for one executor after the other; what an initializer has spoilt is not executed."""
    boxes, failed = Boxes.of(name), set()

    def begin(results: str, initializer: bytes) -> None:
        if not all(comm.allgather(initialized(*pickle.loads(initializer)))):
            failed.add(results)
        leave(results, (FAILED if results in failed else READY, b""))

    setup = _set_up(boxes, comm, main, run)
    begin(boxes.results, setup.initializer)
    while (task := _next_task(boxes)) != END:
        results, number, data = task
        if number == BEGIN:
            comm.Barrier()  # so that each worker takes one
            begin(results, data)
        elif results in failed:
            leave(results, (number, pickled((False, BrokenExecutor("initializer failed")))))
        else:
            _execute(*task)
    del current_rank().own_notes[WORKERS]


def _set_up(boxes: Boxes, comm: Any, main: ModuleType | None, run: Callable[[], None]) -> Setup:
    enter_call("a worker without its executor")
    setup = Setup(*take(boxes.setup))
    current_rank().own_notes[WORKERS] = comm
    sys.path.extend(setup.path)
    os.environ.update(setup.environment)
    if main is not None:
        main.__dict__.update(pickle.loads(setup.variables))
        main.__name__ = RUN_NAME
        current_rank().add_module(RUN_NAME, main)
        if setup.main:
            run()
    return setup


def _next_task(boxes: Boxes) -> Any:
    enter_call("a worker without a task")
    return take(boxes.tasks)


def _execute(results: str, number: int, data: bytes) -> None:
    leave(results, (number, _outcome(data)))


def usual_number() -> int:
    """How many workers there are if the script does not say."""
    return int(os.environ.get("MPI4PY_FUTURES_MAX_WORKERS") or 1)


def initialized(function: Callable[..., Any] | None, args: Any, named: Any) -> bool:
    """Call an initializer, if there is one; whether it has not failed."""
    if function is None:
        return True
    try:
        function(*args, **named)
    except (Exception, SystemExit, KeyboardInterrupt):
        return False
    return True


def _outcome(data: bytes) -> bytes:
    """What a task gives or raises, pickled."""
    try:
        function, args, named = pickle.loads(data)
        return pickled((True, function(*args, **named)))
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        text = "".join(traceback.format_exception(error))
        return pickle.dumps((False, _Failure(error, text)))


class _Failure:
    """An exception on its way: unpickled, it is that exception, or one that says the same."""

    def __init__(self, error: BaseException, text: str) -> None:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            error = RuntimeError(f"{type(error).__name__}: {error}")
        self._error, self._text = error, text

    def __reduce__(self) -> Any:
        return _failed, (self._error, self._text)


def _failed(error: BaseException, text: str) -> BaseException:
    error.__cause__ = RemoteTraceback(f'\n"""\n{text}"""')
    return error
