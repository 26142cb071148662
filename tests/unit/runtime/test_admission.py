"""Which classes may come from a socket: all that annotations lead to, and no other."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, NamedTuple, Optional
from uuid import UUID

import pytest
from msgspec import Struct

from presage import Service, System, on, state
from presage._core import Codec
from presage.errors import BadCluster
from presage.runtime.admission import admit, reachable


class Colour(Enum):
    RED = 1


class Point(NamedTuple):
    x: int
    y: Colour


@dataclass(frozen=True)
class Inner:
    points: Mapping[str, Point]


class Message(Struct, frozen=True):
    inner: Optional[tuple[Inner, ...]]  # noqa: UP045
    queue: deque[int]
    word: Literal["a"]
    anything: Any


class Derived(Message, frozen=True):
    more: Message | None = None


class Identified(Struct, frozen=True):
    who: UUID


class Hidden(Struct, frozen=True):
    text: str = ""


def test_annotations_lead_to_classes_and_subclasses() -> None:
    found = {cls for cls, _ in reachable([Message])}
    assert found == {Message, Derived, Inner, Point, Colour, deque}


def system_of(message: type) -> System:
    class Node(Service):
        got: int = state(0)

        @on(message)
        def take(self, message: Any) -> None:
            self.got += 1

    return System({"n0": Node()})


def test_what_a_handler_names_is_decoded_and_what_it_does_not_is_not() -> None:
    reader, writer = Codec(), Codec()
    admit(system_of(Message), reader)
    message = Derived((Inner({"a": Point(1, Colour.RED)}),), deque([1]), "a", (1, 2))
    assert reader.decode_plain(writer.encode(message)) == message
    sly = Derived(None, deque(), "a", Hidden())
    with pytest.raises(ValueError, match="a class that no handler does"):
        reader.decode_plain(writer.encode(sly))


def test_a_message_that_cannot_travel_is_named_with_its_field() -> None:
    with pytest.raises(BadCluster, match="message `Identified`: field `who` cannot be sent"):
        admit(system_of(Identified), Codec())
