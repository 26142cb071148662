"""Name what differs between two runs of one step: the field, the send, the record, the choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presage.errors import NotState
from presage.model.service.automaton import Automaton
from presage.model.service.local_state import Outcome, Stimulus
from presage.model.service.stream import Lost
from presage.trace.show import show, show_call

# What one branch did: name of a part, its digest, its text.
Did = list[tuple[str, int, str]]

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
        return f"had {len(first)} branches once and {len(second)} once"
    for one, other in zip(first, second, strict=True):
        difference = _between(automaton, one, other)
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
    ones, others = ([_plain(automaton, network, each) for each in some] for some in (first, second))
    left = {at: _form(automaton, each) for at, each in enumerate(others)}
    only = []
    for each in ones:
        form = _form(automaton, each)
        match = next((at for at, other in left.items() if other == form), None)
        if match is None:
            only.append(each)
        else:
            del left[match]
    if not only and not left:
        return None
    if not only or not left:
        return f"had {len(first)} branches once and {len(second)} once"
    return _between(automaton, only[0], others[min(left)])


def _plain(automaton: Automaton, network: str, outcome: Outcome) -> Outcome:
    """`outcome` without the orders that nobody can tell."""
    encode, ordered = automaton.codec.encode, network == "ordered"
    sends = sorted(outcome.sends, key=lambda send: (send[0], b"" if ordered else encode(send[1])))
    flows = sorted(outcome.flows, key=lambda flow: flow.peer)
    return outcome._replace(choices=(), sends=sends, flows=flows)


def _form(automaton: Automaton, outcome: Outcome) -> list[Any]:
    """What the world can tell of an outcome, to be compared."""
    encode = automaton.codec.encode
    values = [
        encode(value) for at, value in enumerate(outcome.values) if at not in automaton.ghosts
    ]
    parts = (outcome.sends, list(outcome.flows), outcome.records, list(outcome.limits))
    return [*values, *map(encode, parts)]


def _between(automaton: Automaton, one: Outcome, other: Outcome) -> str | None:
    for position, (left, right) in enumerate(zip(one.values, other.values, strict=True)):
        place = automaton.place(position)
        if position not in automaton.ghosts and _differ(automaton, left, right, place):
            what = "timers or status" if position == 0 else f"`{automaton.fields[position - 1]}`"
            return f"differed in {what}: {show(left)} and {show(right)}"
    place = f"{automaton.name}: {automaton.service.__name__}"
    if _differ(automaton, one.sends, other.sends, f"{place}: sends"):
        sent = [show(messages(automaton, outcome)) for outcome in (one, other)]
        return f"differed in what it sent: {sent[0]} and {sent[1]}"
    if _differ(automaton, list(one.flows), list(other.flows), f"{place}: streams"):
        flown = [show(flows(automaton, outcome)) for outcome in (one, other)]
        return f"differed in what it did to streams: {flown[0]} and {flown[1]}"
    if _differ(automaton, one.records, other.records, f"{place}: records"):
        return f"differed in what it recorded: {show(one.records)} and {show(other.records)}"
    if one.choices != other.choices:
        return f"asked for different choices: {one.choices} and {other.choices}"
    return None


def _differ(automaton: Automaton, left: Any, right: Any, place: str) -> bool:
    encode = automaton.codec.encode
    try:
        return encode(left) != encode(right)
    except NotState as error:
        raise error.at(place) from None


def messages(automaton: Automaton, outcome: Outcome) -> list[tuple[str, Any]]:
    """What was sent, in order, each with the name of its receiver."""
    return [(automaton.names[to], message) for to, message in outcome.sends]


def flows(automaton: Automaton, outcome: Outcome) -> list[tuple[str, Any]]:
    """What was done to streams, in order: the peer, and what it was sent, or that it was closed."""
    peers = [(automaton.names[flow.peer], flow) for flow in outcome.flows]
    return [(peer, "closed" if flow.closes else flow.message) for peer, flow in peers]


def parts(automaton: Automaton, network: str, outcomes: list[Outcome] | None) -> list[Did]:
    """What each branch did, as far as the world can tell, to be compared in another process.

    Of each part: its name, the digest of its canonical form, its text.
    """
    return [did(automaton, _plain(automaton, network, each)) for each in outcomes or []]


def did(automaton: Automaton, outcome: Outcome) -> Did:
    """What one branch did, in order."""
    told: list[tuple[str, Any]] = [("timers or status", outcome.values[0])]
    told += [
        (f"`{name}`", outcome.values[at])
        for name, at in automaton.positions.items()
        if at not in automaton.ghosts
    ]
    told += [("what it sent", sent) for sent in messages(automaton, outcome)]
    told += [("what it did to a stream", flow) for flow in flows(automaton, outcome)]
    told += [("what it recorded", record) for record in outcome.records]
    codec = automaton.codec
    return [(name, codec.digest(codec.encode(part)), show(part)) for name, part in told]


def first_apart(ones: list[Did], others: list[Did]) -> str | None:
    """What differs between what `parts` gave here and there; None if nothing does."""
    left = list(others)
    only = []
    for one in ones:
        match = next((at for at, each in enumerate(left) if _form_of(each) == _form_of(one)), None)
        if match is None:
            only.append(one)
        else:
            del left[match]
    if not only or not left:
        if not only and not left:
            return None
        if not ones or not others:
            return UNDELIVERABLE
        return f"had {len(ones)} branches once and {len(others)} once"
    for (name, digest, text), (other_name, other_digest, other_text) in zip(
        only[0], left[0], strict=False
    ):
        if name != other_name:
            return f"did something to {name} once and to {other_name} once"
        if digest != other_digest:
            return f"differed in {name}: {text} and {other_text}"
    return "did once more than the other time"


def _form_of(did: Did) -> list[tuple[str, int]]:
    return [part[:2] for part in did]
