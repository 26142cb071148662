"""A program: the processes that run together, and what is claimed of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from presage._core import Codec
from presage.errors import BadSystem
from presage.model.functions import check_call, is_coroutine
from presage.model.keywords import named_arguments
from presage.model.source import place_of
from presage.process.ops import Probe, Recv, Send
from presage.props.property import Property
from presage.records import NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ("always",)
SPINS_DEFAULT = 2  # tests in vain, in a row, after which one that would be in vain waits
PLAIN = frozenset({bool, int, float, str, bytes, type(None)})  # nobody can change these


class Process:
    """One process: a function, plain or `async def`, and its arguments.

    A program has not come to a deadlock if only `daemon` processes still wait.
    """

    def __init__(
        self,
        body: Callable[..., Any],
        *args: Any,
        daemon: bool = False,
        host: str | None = None,
    ) -> None:
        if not callable(body):
            raise BadSystem(
                f"a process needs a function, and was given a `{type(body).__name__}`",
                "the function was called where it should be named: `Process(body())`",
                "give the function, then its arguments: `Process(body, 1, 2)`",
            )
        _check_arguments(body, args)
        self.body = body
        self.args = args
        self.daemon = daemon
        self.host = host  # where it runs in a simulation
        self.is_coroutine = is_coroutine(body)
        self._is_plain = all(type(arg) in PLAIN for arg in args)

    def own_args(self) -> tuple[Any, ...]:
        """A copy, so that each run begins with the same, whatever the last one made of it."""
        if self._is_plain:
            return self.args
        try:
            return deepcopy(self.args)
        except Exception:  # something that cannot be copied: a module, a lock
            return self.args


def _check_arguments(body: Callable[..., Any], args: tuple[Any, ...]) -> None:
    try:
        check_call(body, *args)
    except TypeError as error:
        name = getattr(body, "__name__", type(body).__name__)
        raise BadSystem(
            f"{place_of(body)}: process body `{name}` cannot be called so: {error}",
            "arguments left out or added",
            f"give them behind the function: `Process({name}, ...)`",
        ) from None
    except ValueError:  # written in C, without a signature
        return


class Wording(Protocol):
    """How a library speaks of its messages; without one, mailboxes are named."""

    def content(self, payload: Any, /) -> tuple[str, tuple[Any, ...]]:
        """What a message holds: a word, or none, and values."""

    def to(self, op: Send, /) -> str: ...
    def source(self, op: Recv | Probe, /) -> str: ...
    def who_waits(self, world: Any, /) -> str: ...
    def unmatched(self, posts: Any, /) -> str: ...


class Passing(NamedTuple):
    """A run that ends well, if one was found, and whether there is none if not."""

    steps: Sequence[Any] | None  # `Taken`, each
    exhausted: bool


Refine: TypeAlias = "Callable[[str, str, Any, Callable[[], Passing]], tuple[str, str]]"


@named_arguments
class Program:
    """Processes by name, and the properties of what they publish.

    `leftovers`: that an offer is never received, or a request never met, is a violation. `spins`:
    after so many tests in vain, one that finds nothing shows that the process would test for ever.

    Libraries may set `wording`, and `refine`, which is given the kind and text of a violation, the
    steps that led to it and a search for a run that ends well; it may call it by a better name.
    `files` are code that no process names: what a script may import.
    """

    def __init__(
        self,
        processes: Mapping[str, Process | Callable[..., Any]],
        *,
        name: str | None = None,
        properties: Iterable[Property] = (),
        seed: int = 0,
        leftovers: bool = False,
    ) -> None:
        if not isinstance(processes, Mapping):
            raise BadSystem(
                f"`Program` was given a `{type(processes).__name__}`, not a mapping",
                "processes without names",
                "name them: `Program({'main': Process(body)})`",
            )
        self.processes = {
            process: given if isinstance(given, Process) else Process(given)
            for process, given in processes.items()
        }
        self.properties = tuple(properties)
        self.seed = seed
        self.leftovers = leftovers
        self.spins = SPINS_DEFAULT
        self.wording: Wording | None = None
        self.refine: Refine | None = None
        self.files: tuple[Path, ...] = ()
        self.leaves_out: Callable[[], tuple[str, ...]] = tuple  # what no search of it looks at
        self.pardon: Any = None  # what is known to break, and looked behind
        self.codec = Codec()
        if not self.processes:
            raise BadSystem(
                "the program has no processes",
                "an empty mapping",
                "name at least one: `Program({'main': Process(body)})`",
            )
        first = next(iter(self.processes.values())).body
        self.name = name or str(getattr(first, "__module__", "program"))
        for prop in self.properties:
            _check_property(prop)

    def __repr__(self) -> str:
        return f"Program({self.name}: {', '.join(self.processes)})"

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(self.processes)


def _check_property(prop: object) -> None:
    if not isinstance(prop, Property) or prop.kind not in KINDS:
        told = f"`{prop.name}` is `{prop.kind}`" if isinstance(prop, Property) else f"{prop!r}"
        raise BadSystem(
            f"{told}, which is no property of a program",
            "a property of another kind, or a predicate that is not decorated",
            "decorate a predicate over what processes publish with `@always`; assert in"
            " processes what one of them can see alone",
        )


def body_place(process: Process) -> str:
    return place_of(process.body)
