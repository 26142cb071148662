"""Words for claims about many nodes: for all, for some, for so many, and what pointers reach.

Each answers with a `Verdict` that names the nodes it rests on. They read nodes only through their
views, so what they read is recorded as everything else that a property reads. What a predicate
says of one node is recorded by itself, if it depends on nothing but that node's world: then a
world in which other values lead to the same answers is known.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import count
from types import CodeType, FunctionType
from typing import Any, TypeGuard

from presage._core import Reader
from presage.errors import PropertyError
from presage.model.source import caller
from presage.model.world.view import NodeView, name_of, neighbour
from presage.props.property import HOLDS, Verdict, verdict_of

Predicate = Callable[[Any], bool | Verdict]


def forall(nodes: Iterable[Any], predicate: Predicate) -> Verdict:
    """`predicate(node)` is true of every node; else the verdict names the first it is not."""
    for node in nodes:
        verdict = _ask(predicate, node)
        if not verdict:
            why = f": {verdict.why}" if verdict.why else ""
            return Verdict.fails(f"not for {name_of(node)}{why}")
    return HOLDS


def exists(nodes: Iterable[Any], predicate: Predicate) -> Verdict:
    """`predicate(node)` is true of at least one node."""
    return at_least(1, nodes, predicate)


def exactly(count: int, nodes: Iterable[Any], predicate: Predicate) -> Verdict:
    """`predicate(node)` is true of exactly `count` nodes."""
    found = _found(nodes, predicate)
    return _compared(found, f"exactly {count}", len(found) == count)


def at_least(count: int, nodes: Iterable[Any], predicate: Predicate) -> Verdict:
    """`predicate(node)` is true of `count` nodes or more."""
    found: list[str] = []
    for node in nodes:
        if len(found) >= count:
            return HOLDS  # who else there is would make no difference
        if _ask(predicate, node):
            found.append(name_of(node))
    return _compared(found, f"at least {count}", len(found) >= count)


def at_most(count: int, nodes: Iterable[Any], predicate: Predicate) -> Verdict:
    """`predicate(node)` is true of `count` nodes or fewer."""
    found = _found(nodes, predicate)
    return _compared(found, f"at most {count}", len(found) <= count)


def reach(node: Any, pointer: str) -> frozenset[str]:
    """The names of `node` and of all nodes reached by following `pointer` again and again.

    `pointer` is a field, property or method without arguments that gives a node's name, a
    collection of them, or None.
    """
    found = {name_of(node)}
    ahead = [node]
    while ahead:
        at = ahead.pop()
        for name in _targets(at, pointer):
            if name not in found:
                found.add(name)
                ahead.append(neighbour(at, name))
    return frozenset(found)


def _targets(node: Any, pointer: str) -> list[str]:
    value = getattr(node, pointer)
    if callable(value):
        value = value()
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, Iterable):
        names = [name for name in value if name is not None]
        if all(isinstance(name, str) for name in names):
            return sorted(names)  # so that the order of reads does not depend on a set's
    raise PropertyError(
        f"{caller()}: `{name_of(node)}.{pointer}` is {value!r}, which names no node",
        "a field that holds something else than names of nodes",
        f"let `{pointer}` be a name, a collection of names, or None; or write a method that is",
    )


def _found(nodes: Iterable[Any], predicate: Predicate) -> list[str]:
    return [name_of(node) for node in nodes if _ask(predicate, node)]


def _compared(found: list[str], wanted: str, holds: bool) -> Verdict:
    if holds:
        return HOLDS
    named = f": {', '.join(found)}" if found else ""
    return Verdict.fails(f"{wanted} should be, {len(found)} are{named}")


def _ask(predicate: Predicate, node: Any) -> Verdict:
    reader = _recorder(predicate, node)
    if reader is None:
        return _verdict(predicate, node)
    said: bool | None = None
    try:
        verdict = _verdict(predicate, node)
        said = None if verdict.why else bool(verdict)
        return verdict
    finally:
        reader.end(said)


def _verdict(predicate: Predicate, node: Any) -> Verdict:
    answer = predicate(node)
    if (verdict := verdict_of(answer)) is not None:
        return verdict
    raise PropertyError(
        f"{caller()}: the predicate answered {answer!r} of node `{name_of(node)}`",
        "a value meant to be tested, or a missing `return`",
        "let it answer True or False, or a `Verdict`",
    )


_FUNCTIONS: dict[tuple[str, CodeType], int] = {}  # the numbers of predicates, each made once
_numbers = count()


def _recorder(predicate: Predicate, node: Any) -> Reader | None:
    """The kernel's reader, if it is to record by itself what `predicate` reads of `node`."""
    if not isinstance(node, NodeView):
        return None
    reader: Any = node._run
    if type(reader) is not Reader or not _depends_on_node(predicate):
        return None
    key = (predicate.__module__, predicate.__code__)
    number = _FUNCTIONS.get(key)
    if number is None:
        number = _FUNCTIONS.setdefault(key, next(_numbers))
    return reader if reader.begin(number, type(node)._presage_automaton.index) else None


def _depends_on_node(predicate: Predicate) -> TypeGuard[FunctionType]:
    """Whether it is a function of a module that captures nothing: no value read elsewhere."""
    if type(predicate) is not FunctionType:
        return False
    if predicate.__closure__ or predicate.__defaults__ or predicate.__kwdefaults__:
        return False
    return vars(sys.modules.get(predicate.__module__, sys)) is predicate.__globals__
