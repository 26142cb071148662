"""`Seal`: an assumption about scheduling. Where its condition holds, only what it names may happen.

It depends on the state alone, so a sealed system is a system with fewer transitions, and every
search obeys. The sealing of Zing's schedulers, which programs switch on and off, is the model.

Invariant: `when` is judged like a property; its verdict depends only on what it reads.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from presage.errors import BadSeal
from presage.model.world.seals import WORDS
from presage.props.property import Predicate, Property, claim_of
from presage.records import record

Named = type | str  # a class of messages, a word of `WORDS`, or a node


@record(frozen=True, init=False)
class Seal:
    """In worlds of which `when` is true only what `only` names may happen, and no fault.

    `only`: a class of messages, "mail", "timer", "action", "call", "write", "wake", the name of a
    node for all that happens there, or a tuple of these. `first`: of these only the first, in the
    order of `World.enabled()`, that leads to another state.
    """

    only: Named | tuple[Named, ...]
    first: bool
    name: str
    claim: Property = field(repr=False)  # `when`, by its name

    def __init__(
        self,
        when: Predicate,
        only: Named | tuple[Named, ...],
        first: bool = False,
        name: str = "",
    ) -> None:
        claim = claim_of("seal", when, name or None)
        vars(self).update(only=only, first=first, name=claim.name, claim=claim)
        for named in self._named():
            if not isinstance(named, type | str):
                raise BadSeal(
                    f"seal `{self.name}`: `only` holds {named!r}",
                    "a message given instead of its class, or a node instead of its name",
                    "give classes of messages, names of nodes, or " + ", ".join(WORDS),
                )
        if self.only == ():
            raise BadSeal(
                f"seal `{self.name}`: `only` is empty",
                "a state in which nothing may happen is no assumption about an order",
                "name what may happen while the seal holds",
            )

    def _named(self) -> tuple[Any, ...]:
        return self.only if isinstance(self.only, tuple) else (self.only,)

    @property
    def types(self) -> tuple[type, ...]:
        """The classes of messages that may be delivered."""
        return tuple(named for named in self._named() if isinstance(named, type))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of events that may happen."""
        return tuple(kind for named in self._named() for kind in WORDS.get(named, ()))

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes at which anything may happen."""
        return tuple(
            named for named in self._named() if isinstance(named, str) and named not in WORDS
        )

    def __str__(self) -> str:
        """What is assumed: `while prepared: only Prepare`."""
        names = [named if isinstance(named, str) else named.__name__ for named in self._named()]
        listed = " or ".join(names)
        return f"while {self.name}: only {'the first of ' * self.first}{listed}"
