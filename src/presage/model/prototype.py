"""A prototype's field values in canonical form, and a service's field values in declared order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from presage._core import Codec
from presage.errors import DeletedField, NotState, Sharing, UndeclaredField

GENERIC = "__orig_class__"  # what `typing` leaves in an instance of `Store[int]`


def encode_prototype(
    codec: Codec, node: str, prototype: Any, positions: Mapping[str, int]
) -> list[bytes]:
    """The values of the declared fields, encoded; refuse a prototype that holds other ones."""
    held, service = prototype.__dict__, type(prototype).__name__
    for field in held:
        if field not in positions and field != GENERIC:
            raise UndeclaredField(service, field, f"node `{node}`: the prototype", "has")
    for field in positions:
        if field not in held:
            raise DeletedField(service, field, f"node `{node}`: something")
    fields = tuple(positions)
    try:
        return codec.encode_fields([None, *(held[field] for field in fields)])[1:]
    except NotState as error:
        raise error.at(f"{node}: {service}.{fields[error.position - 1]}") from None
    except Sharing as error:
        raise error.at(f"node `{node}`: the prototype", fields) from None


def picker(fields: tuple[str, ...]) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    """A function from a service's `__dict__` to its field values in declared order."""
    if not fields:
        return lambda held: ()
    if len(fields) == 1:
        (only,) = fields
        return lambda held: (held[only],)
    return itemgetter(*fields)
