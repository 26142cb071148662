"""Ray: the only module that knows it.

A task of ours is a task of Ray. Ray starts it again where its worker dies, twice; it has no side
effects, so that does no harm. Nothing of Ray is imported before a cluster is asked for.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from presage.distribute.loopback import only_loopback
from presage.distribute.pool import WorkerLost
from presage.distribute.shard import ShardTask, ShardWorker
from presage.distribute.task import Answer, Task, work
from presage.errors import BadTarget

T = TypeVar("T")
RETRIES = 2
REACH_SECONDS = 10.0
STORE_BYTES = 512 * 2**20  # of Ray's object store, on this machine
HASH_SEED = {"PYTHONHASHSEED": "0"}  # as the command itself has it
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # they do what the command waits for
    "RAY_DEDUP_LOGS": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


class Where(Struct, frozen=True):
    """Which workers: `address` of a running Ray, or so many processes of this machine."""

    address: str | None = None
    workers: int | None = None  # None: one for each core

    @property
    def is_local(self) -> bool:
        return self.address is None


class Ray:
    """A connection to Ray, and what was started for it."""

    def __init__(self, where: Where, folder: str | None = None) -> None:
        self._exits = contextlib.ExitStack()
        self.ray = _import()
        self.is_alone = False  # whether nothing outside this machine can connect
        if where.is_local:
            self.is_alone = self._exits.enter_context(only_loopback())
        try:
            self._connect(where, folder)
        except BaseException:
            self._exits.close()
            raise
        self.workers = max(1, int(self.ray.cluster_resources().get("CPU", 1)))
        self._tasks: dict[Callable[..., Any], Any] = {}  # what workers have loaded once

    def _connect(self, where: Where, folder: str | None) -> None:
        how: dict[str, Any] = {
            "include_dashboard": False,
            "log_to_driver": False,
            "logging_level": "ERROR",
            "configure_logging": False,
        }
        runtime: dict[str, Any] = {"env_vars": dict(HASH_SEED)}
        if where.is_local:
            os.environ.update(QUIET | HASH_SEED)
            how |= {"address": "local", "num_cpus": where.workers or os.cpu_count()}
            how |= {"_node_ip_address": "127.0.0.1", "object_store_memory": STORE_BYTES}
            runtime = {}
        else:
            how = {name: how[name] for name in ("log_to_driver", "logging_level")}
            how["address"] = where.address
            if folder is not None:
                runtime["working_dir"] = folder
        with _into_file() as log:
            try:
                _reach(where.address)
                self.ray.init(**how, runtime_env=runtime or None)
            except Exception as error:
                raise BadTarget(
                    f"no Ray at `{where.address or 'this machine'}`: {_first_line(error)}",
                    f"it does not run there, or something keeps it from starting; see `{log}`",
                    "start one with `ray start --head`, or leave out the address",
                ) from error
        self._exits.callback(self._disconnect)

    def _disconnect(self) -> None:
        with _into_file():
            self.ray.shutdown()

    def submit(self, task: Task) -> Any:
        return self.call(work, task)

    def wait(self, handles: Sequence[Any], seconds: float) -> list[Any]:
        done, _ = self.ray.wait(list(handles), num_returns=1, timeout=seconds)
        return list(done)

    def answer(self, handle: Any) -> Answer:
        found: Answer = self._got(handle)
        return found

    def _got(self, handle: Any) -> Any:
        known = self.ray.exceptions
        lost = (known.WorkerCrashedError, known.OutOfMemoryError, known.NodeDiedError)
        try:
            return self.ray.get(handle)
        except (*lost, known.ObjectLostError) as error:
            raise WorkerLost(_first_line(error)) from error
        except known.RayTaskError as error:
            raise (error.cause or error) from None

    def cancel(self, handle: Any) -> None:
        """The search in the worker hears of it as of Ctrl-C, and ends at once."""
        with contextlib.suppress(Exception):
            self.ray.cancel(handle, force=False)

    def call(self, function: Callable[..., T], *args: Any) -> Any:
        """Let a worker call a function that has no side effects; `result` waits for it."""
        if function not in self._tasks:
            self._tasks[function] = self.ray.remote(max_retries=RETRIES, num_cpus=1)(function)
        return self._tasks[function].remote(*args)

    def result(self, handle: Any) -> Any:
        """What a function gave; raises `WorkerLost` if each worker died of it."""
        return self._got(handle)

    def company(self, tasks: Sequence[ShardTask]) -> Actors:
        """Shards, each in a process of its own."""
        return Actors(self.ray, tasks)

    def close(self) -> None:
        self._exits.close()


class Actors:
    """Shards as actors. What one sends another goes from process to process, not by way of us."""

    def __init__(self, ray: Any, tasks: Sequence[ShardTask]) -> None:
        self._ray = ray
        actor = ray.remote(max_restarts=0, num_cpus=1)(ShardWorker)
        self._actors = [actor.remote(task) for task in tasks]
        self.every("ready")

    def every(self, name: str, *args: Any) -> list[Any]:
        return self._got([getattr(actor, name).remote(*args) for actor in self._actors])

    def one(self, index: int, name: str, *args: Any) -> Any:
        return self._got([getattr(self._actors[index], name).remote(*args)])[0]

    def exchange(self, count: int) -> list[bool]:
        parts = len(self._actors) + 1
        found = [actor.expand.options(num_returns=parts).remote(count) for actor in self._actors]
        taken = [
            actor.receive.remote(sender, batches[index])
            for index, actor in enumerate(self._actors)
            for sender, (_, *batches) in enumerate(found)
            if sender != index
        ]
        left: list[bool] = self._got([each[0] for each in found])
        self._got(taken)
        return left

    def _got(self, handles: list[Any]) -> list[Any]:
        known = self._ray.exceptions
        try:
            return list(self._ray.get(handles))
        except (known.RayActorError, known.ObjectLostError, known.OutOfMemoryError) as error:
            raise WorkerLost(_first_line(error)) from error
        except known.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, known.RayActorError | known.ObjectLostError):
                raise WorkerLost(_first_line(cause)) from error
            raise (cause or error) from None

    def close(self) -> None:
        for actor in self._actors:
            with contextlib.suppress(Exception):
                self._ray.kill(actor)


def _reach(address: str | None) -> None:
    """Raise `OSError` where nobody listens: Ray itself tries again for minutes."""
    host, _, port = (address or "").rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), REACH_SECONDS).close()


def _import() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise BadTarget(
            "Ray is not installed here",
            "`--cluster` needs it, and nothing else does",
            '`pip install "presage[ray]"`',
        ) from error


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).strip().splitlines()[0]


@contextlib.contextmanager
def _into_file() -> Iterator[str]:
    """Let what Ray says go to a file, of which the name is given."""
    sys.stderr.flush()
    path = os.path.join(tempfile.gettempdir(), f"presage-ray-{os.getuid()}.log")
    try:
        log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    except OSError:  # a file of somebody else
        path, log = os.devnull, os.open(os.devnull, os.O_WRONLY)
    outputs = {number: os.dup(number) for number in (1, 2)}
    try:
        for number in outputs:
            os.dup2(log, number)
        yield path
    finally:
        for number, before in outputs.items():
            os.dup2(before, number)
            os.close(before)
        os.close(log)
