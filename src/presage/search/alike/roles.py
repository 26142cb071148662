"""Roles: what is taken for alike in two local states of nodes that crash, restart or watch it.

The kernel asks once for each local state and remembers the answer as a number. A service may say
itself what recovery depends on, by a method `recovery(self)`. Else all of its fields count but
those that never change, and in them a name of a node only by whether it is the node's own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from presage._core import FAULTS
from presage.errors import BadSystem, Nondeterminism, NotState, PresageError
from presage.limits import SkipPlan
from presage.model.choice import NOT_THEIRS
from presage.model.service.automaton import Automaton
from presage.model.service.declare import marks_of
from presage.model.service.local_state import Values, is_up
from presage.model.source import place_of
from presage.model.world.system import System
from presage.search.alike.constant import constant_fields
from presage.search.alike.difference import Seen, Side, differences
from presage.search.alike.skipped import NotAlike

METHOD = "recovery"
OWN, OTHER = "\0own", "\0other"  # what names of nodes become
DOWN = b""  # what others see of a node that is down
ASKED_TWICE = 256  # questions, and one in so many of the later ones
REPORTED_MAX = 20  # pairs of faults that are not alike

Place = tuple[int, Seen]  # a node, and the state in which a fault happens to it


class Roles:
    """What the kernel asks of roles, and tells of faults that are not alike."""

    def __init__(self, system: System, run: Callable[..., Any]) -> None:
        self._system, self._run = system, run
        self._methods = [recovery_of(node) for node in system.automata]
        self._constants = [constant_fields(node) for node in system.automata]
        self._first = [list(map(system.codec.encode, node.initial())) for node in system.automata]
        self._masks = [
            {name: OWN if name == node.name else OTHER for name in system.names}
            for node in system.automata
        ]
        self._numbers: dict[bytes, int] = {}
        self._asked = 0
        self.found: list[NotAlike] = []

    def plan(self, *, audit: int, exact: bool) -> SkipPlan:
        flight = [method is None for method in self._methods]
        return SkipPlan(roles=self, flight=flight, audit=audit, exact=exact)

    # -- what the kernel asks --------------------------------------------------------------------

    def roles(self, node: int, fresh: Callable[[], Values]) -> tuple[int, int, int]:
        """A local state as its own recovery sees it, as that of others does, and the whole of it.

        The recovery of others sees of a node that is down only that. Names and constants are no
        part of the whole.
        """
        whole = self._number(self._whole(node, fresh()))
        if self._methods[node] is None:
            return whole, whole, whole
        role = self._recovery(node, fresh())
        self._asked += 1
        twice = self._asked <= ASKED_TWICE or self._asked % ASKED_TWICE == 0
        if twice and self._recovery(node, fresh()) != role:
            method = self._methods[node]
            assert method is not None, "it was just asked"
            raise Nondeterminism(
                f"{place_of(method)}: `{METHOD}`, run twice in the same state, gave two results"
            )
        own = self._number(role)
        return own, own if is_up(fresh()[0]) else self._number(DOWN), whole

    def not_alike(
        self, fault: int, skipped: Place, tried: Place | None, properties: Sequence[int]
    ) -> None:
        """Hear of a fault that was left out, and not like the one that was followed."""
        node, state = skipped
        names = self._system.names
        found = NotAlike(
            fault=FAULTS[fault],
            node=names[node],
            like=None if tried is None else names[tried[0]],
            why=self._why(properties),
            fields=() if tried is None else self._differences(node, state, *tried),
        )
        if found not in self.found and len(self.found) < REPORTED_MAX:
            self.found.append(found)

    # -- roles -----------------------------------------------------------------------------------

    def _number(self, role: bytes) -> int:
        return self._numbers.setdefault(role, len(self._numbers))

    def _recovery(self, node: int, values: Values) -> bytes:
        automaton, method = self._system.automata[node], self._methods[node]
        assert method is not None, "only asked of services that have it"
        status = values[0][0]
        try:
            role = self._run(automaton.ask, method, values)
        except (PresageError, *NOT_THEIRS):
            raise
        except BaseException as error:
            raise BadSystem(
                f"{place_of(method)}: `{METHOD}` raised {type(error).__name__}: {error}",
                "a state of the node that it does not expect, such as that of one that is down",
                "let it answer for every local state",
            ) from error
        try:
            return self._system.codec.encode((_kind(automaton), status, role))
        except NotState as error:
            name = f"{automaton.name}: {automaton.service.__name__}.{METHOD}()"
            raise error.at(name) from None

    def _whole(self, node: int, values: Values) -> bytes:
        automaton = self._system.automata[node]
        parts = [_kind(automaton).encode(), *self.fields(node, values)]
        return self._system.codec.encode(tuple(parts))

    def fields(self, node: int, values: Values) -> list[bytes]:
        """The values of a node as far as they count, encoded; b"" for one that does not."""
        status, calls, timers, _ = values[0]
        parts = [self.masked(node, (status, calls, timers))]
        ghosts = self._system.automata[node].ghosts
        for position in range(1, len(values)):
            encoded = self._system.codec.encode(values[position])
            same = encoded == self._first[node][position]
            left_out = position in ghosts or (position in self._constants[node] and same)
            parts.append(b"" if left_out else self.masked(node, values[position]))
        return parts

    def masked(self, node: int, value: Any) -> bytes:
        """A value with the names of nodes made alike, encoded; b"" if that cannot be done."""
        codec = self._system.codec
        try:
            return codec.rename(codec.encode(value), self._masks[node])
        except ValueError:  # a class of its own that holds names as keys
            return b""

    # -- what differs ----------------------------------------------------------------------------

    def _why(self, properties: Sequence[int]) -> str:
        if not properties:
            return "the system comes to rest after it as nowhere else"
        if 0 in properties:
            return "a handler raises after it"
        prop = self._system.judged[min(properties) - 1]
        verb = "is reached" if prop.kind == "sometimes" else "breaks"
        return f"`{prop.name}` {verb} after it"

    def _differences(
        self, node: int, state: Seen, other: int, tried: Seen
    ) -> tuple[tuple[str, str, str], ...]:
        one, two = (
            Side(at, seen, self._sorted(seen)) for at, seen in ((node, state), (other, tried))
        )
        return differences(self._system, self, one, two)

    def _sorted(self, seen: Seen) -> list[bytes]:
        """The role of each node in a state."""
        codec = self._system.codec
        copies = [codec.decode(codec.encode(values)) for values in seen[0]]
        return [
            self._whole(node, values) if method is None else self._recovery(node, values)
            for node, (method, values) in enumerate(zip(self._methods, copies, strict=True))
        ]


def _kind(automaton: Automaton) -> str:
    return f"{automaton.service.__module__}.{automaton.service.__qualname__}"


def recovery_of(node: Automaton) -> Callable[..., Any] | None:
    """The method of a service that says what recovery depends on; None if it has none."""
    if METHOD in node.positions:
        return None
    method = inspect.getattr_static(node.service, METHOD, None)
    if method is None:
        return None
    if isinstance(method, FunctionType) and not marks_of(method):
        if len(inspect.signature(method).parameters) == 1:
            return method
    raise BadSystem(
        f"`{node.service.__name__}.{METHOD}` cannot be asked what recovery depends on",
        "a handler, or a method with parameters, of that name",
        f"write `def {METHOD}(self)` without a mark, or give the method another name",
    )
