"""`MPIPoolExecutor` and its relatives: they start workers, and give them tasks."""

from __future__ import annotations

import functools
import itertools
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, as_completed
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Self

from presage.frontends.mpi.communicator.comm import COMM_SELF, COMM_WORLD
from presage.frontends.mpi.core.mistakes import unsupported
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.futures.crew import CREW, Crew
from presage.frontends.mpi.futures.future import Future
from presage.frontends.mpi.futures.pools import Own, Ranks
from presage.frontends.mpi.futures.worker import (
    RUN_NAME,
    WORKERS,
    Setup,
    initialized,
    pickled,
    serve,
    serve_all,
    usual_number,
)
from presage.frontends.mpi.inter.spawn import start_workers
from presage.process.context import current

LAST = "at the end"  # what is called when a rank finalizes MPI


class MPIPoolExecutor(Executor):
    """Executes tasks by ranks that it spawns."""

    Future = Future
    _pool: Any = None
    _is_over = False

    def __init__(
        self,
        max_workers: int | None = None,
        initializer: Callable[..., Any] | None = None,
        initargs: Iterable[Any] = (),
        **options: Any,
    ) -> None:
        if max_workers is not None and int(max_workers) <= 0:
            raise ValueError("max_workers must be greater than 0")
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        self._workers, self._options = max_workers, options
        self._initializer = initializer, tuple(initargs), options.pop("initkwargs", {})

    def _made_pool(self) -> Any:
        rank = current_rank()
        rank.add_module(RUN_NAME, sys.modules["__main__"])
        crew: Crew | None = rank.own_notes.get(CREW)
        return self._started_pool() if crew is None else self._shared_pool(crew)

    def _shared_pool(self, crew: Crew) -> Any:
        return crew.pool(self._setup()) if crew.size else self._own_pool(1)

    def _started_pool(self) -> Any:
        count = int(self._workers or usual_number())
        return Ranks(start_workers(count), count, self._setup())

    def _own_pool(self, count: int) -> Any:
        call = enter_call(type(self).__name__)
        if not current_rank().delivery.ordered:
            raise unsupported(
                f"{call}: ranks have one thread, and a search could not try what several do"
            )
        current_rank().own_notes[WORKERS] = COMM_SELF
        return Own(count, lambda: initialized(*self._initializer))

    def _setup(self) -> Setup:
        options = self._options
        environment = dict(options.get("env") or {})
        variables = pickled(dict(options.get("globals") or {}))
        initializer = pickled(self._initializer)
        path = tuple(options.get("path") or ())
        main = bool(options.get("main", True))
        return Setup(main, path, tuple(environment.items()), variables, initializer)

    def bootup(self, wait: bool = True) -> Self:
        """Start the workers, which the first task would do."""
        if self._is_over:
            raise RuntimeError("cannot bootup after shutdown")
        if self._pool is None:
            self._pool = self._made_pool()
            current_rank().own_notes.setdefault(LAST, []).append(self.shutdown)
        return self

    @property
    def num_workers(self) -> int:
        """How many there are."""
        if self._is_over or (self._pool is not None and self._pool.broken):
            return 0
        size: int = self.bootup()._pool.size
        return size

    _max_workers = num_workers

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """A task: `fn(*args, **kwargs)`."""
        if self._pool is not None and self._pool.broken:
            raise BrokenExecutor(self._pool.broken)
        if self._is_over:
            raise RuntimeError("cannot submit after shutdown")
        return self.bootup()._pool.submit((fn, args, kwargs))

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
        buffersize: int | None = None,
        unordered: bool = False,
    ) -> Iterator[Any]:
        """As `map(fn, *iterables)`; `unordered`: results as they come."""
        return self.starmap(
            fn, zip(*iterables, strict=False), timeout, chunksize, buffersize, unordered
        )

    def starmap(
        self,
        fn: Callable[..., Any],
        iterable: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
        buffersize: int | None = None,
        unordered: bool = False,
    ) -> Iterator[Any]:
        """As `itertools.starmap(fn, iterable)`."""
        if chunksize < 1:
            raise ValueError("chunksize must be >= 1.")
        if buffersize is not None and not isinstance(buffersize, int):
            raise TypeError("buffersize must be an integer or None")
        if buffersize is not None and (buffersize < 1 or unordered):
            raise ValueError("buffersize must be None or > 0, and None if unordered")
        end = None if timeout is None else current().read_clock() + timeout
        if chunksize == 1:
            return self._results(fn, iter(iterable), end, buffersize, unordered)
        task = functools.partial(_chunk, fn)
        chunks = ((each,) for each in _chunks(iter(iterable), chunksize))
        lists = self._results(task, chunks, end, buffersize, unordered)
        return itertools.chain.from_iterable(lists)

    def _results(
        self,
        fn: Callable[..., Any],
        given: Iterator[Any],
        end: float | None,
        most: int | None,
        unordered: bool,
    ) -> Iterator[Any]:
        begun = deque(self.submit(fn, *args) for args in itertools.islice(given, most))
        return self._arriving(fn, begun, given, end, most, unordered)

    def _arriving(
        self,
        fn: Callable[..., Any],
        begun: deque[Any],
        given: Iterator[Any],
        end: float | None,
        most: int | None,
        unordered: bool,
    ) -> Iterator[Any]:
        try:
            for each in as_completed(begun, _left(end)) if unordered else ():
                begun.remove(each)
                yield each.result()
            while begun:
                result = begun.popleft().result(_left(end))
                more = next(given, None) if most is not None and not self._is_over else None
                if more is not None:
                    begun.append(self.submit(fn, *more))
                yield result
        finally:
            for each in begun:
                each.cancel()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """No more tasks; `wait`: until all are done, which the end of the rank does otherwise."""
        self._is_over = True
        if self._pool is None:
            return
        if cancel_futures:
            self._pool.cancel_all()
        if wait:
            pool, self._pool = self._pool, None
            current_rank().own_notes[LAST].remove(self.shutdown)
            pool.finish()


def _left(end: float | None) -> float | None:
    return None if end is None else max(0.0, end - current().read_clock())


def _chunk(fn: Callable[..., Any], chunk: Iterable[Any]) -> list[Any]:
    return list(itertools.starmap(fn, chunk))


def _chunks(given: Iterator[Any], size: int) -> Iterator[tuple[Any, ...]]:
    while chunk := tuple(itertools.islice(given, size)):
        yield chunk


class ProcessPoolExecutor(MPIPoolExecutor):
    """The same, whatever the script was started by."""

    def _shared_pool(self, crew: Crew) -> Any:
        return self._started_pool()


class ThreadPoolExecutor(MPIPoolExecutor):
    """Executes tasks in the rank itself."""

    def _made_pool(self) -> Any:
        return self._own_pool(int(self._workers or 1))


class _OfRanks(MPIPoolExecutor):
    """The executor of ranks that are there."""

    def __init__(self, name: str, count: int, **options: Any) -> None:
        super().__init__(**options)
        self._name, self._count = name, count

    def _started_pool(self) -> Any:
        return Ranks(self._name, self._count, self._setup()) if self._count else self._own_pool(1)


@contextmanager
def _workers(comm: Any, root: int) -> Iterator[Any]:
    """The communicator of all but one."""
    everyone = comm.Get_group()
    others = everyone.Excl([root])
    workers = comm.Create_group(others)
    yield workers
    for each in (workers, others, everyone):
        each.Free()


class MPICommExecutor:
    """One rank of a communicator gets an executor, and the others are its workers."""

    def __init__(self, comm: Any = None, root: int = 0, **options: Any) -> None:
        self._comm = COMM_WORLD if comm is None else comm
        if self._comm.Is_inter():
            raise ValueError("expecting an intracommunicator")
        if not 0 <= root < self._comm.Get_size():
            raise ValueError("expecting root in range(comm.size)")
        self._root, self._options = root, options
        self._executor: Any = None

    def __enter__(self) -> Any:
        """The executor at the root; the others execute tasks, and get None."""
        if self._executor is not None:
            raise RuntimeError("__enter__")
        comm, root = self._comm, self._root
        count = current_rank().own_notes.setdefault("comm executors", {})
        label = comm._core("MPICommExecutor").name
        count[label] = count.get(label, 0) + 1
        name = f"{label} executor {count[label]}"
        if comm.Get_rank() == root:
            self._options.pop("max_workers", None)
            made = _OfRanks(name, comm.Get_size() - 1, **self._options)
            self._executor = made.bootup()
        else:
            with _workers(comm, root) as workers:
                serve(name, workers, None, lambda: None)
        return self._executor

    def __exit__(self, *_: object) -> bool:
        executor, self._executor = self._executor, None
        if executor is None:
            return True
        executor.shutdown()
        return False


def get_comm_workers() -> Any:
    """The communicator of all workers, in a task."""
    found = current_rank().own_notes.get(WORKERS)
    if found is None:
        raise RuntimeError("communicator is not accessible")
    return found


def finish_all() -> None:
    """The rank ends: executors that were not waited for do what is left."""
    for shutdown in list(current_rank().own_notes.get(LAST, ())):
        shutdown()


def share_ranks(main: ModuleType, run: Callable[[], None]) -> None:
    """The first rank runs the script in `main`; the others are workers of all its executors."""
    rank = current_rank()
    if rank.world.rank == 0:
        crew = rank.own_notes[CREW] = Crew(rank.world.size - 1)
        run()
        finish_all()
        crew.dismiss()
    else:
        with _workers(COMM_WORLD, 0) as workers:
            serve_all(CREW, workers, main, run)
