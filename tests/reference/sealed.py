"""Seals for the reference explorer: which of the listed successors are let happen."""

from reference.plain import key_of, view

MAIL = ("deliver", "receive", "broken", "refused", "keepalive")
ORDER = (*MAIL, "timer", "action", "call", "write", "wake")


class Stuck(Exception):
    """A sealed state from which nothing leads on: the name of the seal, and the world."""


def let(system, state, listed):
    """Of `listed`, successors with what happens, those that the first seal that holds allows."""
    for seal in system.seals:
        if seal.claim.predicate(view(system, state)):
            return allowed(system, state, seal, [each for each in listed if each[1] is None])
    return [each[:4] for each in listed]


def allowed(system, state, seal, listed):
    found = [each for each in listed if named(system, seal, each[4])]
    moving = [each for each in found if key_of(system, each[0]) != key_of(system, state)]
    if not moving:
        raise Stuck(seal.name, view(system, state))
    if seal.first:
        first = min(rank(system, each[4]) for each in moving)
        found = [each for each in found if rank(system, each[4]) == first]
    return [each[:4] for each in found]


def rank(system, event):
    kind, node, stimulus = event
    return (ORDER.index(kind), node, system.codec.encode(stimulus))


def named(system, seal, event):
    kind, node, stimulus = event
    for word in seal.only if isinstance(seal.only, tuple) else (seal.only,):
        if isinstance(word, type):
            if kind in ("deliver", "receive") and isinstance(stimulus[2], word):
                return True
        elif word in (kind, system.names[node]) or (word == "mail" and kind in MAIL):
            return True
    return False
