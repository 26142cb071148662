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
from presage.pytest_plugin.folders import Disk
from presage.pytest_plugin.nodes import TEST, Nodes
from presage.pytest_plugin.options import Options

ATTEMPTS_MAX = 100
EARLY = (pytest.skip.Exception, pytest.xfail.Exception)
REWRITTEN = {"@py_builtins": builtins, "@pytest_ar": rewrite}  # what a rewritten `assert` names


class Body:
    """The program of the node that is the test.

    It runs the function of the test with the modules of its process. Asserts stay rewritten, so a
    failure says what was compared.
    """

    def __init__(self, function: Callable[..., Any], instance: Any = None) -> None:
        self._function = function
        self._instance = instance  # of the class that the test is a method of
        self.ended_early: BaseException | None = None  # by `pytest.skip` or `pytest.xfail`
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
        if self._instance is not None:
            args = (_instance_there(self._instance, names), *args)
        try:
            if inspect.iscoroutinefunction(function):
                asyncio.run(function(*args))
            else:
                function(*args)
        except EARLY as error:
            self.ended_early = error


def _instance_there(instance: Any, names: dict[str, Any]) -> Any:
    """The object of a test class, as this process has the class; what it holds is the same."""
    found: Any = None
    for name in type(instance).__qualname__.split("."):
        found = names.get(name) if found is None else getattr(found, name, None)
        if found is None:
            return instance
    made = found.__new__(found)
    vars(made).update(vars(instance))
    return made


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


def instance_of(item: pytest.Function) -> Any:
    """The object that a method is called on; None for functions."""
    owner: Any = item.parent
    if not isinstance(owner, pytest.Class):
        return None
    written = inspect.getattr_static(owner.obj, item.originalname)
    return item.instance if inspect.isfunction(written) else None


class Test:
    """One test with its arguments; `system` makes what is to be searched."""

    __test__ = False  # it is no test of anybody's

    def __init__(self, item: pytest.Function, options: Options) -> None:
        self.item = item
        self.options = options
        function = function_of(item)
        bound = getattr(function, "__self__", None)
        self.function = getattr(function, "__func__", function)
        self.instance = instance_of(item)
        self.body = Body(self.function, self.instance)
        wanted = [n for n in inspect.signature(function).parameters if n in item.funcargs]
        values = [item.funcargs[name] for name in wanted]
        before = [] if bound is None else [bound]
        self.args = before + values
        self.disk = Disk()
        self._there = before + [self.disk.there(*each) for each in zip(wanted, values, strict=True)]
        found = [value for value in values if isinstance(value, Nodes)]
        self.nodes = found[0] if found else Nodes()

    def system(self) -> RealSystem:
        """The system of all nodes that are known; more may be named while it is made."""
        nodes, options = self.nodes, self.options
        for _ in range(ATTEMPTS_MAX):
            nodes.begun = frozenset(nodes.declared)
            made = {name: each.node(options.nodes) for name, each in nodes.declared.items()}
            of_body = options.nodes | {"files": self.disk.files | options.nodes.get("files", {})}
            body = Node(self.body, *self._there, view=progress, **of_body)
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
