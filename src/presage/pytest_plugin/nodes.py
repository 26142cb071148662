"""The fixture `nodes`: the other processes of a test.

In a search the test is a node itself, and its code runs again and again, in all orders. So `start`
only names a process: all that a test names run from the beginning, whatever line names them. A
process that is named for the first time is noted, and the search begins anew with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from presage.errors import BadCall
from presage.frontends.real.looks import look
from presage.frontends.real.machine.process import current
from presage.frontends.real.node import Node
from presage.records import record


@record(frozen=True)
class Started:
    """A process of a test: `str(bank)` is its name, which other nodes reach it by."""

    name: str
    nodes: Nodes

    @property
    def host(self) -> str:
        """Its address."""
        return self.nodes.address(self.name)

    @property
    def view(self) -> Any:
        """What its `view` function returns now."""
        return self.nodes.view(self.name)

    def __str__(self) -> str:
        return self.name


class NewNode(Exception):
    """A node that is not part of the system yet: the search has to begin anew."""


@record(frozen=True)
class Declared:
    """What `start` was given."""

    program: Any
    args: tuple[Any, ...]
    options: dict[str, Any]

    def node(self, defaults: dict[str, Any]) -> Node:
        if isinstance(self.program, Node):
            return self.program
        return Node(self.program, *self.args, **{**defaults, **self.options})


class Nodes:
    """The processes that a test names; `begun` ones are part of the system that is searched."""

    def __init__(self) -> None:
        self.declared: dict[str, Declared] = {}
        self.begun: frozenset[str] = frozenset()
        self.is_searching = False

    def start(
        self, name: str, program: Callable[..., Any] | Node, *args: Any, **options: Any
    ) -> Started:
        """Let a process run `program(*args)`; the options are those of `presage.real.Node`."""
        known = self.declared.get(name)
        if known is None:
            if not name.isidentifier() or name == TEST:
                raise BadCall(
                    f"`nodes.start({name!r}, ...)`: no node can have this name",
                    f"a name with blanks or dots, or `{TEST}`, which is the test itself",
                    "a short name: letters, digits, underscores",
                )
            self.declared[name] = Declared(program, args, options)
        elif _shown(known) != _shown(Declared(program, args, options)):
            raise BadCall(
                f"`nodes.start({name!r}, ...)` says something else than the first time",
                "two nodes of one name, or arguments that depend on the order of events",
                "give each node a name of its own, and say the same in every run",
            )
        if self.is_searching and name not in self.begun:
            raise NewNode(name)
        return Started(name, self)

    def view(self, name: str) -> Any:
        """What the `view` function of a node returns; None while the node is down."""
        return look(name)

    def address(self, name: str) -> str:
        """The address of a node."""
        process = current()
        if process is None:
            raise BadCall(
                f"the address of `{name}` was asked for outside of the test",
                "a fixture or a helper that runs before the test",
                "ask for it in the body of the test",
            )
        return str(process.host.addresses.get(name, UNKNOWN))

    def missing(self) -> bool:
        """Whether a node was named that is not part of the system."""
        return not self.begun.issuperset(self.declared)

    def __repr__(self) -> str:
        return f"nodes({', '.join(self.declared)})"


TEST = "test"
UNKNOWN = "10.0.0.254"  # of a node that the first run has only just named


def _shown(declared: Declared) -> str:
    program = declared.program
    name = getattr(program, "__qualname__", repr(program))
    return f"{name} {declared.args!r} {sorted(declared.options)}"
