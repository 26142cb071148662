"""All decide alike, and both decisions can be reached."""

from __future__ import annotations

from presage import HOLDS, Verdict, WorldView, always, exists, forall, sometimes
from presage.systems.two_phase_commit.service import ResourceManager


def has_committed(rm: ResourceManager) -> bool:
    return rm.phase == "committed"


def has_aborted(rm: ResourceManager) -> bool:
    return rm.phase == "aborted"


@always
def consistent(world: WorldView) -> Verdict:
    """No resource manager has committed while another has aborted."""
    rms = world.of(ResourceManager)
    if not (exists(rms, has_committed) and exists(rms, has_aborted)):
        return HOLDS
    committed = next(rm.name for rm in rms if has_committed(rm))
    aborted = next(rm.name for rm in rms if has_aborted(rm))
    return Verdict.fails(f"{committed} has committed, {aborted} has aborted")


@sometimes
def commit_agreement(world: WorldView) -> Verdict:
    """All resource managers commit."""
    return forall(world.of(ResourceManager), has_committed)


@sometimes
def abort_agreement(world: WorldView) -> Verdict:
    """All resource managers abort."""
    return forall(world.of(ResourceManager), has_aborted)
