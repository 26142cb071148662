"""Random small systems in which crashes are told: the machines of other modules, made to hear.

Any system of machines can be turned into one: some of its nodes get a class with a handler for
`Down`, and something for it to do.
"""

import random
from dataclasses import replace

from reference.random_events import lively_system, struck_system
from reference.random_systems import MODULUS, Keeper, Machine, Program, random_system
from reference.symmetric_systems import Member, symmetric_system
from reference.symmetric_systems import Program as MemberProgram

from presage.model.service.declare import on
from presage.model.service.down import Down
from presage.model.world.system import System


class HearingMachine(Machine):
    @on(Down, when=lambda self: self.allows("down"))
    def peer_down(self, notice, source):
        assert notice.node == source
        self.run("down", 1, source)


class HearingKeeper(Keeper):
    @on(Down)
    def peer_down(self, notice):
        self.run("down", 2, notice.node)


class HearingMember(Member):
    @on(Down)
    def peer_down(self, notice, source):
        self.run("down", 1, source, notice.node)


HEARING = {Machine: HearingMachine, Keeper: HearingKeeper}


def _operation(pick, names):
    return (
        ("send", (*names, None)[pick(len(names) + 1)], pick(3), pick(MODULUS)),
        ("set", pick(MODULUS)),
        ("keep", pick(MODULUS)),
        ("toggle", pick(2)),
        ("record", pick(MODULUS)),
        ("choose", 2),
        ("arm", "once"),
    )[pick(7)]


def _hearing(pick, node, names):
    rules = {"down": tuple(_operation(pick, names) for _ in range(1 + pick(2)))}
    rules |= node.program.rules
    guards = {"down": pick(MODULUS)} if pick(4) == 0 else {}
    fields = vars(node) | {"program": Program(rules, node.program.guards | guards)}
    fields["fuel"] = max(1, node.fuel)
    return HEARING[type(node)](**fields)


def _with(system, nodes, faults, **more):
    return System(
        nodes=nodes,
        network=system.network,
        faults=faults,
        streams=system.streams,
        calls=system.calls,
        observers=system.observers,
        properties=system.properties,
        skip_noops=system.skip_noops,
        **more,
    )


def noticed(system, pick):
    """The same system, in which crashes happen and are told to some nodes."""
    nodes = dict(system.nodes)
    names = list(nodes)
    deaf = pick(len(names) + 2)  # at most one
    for at, name in enumerate(names):
        if at != deaf:
            nodes[name] = _hearing(pick, nodes[name], names)
    crash = max(1, system.faults.crash)
    exposed = None if deaf < len(names) else system.faults.nodes
    return _with(system, nodes, replace(system.faults, crash=crash, nodes=exposed, notices=True))


def noticed_system(seed, wired=False):
    """A random system of any kind."""
    return noticed(random_system(seed, wired), random.Random(seed).randrange)


def noticed_lively_system(seed):
    """One whose executions end."""
    return noticed(lively_system(seed), random.Random(seed).randrange)


def noticed_struck_system(seed):
    """One whose nodes also restart, are reset and slow."""
    return noticed(struck_system(seed), random.Random(seed).randrange)


def noticed_symmetric_system(seed):
    """One whose nodes are interchangeable."""
    system, pick = symmetric_system(seed), random.Random(seed).randrange
    operations = [name[3:] for name in vars(Member) if name.startswith("op_")]
    told = {
        id(node.program): tuple((operations[pick(len(operations))], pick(3)) for _ in range(2))
        for node in system.nodes.values()
    }
    programs = {
        id(node.program): MemberProgram(
            node.program.rules | {"down": told[id(node.program)]}, node.program.guard
        )
        for node in system.nodes.values()
    }
    nodes = {
        name: HearingMember(**vars(node) | {"program": programs[id(node.program)]})
        for name, node in system.nodes.items()
    }
    faults = replace(system.faults, crash=max(1, system.faults.crash), notices=True)
    names = system.names
    groups = [[names[at] for at in group] for group in system.symmetric.groups]
    return _with(system, nodes, faults, symmetric=groups)
