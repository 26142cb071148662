"""All decide alike, and both decisions can be reached."""

from __future__ import annotations

from presage import HOLDS, Verdict, WorldView, always, sometimes
from presage.systems.two_phase_commit.service import ResourceManager


@always
def consistent(world: WorldView) -> Verdict:
    """No resource manager has committed while another has aborted."""
    ends: dict[str, str] = {}
    for rm in world.of(ResourceManager):
        phase = rm.phase
        if phase in ("committed", "aborted"):
            ends.setdefault(phase, rm.name)
    if len(ends) < 2:
        return HOLDS
    return Verdict.fails(f"{ends['committed']} has committed, {ends['aborted']} has aborted")


@sometimes
def commit_agreement(world: WorldView) -> bool:
    """All resource managers commit."""
    return all(rm.phase == "committed" for rm in world.of(ResourceManager))


@sometimes
def abort_agreement(world: WorldView) -> bool:
    """All resource managers abort."""
    return all(rm.phase == "aborted" for rm in world.of(ResourceManager))
