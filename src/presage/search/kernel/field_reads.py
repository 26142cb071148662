"""Which fields a piece of a service's code can read at all, told from its bytecode.

A handler that never reads a set does the same whatever the order of that set: there is no need to
run it in a second order. What it can read is known where `self` goes nowhere but into `self.field`,
`self.field = ...` and `self.method(...)`, and where those methods are as plain. `self` is made for
one run, so nothing else leads to it.

Invariant: an instruction, attribute or callable that is not known to be harmless reads everything.
Code that looks at the frames of its callers is not considered.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from presage.model.service.facilities import Facilities
from presage.model.service.local_state import Stimulus
from presage.model.service.node import Node
from presage.model.service.service import Service
from presage.model.service.stream import Connect, Lost

LOADS = ("LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_DEREF")
CAPTURES = ("MAKE_CELL", "LOAD_CLOSURE", "COPY_FREE_VARS")
# What shows a function its own variables, or finds its `self` without being given it.
REVEALING = frozenset(("locals", "vars", "dir", "eval", "exec", "super", "__class__"))
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
PLAIN = (bool, int, float, str, bytes, type(None), tuple, frozenset, list, dict, set)
ACCESS = ("__getattribute__", "__setattr__")
ALL = 2**64 - 1
LAST = 62  # the bit that stands for all positions from there on
BEGINS = 1 << 63  # for what a node begins with, and for the arguments of its calls
PROVIDED = {**vars(Facilities), "presage": vars(Service)["presage"]}


def read_by_step(node: Node, stimulus: Stimulus) -> int:
    """Which of the node's values a step can read, a bit for each position."""
    kind, shape = stimulus[0], node.shape
    if kind == "deliver" and not isinstance(stimulus[2], Lost | Connect):
        handler = shape.handler(type(stimulus[2]))
        return _bits(node, [handler.function, handler.guard] if handler else [])
    if kind == "timer":
        return _bits(node, [shape.timers[stimulus[1]].function])
    if kind == "action":
        return _bits(node, [shape.actions[stimulus[1]].function])
    if kind == "call":
        methods = [getattr(node.service, call.method) for call in node.workload]
        return BEGINS | _bits(node, methods)
    return ALL


def read_by_guards(node: Node) -> int:
    """Which of the node's values decide what it can start by itself, a bit for each position."""
    if node.disks:
        return ALL
    actions = node.shape.actions.values()
    overs = [action.over for action in actions if callable(action.over)]
    guards = [action.guard for action in actions]
    return _bits(node, [*guards, *overs, *(call.when for call in node.workload)])


def touched_by_message(node: Node, message: Any) -> int:
    """Which of the node's values the delivery of a message can read or set, a bit for each."""
    if isinstance(message, Lost | Connect):
        return ALL
    handler = node.shape.handler(type(message))
    return _bits(node, [handler.function, handler.guard] if handler else [], stores=True)


def touched_together(node: Node) -> list[int]:
    """For each thing that may be possible or not: which values that depends on.

    All that the node starts by itself is one, and each kind of message another: a delivery that
    changes nothing may be left out, so whether it is possible depends on all that it touches.
    """
    shape = node.shape
    own: list[Callable[..., Any] | None] = [each.function for each in shape.actions.values()]
    own += [each.function for each in shape.timers.values()]
    own += [getattr(node.service, call.method) for call in node.workload]
    kinds = [_bits(node, own, stores=True) | read_by_guards(node)]
    for handler in shape.handlers.values():
        kinds.append(_bits(node, [handler.function, handler.guard], stores=True))
    return kinds


def _bits(node: Node, functions: list[Callable[..., Any] | None], *, stores: bool = False) -> int:
    fields = fields_read(node.service, functions, stores=stores)
    if fields is None:
        return ALL
    bits = 1  # control
    for field in fields:
        bits |= 1 << min(node.positions[field], LAST)
    return bits


class _Everything(Exception):
    """It cannot be said what is read."""


def fields_read(
    cls: type[Service], functions: list[Callable[..., Any] | None], *, stores: bool = False
) -> frozenset[str] | None:
    """The fields of a service that `functions`, given it first, can read; None: any of them.

    `stores`: those that they can set, too.
    """
    try:
        if any(getattr(cls, name) is not getattr(object, name) for name in ACCESS):
            return None
        return _Reading(cls, stores=stores).of(functions)
    except _Everything:
        return None


class _Reading:
    def __init__(self, cls: type[Service], *, stores: bool) -> None:
        self._cls = cls
        self._stores = stores
        self._fields = {field.name for field in cls._presage_fields}
        self._read: set[str] = set()
        self._known: set[Any] = set()

    def of(self, functions: list[Callable[..., Any] | None]) -> frozenset[str]:
        for function in functions:
            if function is not None:
                self._function(function)
        return frozenset(self._read)

    def _function(self, function: Any) -> None:
        """Add what a method of the service, or a guard, reads of its first parameter."""
        if not isinstance(function, FunctionType):
            raise _Everything
        code = function.__code__
        if code in self._known:
            return
        self._known.add(code)
        if code.co_argcount == 0:
            raise _Everything
        self._code(code, code.co_varnames[0])

    def _code(self, code: CodeType, own: str) -> None:
        if not REVEALING.isdisjoint((*code.co_names, *code.co_freevars)):
            raise _Everything
        instructions = _instructions(code)
        for at, each in enumerate(instructions):
            if own == each.argval or isinstance(each.argval, tuple) and own in each.argval:
                if each.opname in LOADS:
                    self._use(instructions[at + 1 : at + 3])
                elif each.opname not in CAPTURES:
                    raise _Everything
        for inner in code.co_consts:
            if isinstance(inner, CodeType) and own in inner.co_freevars:
                if inner.co_name not in COMPREHENSIONS:
                    raise _Everything
                self._code(inner, own)

    def _use(self, following: list[dis.Instruction]) -> None:
        """Add what is done to `self` by the instructions after the one that loads it."""
        first, *rest = following
        if first.opname == "STORE_ATTR" and first.argval in self._fields:
            self._read |= {first.argval} if self._stores else set()
            return
        if first.opname == "COPY" and first.arg == 1 and rest:  # self.field += 1
            first = rest[0]
            if first.argval not in self._fields:
                raise _Everything
        if first.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
            raise _Everything
        if first.argval in self._fields:
            self._read.add(first.argval)
        else:
            self._attribute(first.argval, called=_is_called(first))

    def _attribute(self, name: str, *, called: bool) -> None:
        """Add what an attribute of the class reads."""
        for base in self._cls.__mro__:
            if name in vars(base):
                found = vars(base)[name]
                break
        else:
            raise _Everything
        if isinstance(found, property):
            if found is not PROVIDED.get(name):
                self._function(found.fget)
        elif isinstance(found, FunctionType):
            if not called:  # a method by itself holds the service
                raise _Everything
            if found is not PROVIDED.get(name):
                self._function(found)
        elif type(found) not in (*PLAIN, staticmethod):
            raise _Everything


@lru_cache(maxsize=1024)
def _instructions(code: CodeType) -> list[dis.Instruction]:
    """Without those that do nothing between one that matters and the next."""
    skipped = ("CACHE", "EXTENDED_ARG", "NOP", "PRECALL", "RESUME")
    return [each for each in dis.get_instructions(code) if each.opname not in skipped]


def _is_called(load: dis.Instruction) -> bool:
    """Whether a method is loaded to be called at once, and not as a value."""
    if sys.version_info < (3, 12):
        return load.opname == "LOAD_METHOD"
    return load.opname == "LOAD_ATTR" and load.arg is not None and load.arg & 1 == 1
