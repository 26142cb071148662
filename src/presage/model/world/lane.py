"""The lane of a message: which stream between two nodes it is part of, if of any.

Only the network `lanes` asks. A message says it itself, by an attribute `lane`: a field, a property
or a constant of its class. So an event, a trace and a snapshot need not tell the lane, and a sender
need not either.

Invariant: the lane is a function of what the message says, and can be state; None is a datagram.
"""

from __future__ import annotations

from typing import Any

from presage._core import Codec
from presage.errors import BadLane, NotState
from presage.model.choice import NOT_THEIRS
from presage.model.source import raised

ABSENT = object()


def lane_of(message: Any) -> Any:
    """The lane that `message` takes; None for a datagram."""
    if isinstance(message, type):
        return None  # nobody handles a class: the receiver will say so
    try:
        return message.lane
    except NOT_THEIRS:
        raise
    except BaseException as error:
        from inspect import getattr_static  # which takes long to load

        if isinstance(error, AttributeError) and getattr_static(message, "lane", ABSENT) is ABSENT:
            return None
        where = raised(error.__traceback__)
        place = f"{where[0]}: " if where else ""
        raise BadLane(
            f"{place}the lane of a `{type(message).__name__}` raised"
            f" {type(error).__name__}: {error}",
            "a property `lane` that does not expect what the message says",
            "correct it; None is a datagram",
        ) from error


def encoded_lane(codec: Codec, message: Any) -> bytes:
    """The same in canonical form; nothing for a datagram."""
    lane = lane_of(message)
    try:
        return b"" if lane is None else codec.encode(lane)
    except NotState as error:
        raise error.at(f"message {type(message).__name__}: lane") from None
