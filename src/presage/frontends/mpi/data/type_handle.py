"""`MPI.Datatype` without packing: what a type is made of, and how it is made from others.

A type remembers which call made it of what, as `Get_contents` and `decode` say. Its layout is
computed when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from presage.frontends.mpi.core.attributes import Attributed
from presage.frontends.mpi.core.mistakes import WrongKey, invalid, wrong_value
from presage.frontends.mpi.core.numbered import StateHandle, family
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.data.constants import NUMBERS
from presage.frontends.mpi.data.layout import Basic, Layout

Contents = tuple[list[int], list[int], list[int], list[Any]]
F90 = ("F90_INTEGER", "F90_REAL", "F90_COMPLEX")


class TypeState:
    """A type, however many handles stand for it."""

    def __init__(self, name: str, combiner: str, make: Callable[[], Layout]) -> None:
        self.name = name
        self.combiner = combiner
        self.params: dict[str, Any] = {}
        self.base: TypeHandle | None = None
        self.make = make
        self.is_predefined = combiner == "NAMED" or combiner in F90
        self.committed = self.is_predefined
        self.freed = False
        self.own: dict[str, Any] = {}  # its name and its attributes
        self.handle = 0
        self._layout: Layout | None = None
        self.contents: Contents | None = None  # see `Get_contents`; found when first asked for

    @property
    def layout(self) -> Layout:
        if self._layout is None:
            self._layout = self.make()
        return self._layout


@family
class TypeHandle(Attributed, StateHandle):
    """A type of element in a buffer."""

    named: ClassVar[dict[str, Any]] = {}  # the predefined ones
    codes: ClassVar[dict[str, Any]] = {}  # letters, and what they stand for
    _state: TypeState | None

    def __new__(cls, datatype: Any = None) -> Any:
        return cls._copied(datatype)

    def __repr__(self) -> str:
        state = self._state
        if state is None or state.is_predefined:
            return f"MPI.{'DATATYPE_NULL' if state is None else state.name}"
        return f"<{state.name} of {state.layout.sign}>"

    def _used(self, call: str = "this call") -> TypeState:
        if self._state is None:
            raise invalid(f"{call}: the datatype is DATATYPE_NULL", "ERR_TYPE")
        if self._state.freed:
            raise invalid(f"{call}: the datatype {self!r} was freed before", "ERR_TYPE")
        return self._state

    def check(self, call: str, committed: bool = True) -> None:
        """Refuse a type that cannot be used."""
        if committed and not self._used(call).committed:
            raise invalid(f"{call}: the datatype {self!r} was not committed", "ERR_TYPE")

    @property
    def layout(self) -> Layout:
        state = self._state
        if state is None or state.freed or state._layout is None:
            return self._used().layout
        return state._layout

    @property
    def _known_layout(self) -> Layout | None:
        """The same; None of a null type, and of one that was freed."""
        state = self._state
        return None if state is None or state.freed else state._layout or state.layout

    @property
    def sign(self) -> str:
        """Of its elements."""
        return "null" if self._state is None else self._state.layout.sign

    @property
    def basic(self) -> Basic:
        """Of its first element."""
        pattern = self.layout.pattern
        return pattern[0] if pattern else Basic("null", "", 0)

    # What is asked of it.

    def Get_size(self) -> int:
        """Bytes of its elements."""
        return self.layout.size

    def Get_extent(self) -> tuple[int, int]:
        """(lower bound, distance from one item to the next)."""
        return self.layout.lower, self.layout.extent

    def Get_true_extent(self) -> tuple[int, int]:
        """(first byte, distance to the end of the last)."""
        first, end = self.layout.true_bounds
        return first, end - first

    def Get_name(self) -> str:
        """Its name; that of the standard, unless another was set."""
        if self._state is None:
            return "MPI_DATATYPE_NULL"
        state = self._used("Get_name")
        plain = f"MPI_{state.name}" if state.combiner == "NAMED" else ""
        return str(self._own().get("name", plain))

    def Set_name(self, name: str) -> None:
        """Give it a name."""
        self._own()["name"] = name

    def _own(self) -> dict[str, Any]:
        """What this rank keeps with a type; predefined ones are shared by all ranks."""
        state = self._used("Get_attr")
        if not state.is_predefined:
            return state.own
        kept: dict[str, Any] = current_rank().own_notes.setdefault(("type", state.name), {})
        return kept

    def _attributes(self) -> dict[int, Any]:
        kept: dict[int, Any] = self._own().setdefault("attributes", {})
        return kept

    def Commit(self) -> Any:
        """It can be used from now on."""
        self._used("Commit").committed = True
        return self

    def Free(self) -> None:
        """Let go of it."""
        call = enter_call("Datatype.Free")
        state = self._used(call)
        if state.is_predefined:
            raise invalid(f"{call}: {self!r} cannot be freed", "ERR_TYPE")
        self._delete_attributes()
        state.freed = True
        current_rank().drop(state.handle)

    def Is_predefined(self) -> bool:
        return self._state is None or self._state.is_predefined

    # How it is made.

    def Get_envelope(self) -> tuple[int, int, int, int, int]:
        """How many integers, addresses, counts and types made it, and by which call."""
        numbers, addresses, counts, types = self._contents()
        combiner = NUMBERS[f"COMBINER_{self._used('Get_envelope').combiner}"]
        return len(numbers), len(addresses), len(counts), len(types), combiner

    def Get_contents(self) -> Contents:
        """The integers, addresses, counts and types that made it."""
        call = enter_call("Get_contents")
        if self._used(call).combiner == "NAMED":
            raise invalid(f"{call}: {self!r} is predefined, and made of nothing", "ERR_TYPE")
        numbers, addresses, counts, types = self._contents()
        again = [each._again() for each in types]
        return list(numbers), list(addresses), list(counts), again

    def _contents(self) -> Contents:
        state = self._used("Get_contents")
        if state.contents is None:
            state.contents = self._made_of(state)
        return state.contents

    @staticmethod
    def _made_of(state: TypeState) -> Contents:
        given, base = state.params, [state.base] if state.base is not None else []
        if state.combiner in F90:
            return list(given.values()), [], [], []
        if state.combiner == "SUBARRAY":
            sizes = [*given["sizes"], *given["subsizes"], *given["starts"]]
            return [len(given["sizes"]), given["order"]], [], sizes, base
        if state.combiner == "DARRAY":
            each = [*given["distribs"], *given["dargs"], *given["psizes"]]
            numbers = [given["size"], given["rank"], len(given["gsizes"]), *each, given["order"]]
            return numbers, [], list(given["gsizes"]), base
        types = given.get("datatypes", base)
        lists = [value for key, value in given.items() if key != "datatypes"]
        has_lists = any(isinstance(value, list) for value in lists)
        counts = [len(given["displacements"])] if has_lists else []
        for value in lists:
            counts += value if isinstance(value, list) else [value]
        return [], [], counts, list(types)

    def decode(self) -> tuple[Any, str, dict[str, Any]]:
        """(the type it was made of, the name of the call, its arguments)."""
        state = self._used("decode")
        if state.combiner == "NAMED":
            return self, "NAMED", {}
        given = dict(state.params)
        if "datatypes" in given:
            given["datatypes"] = [each._again() for each in given["datatypes"]]
        base = type(self)() if state.base is None else state.base._again()
        return base, state.combiner, given

    def _again(self) -> Any:
        """The same type, for somebody else to free."""
        state = self._state
        if state is None or state.is_predefined:
            return self
        again = TypeState(state.name, state.combiner, lambda: state.layout)
        again.params, again.base, again.committed = state.params, state.base, state.committed
        again.handle = current_rank().keep(f"datatype {state.name}")
        return type(self)._of(again)

    def __reduce__(self) -> Any:
        state = self._state
        if state is None or state.is_predefined and state.combiner == "NAMED":
            return super().__reduce__()
        base, combiner, given = self.decode()
        return _made_again, (base, combiner, given, state.committed)

    def _derived(self, combiner: str, given: dict[str, Any], make: Callable[[], Layout]) -> Any:
        call = enter_call(f"Create_{combiner.lower()}")
        self.check(call, committed=False)
        self._used(call)
        return type(self)._new(combiner, given, make, self)

    @classmethod
    def _new(
        cls,
        combiner: str,
        given: dict[str, Any],
        make: Callable[[], Layout],
        base: TypeHandle | None = None,
    ) -> Any:
        state = TypeState(combiner.lower(), combiner, make)
        state.params, state.base = given, None if base is None else base.lasting()
        state.handle = current_rank().keep(f"datatype {state.name}")
        return cls._of(state)

    def lasting(self) -> Any:
        """A handle that stays good when the script frees its own."""
        state = self._used()
        if state.is_predefined:
            return self
        again = TypeState(state.name, state.combiner, lambda: state.layout)
        again.params, again.base, again.committed = state.params, state.base, state.committed
        return type(self)._of(again)

    def Dup(self) -> Any:
        """The same type once more."""
        old = self._used("Dup").layout
        copy = self._derived("DUP", {}, lambda: old)
        copy._state.committed = self._used().committed
        self._copy_attributes_to(copy)
        return copy

    size = property(Get_size)
    extent = property(lambda self: self.layout.extent)
    lb = property(lambda self: self.layout.lower)
    ub = property(lambda self: self.layout.lower + self.layout.extent)
    true_lb = property(lambda self: self.layout.true_bounds[0])
    true_ub = property(lambda self: self.layout.true_bounds[1])
    true_extent = property(lambda self: self.Get_true_extent()[1])
    envelope = property(Get_envelope)
    contents = property(Get_contents)
    combiner = property(lambda self: self.Get_envelope()[4])
    is_named = property(lambda self: self._state is None or self._state.combiner == "NAMED")
    is_predefined = property(Is_predefined)
    name = property(Get_name, Set_name)


def _made_again(base: Any, combiner: str, given: dict[str, Any], committed: bool) -> Any:
    """A type that was sent as what it is made of."""
    made = getattr(base, "Dup" if combiner == "DUP" else f"Create_{combiner.lower()}")(**given)
    return made.Commit() if committed else made


def same_length(name: str, *lists: Sequence[Any]) -> None:
    if len({len(each) for each in lists}) > 1:
        lengths = ", ".join(str(len(each)) for each in lists)
        raise wrong_value(f"{name}: lists of different lengths ({lengths})")


def by_letter(letter: str) -> Any:
    """The type of the elements that a buffer says it holds."""
    found = TypeHandle.codes.get(letter.lstrip("@=<"))
    if found is None:
        text = f"a buffer of elements `{letter}` has no MPI datatype"
        raise WrongKey("invalid-argument", text)
    return found
