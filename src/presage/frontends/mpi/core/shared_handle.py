"""What a script holds of something that ranks have made together: a window, a file."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from presage.frontends.mpi.core.numbered import Numbered


class Owned(Numbered):
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

    def _identity(self) -> object | None:
        held: object | None = self._held
        return held
