"""What the kernel asks about histories: what a record means, and what a spec does.

The kernel follows `Linearizable` and `SequentiallyConsistent` by itself, and finds orders of
operations by itself. Subclasses of them, and what is wrapped in another observer, stay in Python.

Invariant: where user code raises, the answer is "not answered", and the property is judged in
Python, which raises in the same place as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from presage.errors import HandlerStuck, Impure
from presage.limits import KernelHistories
from presage.model.choice import NOT_THEIRS
from presage.model.world.system import System
from presage.props.history import (
    History,
    Invoke,
    Linearizable,
    Return,
    SequentiallyConsistent,
    claim_of_history,
)
from presage.props.order import Client, Done, Pending, SequentialSpec
from presage.props.property import Property

FOLLOWED = (Linearizable, SequentiallyConsistent)
NOT_ANSWERED = (False, None)
OTHER, INVOKE, RETURN = 0, 1, 2

Answer = tuple[bool, Any]  # whether there is one, and it


def kernel_histories(system: System, properties: Sequence[Property]) -> KernelHistories | None:
    """What the kernel can follow and judge by itself; None if that is nothing."""
    kept = [type(observer) in FOLLOWED for observer in system.observers.values()]
    if not any(kept):
        return None
    slots = {name: slot for slot, name in enumerate(system.observers) if kept[slot]}
    claims: list[tuple[int, bool] | None] = [None]  # `no_exception`
    for prop in properties:
        claim = claim_of_history(prop.predicate) if system.observed_known else None
        slot = slots.get(claim.observer) if claim else None
        claims.append(None if claim is None or slot is None else (slot, claim.real_time))
    return KernelHistories(kept, claims, list(system.nodes), (History, Client, Done, Pending))


class SpecAnswers:
    """The part of the bridge that answers for specs."""

    _run: Callable[..., Any]

    @staticmethod
    def record(record: Any) -> tuple[int, Any]:
        """What a history makes of a record."""
        if isinstance(record, Invoke):
            return INVOKE, record.op
        if isinstance(record, Return):
            return RETURN, record.value
        return OTHER, None

    def spec_initial(self, spec: SequentialSpec) -> Answer:
        """The state that a spec begins with."""
        return self._answer(_initial, spec)

    def spec_apply(self, spec: SequentialSpec, state: Any, op: Any) -> Answer:
        """State and result of `op`; None if it cannot happen."""
        return self._answer(_apply, spec, state, op)

    def answers_equal(self, answer: Any, result: Any) -> Answer:
        """Whether an operation was answered as the spec says."""
        return self._answer(_is_equal, answer, result)

    def _answer(self, function: Callable[..., Any], *args: Any) -> Answer:
        try:
            return True, self._run(function, *args)
        except (HandlerStuck, Impure):
            raise
        except NOT_THEIRS:
            raise
        except BaseException:
            return NOT_ANSWERED


def _initial(spec: SequentialSpec) -> Any:
    return spec.initial()


def _apply(spec: SequentialSpec, state: Any, op: Any) -> tuple[Any, Any] | None:
    outcome = spec.apply(state, op)
    if outcome is None:
        return None
    after, result = outcome
    frozenset((after,))  # `find_order` needs what can be in a set
    return after, result


def _is_equal(answer: Any, result: Any) -> bool:
    return not answer != result  # noqa: SIM202 - a class may define the one without the other
