"""The observers of a live `World`, the clocks of a timed system among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presage.errors import NotState, ObserverError
from presage.model.choice import NOT_THEIRS
from presage.model.service.clocks import Ticked
from presage.model.service.local_state import Outcome, Stimulus
from presage.model.source import raised
from presage.model.world.system import System


def observed(system: System, states: Sequence[bytes], node: str, records: list[Any]) -> list[bytes]:
    """The states of all observers, encoded, after `node` has recorded `records`."""
    codec = system.codec
    encoded = codec.encode(records)
    after = []
    for (name, observer), before in zip(system.observers.items(), states, strict=True):
        state = codec.decode(before)
        try:
            for record in codec.decode(encoded):
                state = observer.observe(state, node, record)
        except NOT_THEIRS:
            raise
        except BaseException as error:
            raise observer_error(name, observer, error) from error
        try:
            after.append(codec.encode(state))
        except NotState as error:
            raise error.at(f"observer {name}: state") from None
    return after


def is_due(system: System, states: Sequence[bytes], node: int, stimulus: Stimulus) -> bool:
    """Whether the clocks, if there are any, let `stimulus` happen at `node`."""
    if system.clocks is None:
        return True
    return system.clocks.due(system.codec.decode(states[-1]), node, stimulus)


def told(outcome: Outcome) -> list[Any]:
    """The records of a step, but for those that only the clocks see."""
    return [record for record in outcome.records if not isinstance(record, Ticked)]


def observer_error(name: str, observer: object, error: BaseException) -> ObserverError:
    where = raised(error.__traceback__)
    place = where[0] if where else type(observer).__name__
    return ObserverError(
        f"{place}: observer `{name}` raised {type(error).__name__}: {error}",
        "a record of a kind the observer does not know, or in an order it does not expect",
        "correct the observer, or what the services `record`",
    )
