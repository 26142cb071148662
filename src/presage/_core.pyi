"""The native core: canonical values, fingerprints, and the kernel with its searches."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

class Codec:
    """Values to canonical bytes and back.

    Typed (1, True and 1.0 differ); independent of hash seed, insertion order and object sharing.
    Raises `presage.errors.NotState` for what cannot be state.
    """

    def __init__(self) -> None: ...
    def encode(self, value: Any, /) -> bytes: ...
    def decode(self, data: bytes, /) -> Any:
        """Fresh objects, equal to what was encoded."""

    def learn(self, cls: type, /) -> None:
        """Let encodings of instances of `cls` be decoded, before any was encoded."""

    def immutable(self, data: bytes, /) -> bool:
        """Whether the value could be shared without harm."""

    def digest(self, data: bytes, /) -> int:
        """64 bits, the same in every process."""

def mix(kind: int, slot: int, digest: int) -> int:
    """One component's share of a fingerprint, which is the wrapping sum of all shares."""

def combine(digests: Sequence[int]) -> int:
    """The digest of a sequence of digests; order matters."""

def inspect(path: Path) -> tuple[bytes, bool, int]:
    """(header, whether the search was over, states) of a checkpoint whose digest is right.

    Raises `OSError` if there is none, else `ValueError(kind, detail)`: "unreadable", "foreign",
    "damaged" or "version".
    """

class Checkpoint:
    """A place for checkpoints. `host` has `errors`, `restore`, `recall` and `refuse`."""

    def __init__(
        self, path: Path, header: bytes, seconds: float, resume: bool, host: Any
    ) -> None: ...

class Spill:
    """A folder for what does not fit into memory; its files have no names."""

    def __init__(self, folder: str | Path, memory_mib: int) -> None: ...

class Reader:
    """A state as a predicate sees it; notes what is read. Made by the kernel only."""

    def control(self, node: int) -> Any: ...
    def value(self, node: int, field: int) -> Any: ...
    def observer(self, slot: int) -> Any: ...
    def messages(self, types: tuple[type, ...] | None) -> list[tuple[int, int, Any]]: ...

class Kernel:
    """A system in integers. Steps run in Python once, through `bridge`; searches run natively."""

    def __init__(
        self,
        bridge: Any,
        codec: Codec,
        *,
        values: Sequence[list[Any]],
        ghosts: Sequence[Sequence[bool]],
        observers: Sequence[Any],
        properties: Sequence[str],
        budgets: Sequence[int],
        network: str,
        skip_noops: bool,
    ) -> None:
        """`properties`: "always", "sometimes", "rest" or "step"; `budgets`: -1 is unlimited."""

    def search(
        self,
        kind: str,
        *,
        depth: int | None,
        states: int | None,
        seconds: float | None,
        memory_mib: int | None,
        threads: int,
        keep_going: bool,
        seed: int,
        walks: int,
        progress: Callable[..., None] | None,
        checkpoint: Checkpoint | None = None,
        spill: Spill | None = None,
    ) -> dict[str, Any]:
        """Counts, what stopped it, and one finding per property: the shortest, as events.

        `progress(unique, generated, depth, frontier, walks, handler_runs, decided, seconds,
        resumed_from, checkpoints)` is called a few times a second; `decided` has a flag per
        property.

        A second search on one kernel runs no handler again.
        """
