"""What all handles of MPI have in common: they are copied, compared, numbered and named alike.

A handle stands for something that MPI keeps. Copies of a handle stand for the same. Handles that
the standard names, such as `MPI.INT`, are constants of the module; they are pickled by their name.
"""

from __future__ import annotations

from typing import Any, ClassVar

from presage.frontends.mpi.core.mistakes import invalid, wrong_type
from presage.frontends.mpi.core.rank import current_rank

CONSTANTS: dict[int, str] = {}  # names, by the ids of what they name


class Numbered:
    """A handle; `family` is the class that all handles of its kind have in common."""

    family: ClassVar[type[Numbered]]
    __hash__ = None  # type: ignore[assignment]

    def _identity(self) -> object | None:
        """What it stands for; None: nothing, it is a null handle."""
        raise NotImplementedError

    def _become(self, other: Any) -> None:
        """Stand for the same as another handle."""
        self.__dict__.update(other.__dict__)

    @classmethod
    def _checked(cls, given: Any) -> Any:
        """What a constructor was given: another handle of the family."""
        if not isinstance(given, cls.family):
            raise wrong_type(
                f"MPI.{cls.__name__}() takes a handle of its kind, not {type(given).__name__}"
            )
        return given

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, self.family):
            return NotImplemented
        return self._identity() is other._identity()

    def __ne__(self, other: object) -> bool:
        if not isinstance(other, self.family):
            return NotImplemented
        return not self == other

    def __bool__(self) -> bool:
        return self._identity() is not None

    def __reduce__(self) -> Any:
        if id(self) in CONSTANTS:
            return CONSTANTS[id(self)]
        constant = self._constant()
        if constant is None:
            kind = self.family.__name__.lower()
            raise ValueError(f"a {kind} cannot be sent to another rank")
        return type(self), (constant,)

    def _constant(self) -> Any:
        """The constant that stands for the same, if there is one."""
        for each in self._constants():
            if id(each) in CONSTANTS and self == each:
                return each
        return None

    @classmethod
    def _constants(cls) -> list[Any]:
        known: list[Any] = cls.family.__dict__.get("_known", [])
        return known

    @classmethod
    def _note_constant(cls, constant: Any, name: str) -> None:
        if id(constant) not in CONSTANTS:
            CONSTANTS[id(constant)] = name
            if "_known" not in cls.family.__dict__:
                cls.family._known = []  # type: ignore[attr-defined]
            cls.family._known.append(constant)  # type: ignore[attr-defined]

    # Numbers, as libraries in C and Fortran know handles.

    @property
    def handle(self) -> int:
        """A number that stands for the handle."""
        identity = self._identity()
        if identity is None:
            return 0
        known = current_rank().numbers
        for number, (what, _) in known.items():
            if what is identity:
                return number
        number = len(known) + 1
        known[number] = identity, self
        return number

    @classmethod
    def fromhandle(cls, handle: int) -> Any:
        """The handle that a number stands for."""
        if handle == 0:
            return cls()
        known = current_rank().numbers.get(int(handle))
        if known is None or not isinstance(known[1], cls.family):
            raise invalid(f"{cls.__name__}.fromhandle: no handle has the number {handle}")
        kind: Any = type(known[1])
        return kind.__new__(kind, known[1])

    def toint(self) -> int:
        """The number of the handle."""
        return self.handle

    py2f = toint

    @classmethod
    def fromint(cls, arg: int) -> Any:
        """The handle with this number."""
        return cls.fromhandle(arg)

    f2py = fromint

    def free(self) -> None:
        """Free it, if there is something to be freed."""
        if not self or id(self) in CONSTANTS:
            return
        if self._constant() is not None:
            self._become(type(self)())
            return
        ends: Any = getattr(self, "Free", None) or getattr(self, "Close", None)
        ends()


class StateHandle(Numbered):
    """A handle that stands for a state, which says whether it was freed, or for nothing."""

    _state: Any = None

    @classmethod
    def _copied(cls, given: Any) -> Any:
        """What a constructor gives: a null handle, or one that stands for the same as another."""
        made = object.__new__(cls)
        made._state = None
        if given is not None:
            made._become(cls._checked(given))
        return made

    @classmethod
    def _of(cls, state: Any) -> Any:
        """One that stands for a state."""
        made = cls.__new__(cls)
        made._state = state
        return made

    def _identity(self) -> object | None:
        state = self._state
        return None if state is None or getattr(state, "freed", False) else state


def family(cls: type[Any]) -> type[Any]:
    """Of a class: all handles of its subclasses are of one kind."""
    cls.family = cls
    return cls
