"""Who waits for whom, in words: what is said of ranks that cannot go on."""

from __future__ import annotations

from presage.process.context import Context
from presage.process.ops import Failed, Op
from presage.process.world import ProcessWorld


def describe(op: Op, context: Context) -> str:
    """The call of MPI that a rank is in: `recv(source=1, tag=3) at x.py:12`."""
    return str(context.notes.get("call", type(op).__name__))


def waits_for(context: Context) -> tuple[int, ...]:
    """The ranks that a rank waits for."""
    return tuple(context.notes.get("waits_for", ()))


def who_waits(world: ProcessWorld) -> str:
    """A line for each rank that is not done: its call, and for whom it waits."""
    lines = []
    for name, member in world.members.items():
        if member.ended:
            continue
        at = member.live.at
        assert not isinstance(at, Failed)
        ranks = waits_for(member.live.context)
        ended = [rank for rank in ranks if world.members[f"rank {rank}"].ended]
        told = f"{name} waits in {describe(at, member.live.context)}"  # type: ignore[arg-type]
        told += f", for rank {', '.join(map(str, ranks))}" if ranks else ""
        told += f"; rank {', '.join(map(str, ended))} has ended" if ended else ""
        lines.append(told)
    return "\n".join(lines)
