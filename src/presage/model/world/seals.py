"""Seals on a live world: which of the events that could happen are let happen.

Of several seals the first whose condition holds is in force. A state that is sealed and cannot be
left is an error, not a rest: the assumption would hold for ever, and hide all that comes after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, runtime_checkable

from presage.errors import BadSeal, PresageError, UnknownNode, did_you_mean
from presage.model.choice import NOT_THEIRS
from presage.model.source import raised
from presage.model.world.event import FAULT_KINDS, Deliver, Event, Receive

# What `only` may name besides nodes and classes of messages: kinds of events.
WORDS = {
    "mail": ("deliver", "receive", "broken", "refused", "keepalive"),
    **{kind: (kind,) for kind in ("timer", "action", "call", "write", "wake")},
}


@runtime_checkable
class Assumption(Protocol):
    """What a system needs to know of a seal; the rest is the business of `props`."""

    @property
    def name(self) -> str: ...
    @property
    def claim(self) -> Any: ...
    @property
    def types(self) -> tuple[type, ...]: ...
    @property
    def kinds(self) -> tuple[str, ...]: ...
    @property
    def nodes(self) -> tuple[str, ...]: ...
    @property
    def first(self) -> bool: ...


def checked_seals(given: Any, names: tuple[str, ...], handled: Iterable[type]) -> tuple[Any, ...]:
    """The seals of a system with these nodes, which handle these classes of messages."""
    seals = (given,) if isinstance(given, Assumption) else tuple(given)
    met: set[str] = set()
    for seal in seals:
        if not isinstance(seal, Assumption) or isinstance(seal, type):
            raise BadSeal(
                f"`seals` holds {seal!r}, which is not a seal",
                "a predicate given without what may happen where it holds",
                "`seals=[Seal(when=predicate, only=Prepare)]`",
            )
        if seal.name in met:
            raise BadSeal(
                f"two seals are called `{seal.name}`",
                "one listed twice, or two predicates with one name",
                'give one another name: `Seal(when=..., only=..., name="...")`',
            )
        met.add(seal.name)
        _check_only(seal, names, tuple(handled))
    return seals


def _check_only(seal: Assumption, names: tuple[str, ...], handled: tuple[type, ...]) -> None:
    for word in set(WORDS) & set(names):
        raise BadSeal(
            f"a node is called `{word}`, which is a kind of events in a seal",
            "seals name nodes and kinds of events alike",
            "rename the node",
        )
    for node in seal.nodes:
        if node not in names:
            hint = did_you_mean(node, WORDS)
            raise UnknownNode(node, names, f"seal `{seal.name}`{hint and f' ({hint[2:]})'}")
    for cls in seal.types:
        if not any(issubclass(cls, other) or issubclass(other, cls) for other in handled):
            raise BadSeal(
                f"seal `{seal.name}`: no node handles messages of the class `{cls.__name__}`",
                "a service, or another class, given instead of the class of a message",
                "name a class that an `@on` of the system's services names",
            )


def seal_over(seals: Iterable[Assumption], view: Any) -> Assumption | None:
    """The seal in force in the world that `view` shows."""
    return next((seal for seal in seals if holds(seal, view)), None)


def holds(seal: Assumption, view: Any) -> bool:
    """Whether the condition of a seal is true."""
    try:
        return bool(seal.claim.judge(view).holds)
    except (PresageError, *NOT_THEIRS):
        raise
    except BaseException as error:
        raise condition_failed(seal.claim, error) from error


def condition_failed(claim: Any, error: BaseException) -> BadSeal:
    """The error of a condition that raised."""
    where = raised(error.__traceback__)
    return BadSeal(
        f"{where[0] if where else claim.source}: the condition of seal `{claim.name}` raised"
        f" {type(error).__name__}: {error}",
        "a misspelt name, or a world in which what it expects is not there yet",
        "correct the name, or let it answer in every reachable world",
    )


def lets(seal: Assumption, event: Event) -> bool:
    """Whether `seal` names `event`."""
    if event.kind in FAULT_KINDS:
        return False
    if isinstance(event, Deliver | Receive) and isinstance(event.message, seal.types):
        return True
    return event.kind in seal.kinds or event.node in seal.nodes


def let_through(
    seal: Assumption, events: Iterable[Event], moves: Callable[[Event], bool]
) -> list[Event]:
    """What `seal` lets happen of `events`; `moves` tells which lead to another state."""
    named = [event for event in events if lets(seal, event)]
    moving = next(filter(moves, named), None)
    if moving is None:
        raise never_lifted(seal)
    return [moving] if seal.first else named


def never_lifted(seal: Assumption, where: str = "") -> BadSeal:
    """The error of a state that is sealed for ever; `where`: the steps that lead there."""
    return BadSeal(
        f"the seal `{seal}` is never lifted: nothing that it names leads to another state{where}",
        "a message that is in flight and whose delivery is not possible, or does nothing and is"
        " skipped (`skip_noops`)",
        "let `when` be false there, or name in `only` what leads on",
    )
