"""The observers of a live `World`, the clocks of a timed system among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presage.errors import NotState
from presage.model.blame import observer_error
from presage.model.choice import NOT_THEIRS
from presage.model.local import Outcome, Stimulus
from presage.model.system import System
from presage.model.timed import Ticked


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
