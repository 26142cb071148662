"""`mpi4py.util.pool`: the interface of `multiprocessing.pool`, on executors of `mpi4py.futures`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from types import ModuleType
from typing import Any, ClassVar, Self

from presage.frontends.mpi.core.named import calls
from presage.frontends.mpi.futures.compose import collect, compose
from presage.frontends.mpi.futures.executor import MPIPoolExecutor, ThreadPoolExecutor
from presage.frontends.mpi.futures.future import drive

Call = Callable[..., Any]
ROUNDS = 4  # of chunks for each worker


class Pool:
    """Workers that are ranks."""

    Executor: ClassVar[Any] = MPIPoolExecutor

    def __init__(
        self,
        processes: int | None = None,
        initializer: Call | None = None,
        initargs: Iterable[Any] = (),
        **options: Any,
    ) -> None:
        if processes is not None and processes < 1:
            raise ValueError("number of processes must be at least 1")
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        for name in ("maxtasksperchild", "context"):
            if options.pop(name, None) is not None:
                warnings.warn(f"argument {name!r} is not supported", stacklevel=2)
        given = {"initializer": initializer, "initargs": initargs}
        self.executor = self.Executor(processes, **given, **options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.executor.shutdown(wait=False)

    def apply(self, func: Call, args: Any = (), kwds: Any = None) -> Any:
        """`func(*args, **kwds)`, by a worker."""
        return self.executor.submit(func, *args, **(kwds or {})).result()

    def apply_async(
        self,
        func: Call,
        args: Any = (),
        kwds: Any = None,
        callback: Call | None = None,
        error_callback: Call | None = None,
    ) -> ApplyResult:
        """The same, to be waited for."""
        future = self.executor.submit(func, *args, **(kwds or {}))
        return ApplyResult(future, callback, error_callback)

    @calls("map", "starmap")
    def _all(
        self, func: Call, iterable: Iterable[Any], chunksize: int | None = None, *, _name: str = ""
    ) -> list[Any]:
        """The list of what `map` or `itertools.starmap` gives."""
        given = _arguments(iterable, _name)
        size = self._chunksize(given, chunksize)
        return list(self.executor.starmap(func, given, chunksize=size))

    @calls("map_async", "starmap_async")
    def _begun(
        self,
        func: Call,
        iterable: Iterable[Any],
        chunksize: int | None = None,
        callback: Call | None = None,
        error_callback: Call | None = None,
        *,
        _name: str = "",
    ) -> MapResult:
        """The same, to be waited for."""
        given = _arguments(iterable, _name)
        size = self._chunksize(given, chunksize)
        chunks = [given[at : at + size] for at in range(0, len(given), size)]
        begun = [self.executor.submit(_chunk, func, each) for each in chunks]
        return MapResult(compose(collect(begun), _joined), callback, error_callback)

    @calls("imap", "istarmap", "imap_unordered", "istarmap_unordered")
    def _streamed(
        self, func: Call, iterable: Iterable[Any], chunksize: int = 1, *, _name: str = ""
    ) -> Iterator[Any]:
        """As `map` or `itertools.starmap`; `unordered`: results as they come."""
        way, _, unordered = _name[1:].partition("_")
        many = {"chunksize": chunksize, "unordered": bool(unordered)}
        found: Iterator[Any] = getattr(self.executor, way)(func, iterable, **many)
        return found

    def _chunksize(self, given: list[Any], chunksize: int | None) -> int:
        if chunksize is not None:
            return chunksize
        workers = getattr(self.executor, "_max_workers", 0) or 1
        return max(1, -(-len(given) // (workers * ROUNDS)))

    @calls("close", "terminate", "join")
    def _end(self, *, _name: str = "") -> None:
        """No more tasks; `terminate` leaves those that nobody has begun, `join` waits for all."""
        self.executor.shutdown(wait=_name == "join", cancel_futures=_name == "terminate")


def _arguments(given: Iterable[Any], name: str) -> list[Any]:
    """Those of each call."""
    return list(given) if name.startswith("star") else [(each,) for each in given]


def _chunk(func: Call, chunk: list[Any]) -> list[Any]:
    return [func(*args) for args in chunk]


def _joined(lists: list[list[Any]]) -> list[Any]:
    return [each for part in lists for each in part]


class ThreadPool(Pool):
    """Workers that are threads."""

    Executor = ThreadPoolExecutor


class AsyncResult:
    """The result of a call that was not waited for."""

    def __init__(
        self, future: Any, callback: Call | None = None, error_callback: Call | None = None
    ) -> None:
        self.future = future
        self._callbacks = callback, error_callback
        self._is_ready = False
        future.add_done_callback(self._arrived)

    def _arrived(self, future: Any) -> None:
        callback, error_callback = self._callbacks
        try:
            error = TimeoutError() if future.cancelled() else future.exception()
            if error is None and callback is not None:
                callback(future.result())
            elif error is not None and error_callback is not None:
                error_callback(error)
        finally:
            self._is_ready = True

    def wait(self, timeout: float | None = None) -> None:
        """Until it is there, or time is over."""
        drive(self.future.pools, self.ready, timeout)

    def ready(self) -> bool:
        """Whether it is there."""
        return self._is_ready

    def get(self, timeout: float | None = None) -> Any:
        """The result; what the call raised is raised."""
        self.wait(timeout)
        if not self._is_ready:
            raise TimeoutError
        try:
            return self.future.result()
        except CancelledError:
            raise TimeoutError from None

    def successful(self) -> bool:
        """Whether the call has raised nothing."""
        if not self._is_ready:
            raise ValueError(f"{self!r} not ready")
        return not self.future.cancelled() and self.future.exception() is None


class ApplyResult(AsyncResult):
    """Of `apply_async`."""


class MapResult(AsyncResult):
    """Of `map_async` and `starmap_async`."""


def names(mpi: ModuleType) -> dict[str, Any]:
    """What the module has."""
    classes = (Pool, ThreadPool, AsyncResult, ApplyResult, MapResult)
    found = {each.__name__: each for each in classes}
    return {"__doc__": "`multiprocessing.pool` interface via `mpi4py.futures`.", **found}
