"""Name what differs between two runs of one step: the field, the send, the record, the choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from presage.errors import NotState
from presage.model.service.automaton import Automaton
from presage.model.service.local_state import Outcome, Stimulus
from presage.model.service.stream import Lost
from presage.model.world.lane import lane_of
from presage.trace.show import show, show_call

# What one branch did: name of a part, what is compared of it, what is shown of it.
Parts = Sequence[tuple[str, Any, Any]]
Did = list[tuple[str, int, str]]  # the same for another process: with digests and texts

UNDELIVERABLE = "was deliverable once and once not"


def describe(automaton: Automaton, stimulus: Stimulus, names: Sequence[str]) -> str:
    """A step in words: `n0: Server, deliver Join from n1`."""
    kind, *rest = stimulus
    if kind == "deliver" and isinstance(rest[1], Lost):
        text = f"lost connection to {names[rest[0]]}"
    elif kind == "deliver":
        text = f"deliver {show(rest[1])} from {names[rest[0]]}"
    elif kind in ("timer", "action"):
        text = f"{kind} {show_call(rest[0], rest[1:])}"
    elif kind == "write":
        text = f"write {rest[0]}[{show(rest[1])}]"
    else:
        text = str(kind)
    return f"{automaton.name}: {automaton.service.__name__}, {text}"


def first_difference(
    automaton: Automaton, first: list[Outcome] | None, second: list[Outcome] | None
) -> str | None:
    """What differs, as the end of a sentence; None if nothing does."""
    if first is None or second is None:
        return None if first is second else UNDELIVERABLE
    if len(first) != len(second):
        return _counted(first, second)
    for one, other in zip(first, second, strict=True):
        difference = between(_parts(automaton, one), _parts(automaton, other), show)
        if difference is None and one.choices != other.choices:
            difference = f"asked for different choices: {one.choices} and {other.choices}"
        if difference is not None:
            return difference
    return None


def first_effect(
    automaton: Automaton,
    network: str,
    first: list[Outcome] | None,
    second: list[Outcome] | None,
) -> str | None:
    """As `first_difference`, as far as the world can tell.

    It cannot tell in which order branches were tried, nor messages sent where no order is kept.
    """
    if first is None or second is None:
        return first_difference(automaton, first, second)
    ones, others = (
        [_parts(automaton, _plain(automaton, network, each)) for each in some]
        for some in (first, second)
    )
    return first_apart(ones, others, show)


def first_apart(
    ones: Sequence[Parts], others: Sequence[Parts], text: Callable[[Any], str] = str
) -> str | None:
    """What differs between branches here and there, in whatever order; None if nothing does."""
    left, only = [(_form(each), each) for each in others], []
    for one in ones:
        match = next((at for at, (form, _) in enumerate(left) if form == _form(one)), None)
        if match is None:
            only.append(one)
        else:
            del left[match]
    if not only and not left:
        return None
    if not ones or not others:
        return UNDELIVERABLE
    return between(only[0], left[0][1], text) if only and left else _counted(ones, others)


def between(one: Parts, other: Parts, text: Callable[[Any], str] = str) -> str | None:
    for (name, form, shown), (other_name, other_form, other_shown) in zip(one, other, strict=False):
        if name != other_name:
            return f"did `{name}` once and `{other_name}` once"
        if form != other_form:
            return f"differed in {name}: {text(shown)} and {text(other_shown)}"
    return None if len(one) == len(other) else "had another number of effects"


def _counted(ones: Sequence[Any], others: Sequence[Any]) -> str:
    return f"had {len(ones)} branches once and {len(others)} once"


def _form(parts: Parts) -> list[tuple[str, Any]]:
    return [part[:2] for part in parts]


def _plain(automaton: Automaton, network: str, outcome: Outcome) -> Outcome:
    """`outcome` without the orders that nobody can tell."""
    encode = automaton.codec.encode

    def channel(send: tuple[int, Any]) -> tuple[int, bytes]:
        to, message = send
        lane = lane_of(message) if network == "lanes" else None
        if network == "ordered":
            return to, b""
        return (to, encode(message)) if lane is None else (to, encode((lane,)))

    sends = sorted(outcome.sends, key=channel)
    flows = sorted(outcome.flows, key=lambda flow: flow.peer)
    return outcome._replace(choices=(), sends=sends, flows=flows)


def _parts(automaton: Automaton, outcome: Outcome) -> list[tuple[str, bytes, Any]]:
    """What one branch did, as far as the world can tell."""
    names, values = automaton.names, outcome.values
    listed = [("timers or status", automaton.place(0), values[0])]
    listed += [
        (f"`{name}`", automaton.place(at), values[at])
        for name, at in automaton.positions.items()
        if at not in automaton.ghosts
    ]
    place = f"{automaton.name}: {automaton.service.__name__}"
    peers = [(names[flow.peer], flow) for flow in outcome.flows]
    flown = [(peer, "closed" if flow.closes else flow.message) for peer, flow in peers]
    sent = [(names[to], message) for to, message in outcome.sends]
    listed.append(("what it sent", f"{place}: sends", sent))
    listed.append(("what it did to streams", f"{place}: streams", flown))
    listed.append(("what streams allow it", f"{place}: streams", list(outcome.limits)))
    listed.append(("what it recorded", f"{place}: records", outcome.records))
    return [(name, _encoded(automaton, part, where), part) for name, where, part in listed]


def _encoded(automaton: Automaton, part: Any, place: str) -> bytes:
    try:
        return automaton.codec.encode(part)
    except NotState as error:
        raise error.at(place) from None


def parts(automaton: Automaton, network: str, outcomes: list[Outcome] | None) -> list[Did]:
    """What each branch did, as far as the world can tell, to be compared in another process."""
    return [did(automaton, _plain(automaton, network, each)) for each in outcomes or []]


def did(automaton: Automaton, outcome: Outcome) -> Did:
    digest = automaton.codec.digest
    return [(name, digest(form), show(part)) for name, form, part in _parts(automaton, outcome)]
