"""A test and its nodes as a system: the body of the test is one of the nodes.

What breaks it: an exception that leaves the body or a node, a property of the mark, and a state in
which nothing can happen while the body has not come to its end.
"""

from __future__ import annotations

import asyncio
import builtins
import inspect
from collections.abc import Callable
from typing import Any

import pytest
from _pytest.assertion import rewrite

from presage.errors import BadSystem
from presage.frontends.real.machine.process import current
from presage.frontends.real.node import Node
from presage.frontends.real.surroundings import around
from presage.frontends.real.system import RealSystem
from presage.model.world.view import WorldView
from presage.props.property import no_deadlock
from presage.pytest_plugin.nodes import TEST, Nodes
from presage.pytest_plugin.options import Options

ATTEMPTS_MAX = 100
REWRITTEN = {"@py_builtins": builtins, "@pytest_ar": rewrite}  # what a rewritten `assert` names


class Body:
    """The program of the node that is the test.

    It runs the function of the test with the modules of its process. Asserts stay rewritten, so a
    failure says what was compared.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__
        self.__doc__ = function.__doc__
        self.__code__ = function.__code__

    def __call__(self, *args: Any) -> None:
        process = current()
        assert process is not None
        function = around(process).function(self._function)
        names = function.__globals__
        for name, value in REWRITTEN.items():
            names.setdefault(name, value)
        if inspect.iscoroutinefunction(function):
            asyncio.run(function(*args))
        else:
            function(*args)


def is_at_end(world: WorldView) -> bool:
    """The test has come to its end."""
    return bool(world[TEST].done)


def progress(node: Any) -> dict[str, Any]:
    """The view of the node that is the test."""
    return {"done": bool(node.ended)}


def function_of(item: pytest.Function) -> Callable[..., Any]:
    """The function of a test as it was written; other plugins may have wrapped `item.obj`."""
    owner: Any = item.parent
    found: Callable[..., Any] = getattr(owner.obj, item.originalname)
    return found


class Test:
    """One test with its arguments; `system` makes what is to be searched."""

    __test__ = False  # it is no test of anybody's

    def __init__(self, item: pytest.Function, options: Options) -> None:
        self.item = item
        self.options = options
        function = function_of(item)
        bound = getattr(function, "__self__", None)
        self.function = getattr(function, "__func__", function)
        wanted = [n for n in inspect.signature(function).parameters if n in item.funcargs]
        values = [item.funcargs[name] for name in wanted]
        self.args = ([] if bound is None else [bound]) + values
        found = [value for value in values if isinstance(value, Nodes)]
        self.nodes = found[0] if found else Nodes()

    def system(self) -> RealSystem:
        """The system of all nodes that are known; more may be named while it is made."""
        nodes, options = self.nodes, self.options
        for _ in range(ATTEMPTS_MAX):
            nodes.begun = frozenset(nodes.declared)
            made = {name: each.node(options.nodes) for name, each in nodes.declared.items()}
            body = Node(Body(self.function), *self.args, view=progress, **options.nodes)
            system = RealSystem(
                {**made, TEST: body},
                faults=options.faults(tuple(made)),
                properties=(no_deadlock(unless=is_at_end), *options.properties),
                name=self.item.name,
                **options.system,
            )
            if not nodes.missing():
                return system
        raise BadSystem(
            f"{self.item.nodeid} names new nodes each time it is run",
            "names made of a counter or a clock",
            "give the nodes of a test fixed names",
        )
