"""Random small systems with streams whose executions end, for exploring them one by one.

The systems of `random_events`, with most messages sent on streams. Nodes close connections, hear
that they broke, crash, restart and are reset; connections are cut, and closed when idle. Those of
`linked_system` do little else: connections open early, and each node has reasons to close them.
"""

import random

from reference.random_events import build, judged, machine
from reference.random_systems import MODULUS, Machine, Program, _wired_predicate

from presage.model.service.stream import Streams
from presage.model.world.faults import Faults
from presage.props.property import always, eventually, sometimes


def _flowing(pick, names, operation):
    """Most sends become sends on streams; what tells little becomes a close."""
    kind, *args = operation
    if kind == "send" and pick(5):
        to, _, value = args
        return ("flow", to, pick(4), value)
    if kind in ("toggle", "disarm"):
        return ("close", (*names, None)[pick(len(names) + 1)])
    return operation


def _wired(pick, names):
    def wire(rules):
        rules = {
            trigger: tuple(_flowing(pick, names, each) for each in operations)
            for trigger, operations in rules.items()
        }
        lost = (("set", pick(MODULUS)), ("flow", None, pick(4), pick(MODULUS)), ("keep", 1))
        return rules | ({"lost": (lost[pick(3)],)} if pick(3) else {})

    return machine(pick, names, wire)


def _faults(pick, names, network):
    def amount(*amounts):
        return amounts[pick(len(amounts))]

    return Faults(
        crash=amount(0, 0, 1, 1, 2),
        restart=amount(0, 0, 1, 1),
        reset=amount(0, 0, 0, 1),
        silent_reset=amount(0, 0, 1, 1),
        cut=amount(0, 0, 1, 2),
        idle_close=amount(0, 0, 0, 0, 1),
        slow=amount(0, 0, 0, 0, 1),
        nodes=None if pick(2) else names[: 1 + pick(len(names))],
    )


def _no_faults(pick, names, network):
    return Faults()


def _properties(pick, names):
    one, other, third = (_wired_predicate(pick, names) for _ in range(3))
    return [
        *judged(pick, names),
        always(one, name="always_wired"),
        eventually(other, name="eventually_wired"),
        sometimes(lambda world: not third(world), name="sometimes_wired"),
    ]


def streamed_system(seed):
    """The system of a seed."""
    pick = random.Random(seed).randrange
    faults = _faults if pick(3) else _no_faults
    return build(pick, faults, node=_wired, properties=_properties, streams=Streams())


def _linked(pick, names):
    """A node that talks to others at once, and then sends, closes or stops listening."""

    def flow():
        return ("flow", (*names, None)[pick(len(names) + 1)], pick(3), pick(MODULUS))

    def either():
        to = (*names, None)[pick(len(names) + 1)]
        return (flow(), flow(), ("close", to), ("set", pick(MODULUS)), ("keep", 1))[pick(5)]

    rules = {"start": (flow(), *((("arm", "once"),) * pick(2)))}
    rules |= {trigger: (either(),) for trigger in ("ping", "note", "flag") if pick(4)}
    rules |= {"once": (either(),), "work": (either(),)}
    guards = {trigger: pick(MODULUS) for trigger in ("note", "flag") if pick(2)}
    return Machine(program=Program(rules, guards), fuel=1 + pick(2))


def _link_faults(pick, names, network):
    def amount(*amounts):
        return amounts[pick(len(amounts))]

    return Faults(
        crash=amount(0, 0, 1),
        silent_reset=amount(0, 0, 1),
        cut=amount(0, 1, 1),
        idle_close=amount(0, 0, 1),
    )


def linked_system(seed):
    """One that has connections, and little else."""
    pick = random.Random(seed).randrange
    return build(pick, _link_faults, node=_linked, properties=_properties, streams=Streams())
