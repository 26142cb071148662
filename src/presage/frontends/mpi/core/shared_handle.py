"""What a script holds of something that ranks have made together: a window, a file."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn


class Owned:
    """Holds it until it is freed or closed; then, and without one, it is a null handle."""

    what: ClassVar[str]  # in words

    def __init__(self) -> None:
        self._held: Any = None
        self._handle = 0

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"presage's mpi4py has no {self.what} method `{name}`; what it has is listed in"
            " docs/reference/mpi.md"
        )

    def __bool__(self) -> bool:
        return self._held is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Owned) or self.what != other.what:
            return NotImplemented
        return self._held is other._held

    __hash__ = object.__hash__

    def __reduce__(self) -> Any:
        raise ValueError(f"a {self.what} cannot be sent to another rank")
