"""The service class of a real node: a record that every part of presage can read.

A real node has no handlers. Its class declares what its record holds (history, files, life, and
what its `view` returns) and names for what a node does by itself, so that searches, properties,
traces and pages treat it like any service.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from presage.errors import BadSystem
from presage.frontends.real.node import Node
from presage.model.service.calls import Call
from presage.model.service.declare import MISSING, FieldMark, action, timer
from presage.model.service.service import Service

FIRST = ("history", "files", "life", "fired", "parts")  # what the record holds before the view
HISTORY, FILES, LIFE, FIRED, PARTS = range(1, len(FIRST) + 1)
TIMER = "timer"


def _nothing(_: Any) -> tuple[Any, ...]:
    return ()


class RealService(Service):
    """The base of all: the names of what a real node does by itself."""

    @timer
    def timer(self, what: str = "") -> None:
        """Its earliest deadline comes."""

    @action(over=_nothing)
    def thread(self, which: str) -> None:
        """One of several threads that can run does."""

    @action(over=_nothing)
    def drained(self, socket: str) -> None:
        """There is room in the buffer of a socket again."""

    @action(over=_nothing)
    def arrive(self, socket: str) -> None:
        """More of a segment arrives."""

    @action(over=_nothing)
    def go_on(self, what: str) -> None:
        """The next iteration of a loop that has something to do."""

    @action(over=_nothing)
    def look_up(self, name: str) -> None:
        """The answer to a question for a name comes."""

    @action(over=_nothing)
    def signal(self, which: str) -> None:
        """A signal comes."""


ACTIONS = {
    "run": "thread",
    "drained": "drained",
    "arrive": "arrive",
    "go on": "go_on",
    "look up": "look_up",
    "signal": "signal",
}
RESERVED = (*FIRST, *RealService._presage_shape.timers, *RealService._presage_shape.actions)


def service_class(
    node: Node, view: Iterable[str], functions: Mapping[str, Callable[..., Any]]
) -> type[RealService]:
    """The class of a node whose view has these fields, and whom the workload calls so."""
    history = "ghost" if node.merge == "view" else "volatile"
    marks: dict[str, Any] = {
        "history": FieldMark(history, b"", hidden=True),  # type: ignore[arg-type]
        "files": FieldMark("durable", MISSING, lambda: dict(node.files)),
        "life": FieldMark("durable", 0),
        "fired": FieldMark("durable", 0, hidden=True),
        "parts": FieldMark("volatile", None, hidden=True),
    }
    for field in view:
        if field in RESERVED or not field.isidentifier():
            raise BadSystem(
                f"{node.place}: the view has a field `{field}`",
                f"every real node has {', '.join(f'`{each}`' for each in RESERVED)} of its own",
                "choose another name",
            )
        marks[field] = FieldMark("volatile", None)
    namespace = {
        "__module__": getattr(node.main, "__module__", __name__),
        "__doc__": getattr(node.main, "__doc__", None),
        "__annotations__": dict.fromkeys(marks, Any),
        "_presage_node": node,
        **marks,
        **{name: _stub(function) for name, function in functions.items()},
    }
    name = node.title.replace(".", "_").replace("-", "_")
    return types.new_class(name, (RealService,), exec_body=lambda body: body.update(namespace))


def _stub(function: Callable[..., Any]) -> Callable[..., Any]:
    """A plain method with the name, place and parameters of a call of the workload."""

    def call(self: Any, *args: Any) -> None:
        raise AssertionError("the automaton makes the calls of real nodes")

    stub = types.FunctionType(
        call.__code__.replace(
            co_filename=function.__code__.co_filename,
            co_firstlineno=function.__code__.co_firstlineno,
        ),
        {},
        function.__name__,
    )
    stub.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    stub.__module__ = function.__module__
    return stub


def named_calls(node: str, calls: Any) -> tuple[list[Call], dict[str, Callable[..., Any]]]:
    """Calls of functions as calls of methods that are named like them, and the functions."""
    functions: dict[str, Callable[..., Any]] = {}
    named = []
    for call in [calls] if isinstance(calls, Call) else calls:
        method: Any = call.method if isinstance(call, Call) else None
        if not inspect.isfunction(method):
            raise BadSystem(
                f"`calls[{node!r}]` holds {call!r}, which calls no function",
                "a real node has no methods; a call of the workload runs a function in it",
                "`async def put(node, key): ...` and `Call(put, 'x')`",
            )
        if functions.setdefault(method.__name__, method) is not method:
            raise BadSystem(
                f"`calls[{node!r}]`: two functions are called `{method.__name__}`",
                "lambdas, or functions made in a loop",
                "give each a name of its own",
            )
        named.append(Call(method.__name__, *call.args, when=call.when))
    return named, functions
