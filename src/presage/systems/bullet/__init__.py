"""Bullet': a source spreads a file over a mesh of nodes, which get its blocks from each other.

After Mace's Bullet' as CrystalBall describes it (Yabandeh et al., NSDI 2009, section 4.2.3).
Certain from there: the source sends blocks to some nodes, others request them explicitly; file
maps, shadow maps per receiver, diffs relative to the last one; streams that refuse what does not
fit; the claim that a sender's map and its receivers' views agree; CB-BU1, and its older form.

Reconstructed, since the source is not published: the names of messages, when a diff is sent, one
window of requests per sender, blocks in ascending order. A node keeps the senders it has; the
original replaces slow ones, so `limit` has to leave room. Nodes are candidates for each other from
the beginning, in the place of the discovery over RandTree. Delays of timers are ours but for the
five seconds of an epoch of discovery.

Sets of blocks are numbers, so that states and checkpoints stay small. The contents of blocks are no
part of a checkpoint: what is predicted sends empty ones.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

from presage import Faults, Service, Streams, System
from presage.systems.bullet.bugs import PROFILES
from presage.systems.bullet.properties import LIVENESS, SAFETY
from presage.systems.bullet.service import Bullet
from presage.systems.catalogue import missing

BugName = Literal["none", "CB-BU1", "CB-BU1a", "BU-m1", "BU-m2", "BU-m3", "BU-m4", "BU-m5"]


def system(
    *,
    nodes: int = 3,
    blocks: int = 2,
    size: int = 0,
    keep: bool = True,
    children: int = 2,
    limit: int = 10,
    window: int = 1,
    queue: int = 1,
    resets: int = 0,
    silent: int = 0,
    cuts: int = 0,
    bug: BugName = "none",
) -> System:
    """Nodes `n0`, `n1`, ...; `n0` is the source.

    nodes: how many.
    blocks: how many the file has.
    size: bytes of a block.
    keep: whether nodes hold the contents of blocks. A live node writes its state anew after each
      step, so a large file should not be part of it.
    children: how many nodes the source pushes blocks to.
    limit: how many senders, and how many receivers, a node may have.
    window: how many blocks a node may have asked one sender for.
    queue: how many messages a stream takes before it refuses more.
    resets: how many times a node may be reset; the source never is.
    silent: how many times a node may be reset without anyone hearing of it.
    cuts: how many times a connection may break.
    bug: the profile of rules that are missing.
    """
    width = len(str(nodes - 1))
    names = tuple(f"n{index:0{width}}" for index in range(nodes))
    node = partial(Bullet, blocks=blocks, size=size, keep=keep, limit=limit, window=window)
    lacks = missing(PROFILES, bug)
    mesh: dict[str, Service] = {}
    for name in names:
        others = tuple(other for other in names if other != name)
        children_of = names[1 : 1 + children] if name == names[0] else ()
        mesh[name] = node(candidates=others, children=children_of, missing=lacks)
    return System(
        nodes=mesh,
        streams=Streams(queue_size=queue),
        faults=Faults(reset=resets, silent_reset=silent, cut=cuts, nodes=names[1:]),
        properties=[*SAFETY, *LIVENESS],
        name="Bullet'",
    )
