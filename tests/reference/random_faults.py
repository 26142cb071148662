"""What may go wrong in random systems: budgets of faults, drawn like the rest of them."""

from dataclasses import replace

from presage.model.world.faults import UNLIMITED, Faults, Partition


def wired_faults(pick, names, network):
    """Few at a time, or the systems would be too large; of nodes and connections most."""

    def amount(chance=4):
        return (1, 1, 2, UNLIMITED)[pick(4)] if pick(chance) == 0 else 0

    ways = [
        Partition({"left": names[:1], "right": names[1:]}),
        Partition({"left": names[1:2], "right": [*names[:1], *names[2:3]]}),
    ]
    split = amount(5)
    return Faults(
        crash=amount(),
        restart=amount(),
        drop=amount(8),
        duplicate=0 if network == "duplicating" or pick(6) else 1,
        nodes=None if pick(2) else names[: 1 + pick(len(names))],
        reset=amount(3),
        silent_reset=amount(2),
        cut=amount(3),
        idle_close=amount(),
        partition=split,
        heal=amount(2) if split else 0,
        partitions=ways[: 1 + pick(2)] if split else (),
    )


def plain_faults(pick, names, network):
    def amount(unlimited):
        return (0, 0, 1, 1, 2, UNLIMITED if unlimited else 1)[pick(6)]

    return Faults(
        crash=amount(True),
        restart=amount(True),
        drop=amount(True),
        duplicate=0 if network == "duplicating" else amount(False),
        nodes=None if pick(2) else names[: 1 + pick(len(names))],
    )


def slow_too(pick, faults):
    """The same faults, and slow nodes."""
    return replace(faults, slow=(0, 1, 1, UNLIMITED)[pick(4)])
