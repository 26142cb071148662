"""`Call`: one call of the workload, which happens once, in its turn, while its guard holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from presage.errors import BadSystem, UnknownNode, did_you_mean
from presage.model.functions import check_call, is_plain, static_attribute
from presage.model.service.declare import marks_of
from presage.model.service.facilities import Facilities
from presage.model.service.service import Service
from presage.model.source import caller
from presage.records import record


@record(frozen=True, init=False)
class Call:
    """One call of the workload: a method of the service, and its arguments.

    While `when(node)` is false the call is not made, and those behind it wait.
    """

    method: str
    args: tuple[Any, ...]
    when: Callable[[Any], Any] | None = None

    def __init__(
        self, method: str, *args: Any, when: Callable[[Any], Any] | None = None, **named: Any
    ) -> None:
        for name in named:
            raise BadSystem(
                f"{caller()}: `Call({method!r}, {name}=...)` gives an argument by name",
                "a call takes the arguments of its method in order; only `when` is its own",
                f"`Call({method!r}, {named[name]!r})`",
            )
        object.__setattr__(self, "method", method)
        object.__setattr__(self, "args", args)
        object.__setattr__(self, "when", when)


def checked_calls(
    calls: Mapping[str, Sequence[Call]], nodes: Mapping[str, Service]
) -> dict[str, tuple[Call, ...]]:
    """What `System(calls=...)` is given, as tuples; refuses what no node could be called with."""
    if not isinstance(calls, Mapping):
        name = next(iter(nodes))
        raise BadSystem(
            f"`calls` is a `{type(calls).__name__}`, not a mapping from nodes to calls",
            "a list of calls that does not say which node is called",
            f'`calls={{"{name}": [Call("put", "A")]}}`',
        )
    checked = {}
    for node, sequence in calls.items():
        if node not in nodes:
            raise UnknownNode(node, tuple(nodes), "`System(calls=...)`")
        if isinstance(sequence, Call):
            sequence = [sequence]
        if not isinstance(sequence, Sequence) or isinstance(sequence, str):
            sequence = (sequence,)  # which is then refused
        for call in sequence:
            _check_call(node, type(nodes[node]), call)
        checked[node] = tuple(sequence)
    return checked


def _check_call(node: str, service: type[Service], call: Any) -> None:
    if not isinstance(call, Call):
        raise BadSystem(
            f"`calls[{node!r}]` holds {_shown(call)}, which is not a `Call`",
            "the name of a method, or a function, given for it",
            f'`calls={{"{node}": [Call("{_method(call)}")]}}`',
        )
    name = getattr(call.method, "__name__", call.method)
    way = f'name a plain method of the service: `Call("{name}", ...)`'
    check_method(service, call.method, call.args, f"`calls[{node!r}]`: ", way)
    if call.when is not None:
        _check_guard(node, call)


def check_method(
    service: type[Service], method: Any, args: Sequence[Any], where: str = "", way: str = ""
) -> None:
    """Refuse a call of what is no method of the service, or does not take these arguments.

    `where` begins the error; `way` is what to do about a name that means nothing.
    """
    name = getattr(method, "__name__", method)
    function = static_attribute(service, str(name), None)
    if (
        not isinstance(method, str)
        or not isinstance(function, FunctionType)
        or function is vars(Facilities).get(method)
    ):
        known = [each for each in dir(service) if each not in dir(Service)]
        raise BadSystem(
            f"{where}`{service.__name__}` has no method `{name}` to call"
            f"{did_you_mean(str(name), known)}",
            "a misspelt name, a method of another service, or the method instead of its name",
            way or _callable(service),
        )
    if not is_plain(function):
        raise BadSystem(
            f"`{service.__name__}.{method}` is a coroutine or generator",
            "`async def` or `yield` in it; a step of a node does not wait",
            "let it return, and go on in a handler",
        )
    try:
        check_call(function, None, *args)
    except TypeError as error:
        raise BadSystem(
            f"{where}`{method}` cannot be called so: {error}",
            "arguments left out or added",
            f"give what `{service.__name__}.{method}` takes: `{method}{_parameters(function)}`",
        ) from None


KNOWN = {*dir(Service), "start", "neighbours", "recovery"}  # asked for by presage alone


def methods(service: type) -> tuple[str, ...]:
    """What can be called from outside: public methods that are no handlers and do not wait."""
    names = (name for name in dir(service) if not name.startswith("_") and name not in KNOWN)
    return tuple(name for name in names if _can_be_called(static_attribute(service, name)))


def _can_be_called(method: object) -> bool:
    return isinstance(method, FunctionType) and is_plain(method) and not marks_of(method)


def _callable(service: type[Service]) -> str:
    """The methods that are there to be called, as advice."""
    plain = methods(service)
    if not plain:
        return "it has handlers only: nobody is meant to call it"
    return f"name one of {', '.join(f'`{name}`' for name in plain)}"


def _parameters(function: FunctionType) -> str:
    import inspect

    names = list(inspect.signature(function).parameters.values())[1:]
    return f"({', '.join(str(each).partition(':')[0].partition('=')[0].strip() for each in names)})"


def _check_guard(node: str, call: Call) -> None:
    try:
        check_call(call.when, None)
    except TypeError:
        raise BadSystem(
            f"`calls[{node!r}]`: `Call({call.method!r}, when=...)` has {call.when!r},"
            " which cannot be called with a node",
            "a value where a function is meant, or a function with other parameters",
            "`when=lambda node: node.ready`",
        ) from None
    except ValueError:  # written in C, without a signature: `attrgetter("ready")`
        return


def _method(call: Any) -> str:
    name = call if isinstance(call, str) else getattr(call, "__name__", "")
    return name if name.isidentifier() else "put"


def _shown(call: Any) -> str:
    return f"the function `{call.__name__}`" if isinstance(call, FunctionType) else repr(call)
