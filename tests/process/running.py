"""Runs small programs in every order, and tells what came of them."""

from process.explore import explore

from presage import Process, Program


def returned(**processes):
    """What the processes return, one tuple for each outcome there is; nothing may go wrong."""
    found = explore(program(processes))
    assert found.ok, found
    return found.results


def failures(**processes):
    """The kinds and texts of what goes wrong in some order."""
    found = explore(program(processes))
    return {(kind, brief) for _, kind, brief in found.failures}


def program(processes):
    return Program({name: _process(given) for name, given in processes.items()})


def _process(given):
    return Process(*given) if isinstance(given, tuple) else given


def first_failure(**processes):
    """The whole text of the first failure of a run that always takes the first step."""
    from presage.process.fence import Fence
    from presage.process.world import ProcessWorld

    with Fence():
        world = ProcessWorld(program(processes))
        while steps := world.enabled():
            world.take(steps[0])
            for member in world.members.values():
                if member.failed:
                    return member.failed.text
    failed = [member.failed.text for member in world.members.values() if member.failed]
    return failed[0] if failed else None
