"""What a search of a system took for granted, in sentences.

A seal is an assumption about scheduling. So is `skip_noops`, but only for what is judged where
nothing more happens, or looks at what is in flight: a message whose delivery would do nothing stays
in flight, and comes later where it does something. Verdicts about nodes alone do not depend on it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from presage.model.world.system import AT_REST, System

NEVER_IN_VAIN = "a message waits while its delivery would do nothing (`skip_noops`)"


def assumed(system: System, of_messages: Collection[int]) -> Iterator[str]:
    """`of_messages`: the properties, by number from 1, that looked at what is in flight."""
    yield from map(str, system.seals)
    if not system.skip_noops or system.network == "duplicating":
        return
    for at, prop in enumerate(system.judged, 1):
        if prop.kind in AT_REST or (at in of_messages and prop.kind != "sometimes"):
            yield NEVER_IN_VAIN
            return
