"""Go on by chance: what can happen next, how likely it is, and calm walks until all is well.

The rules are the hunt's: what changes nothing does not happen, a calm walk leaves out faults but
not their ends, and it is live as soon as every `eventually` holds at once. Here they are followed
on live code, a step at a time, so that somebody can look on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from presage.debug.branch import Option, Taken
from presage.debug.refusals import forgiving
from presage.errors import PresageError
from presage.execution.chance import Dice, weight_of
from presage.execution.prefix import events_of
from presage.execution.sandbox import Sandbox
from presage.execution.services import ServiceExecution
from presage.model.choice import NOT_THEIRS
from presage.model.world.event import FAULT_KINDS, Event
from presage.model.world.world import World
from presage.props.property import Property
from presage.records import record

WALKS = 20
LENGTH = 1_000


@record(frozen=True)
class Walked:
    """What came of walking until live."""

    steps: tuple[Taken, ...] | None  # of the walk that got there; None: none did
    walks: int  # that were tried
    length: int  # each, at most
    rest: int = 0  # of them stopped without recovering


def options(world: World, sandbox: Sandbox, *, calm: bool) -> list[Option]:
    """Everything that can happen next in `world`, which is left as it is."""
    here, saved = world.fingerprint, world.save()
    found = []
    with forgiving(sandbox, lists=True) as refusals:
        events: list[Event] = sandbox.run(world.enabled)
    for event in events:
        weight, fault = weight_of(world.system, event, calm=calm), event.kind in FAULT_KINDS
        odds, refused = [((), 1.0)], str(refusals.of(world.system, event) or "")
        if not refused:
            odds, refused = _asked(sandbox, odds, world.odds, event)
        for choices, share in odds:
            if not refused:
                with forgiving(sandbox, lists=False):  # guards of other events
                    _, refused = _asked(sandbox, None, world.apply, event, choices)
            idle = not refused and world.fingerprint == here
            world.restore(saved)
            part = share if calm else 1 / len(odds)
            found.append(Option(event, choices, fault, idle, weight * part, refused))
            refused = ""
    return found


def _asked(sandbox: Sandbox, otherwise: Any, function: Callable[..., Any], *args: Any) -> Any:
    """What user code gives and "", or `otherwise` and why it is refused."""
    try:
        return sandbox.run(function, *args), ""
    except PresageError as error:
        sandbox.error = None  # it would repeat what it has to say; all else can still happen
        return otherwise, str(error)


def draw(found: Iterable[Option], dice: Dice) -> Option | None:
    """One of `found` by weight, of those that lead elsewhere; None if there is none."""
    likely = [option for option in found if option.weight > 0 and not option.idle]
    left = dice.below(sum(option.weight for option in likely))
    for option in likely:
        if left < option.weight:
            return option
        left -= option.weight
    return likely[-1] if likely else None


def holds(prop: Property, sandbox: Sandbox, *seen: Any) -> bool:
    """Whether `prop` says that what is `seen` is as it should be."""
    try:
        return bool(sandbox.run(prop.judge, *seen).holds)
    except NOT_THEIRS:
        raise
    except BaseException:
        if sandbox.error is not None:
            raise
        return False


def until_live(
    world: World, sandbox: Sandbox, dice: Dice, props: Iterable[Property], walks: int, length: int
) -> Walked:
    """Walk calmly from `world` until all of `props` hold at once; `world` is left as it is."""
    saved, rest, judged = world.save(), 0, list(props)
    try:
        for number in range(1, walks + 1):
            world.restore(saved)
            run = ServiceExecution(world.system, sandbox, world)
            while len(run.steps) <= length:
                if all(holds(prop, sandbox, world.view()) for prop in judged):
                    taken = tuple(Taken(*each) for each in events_of(run.steps))
                    return Walked(taken, number, length, rest)
                if not run.wander(dice, run.likely(calm=True)):
                    rest += 1
                    break
    finally:
        world.restore(saved)
    return Walked(None, walks, length, rest)
