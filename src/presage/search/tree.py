"""`check --search tree` for systems: executions one by one, one of each class that differs.

`rust/src/services/machine` says what the explorers leave out, and why. Here: what they do not take,
how they are called, and what a report says of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from presage._core import Kernel, TooManyWays
from presage._results import Outcome, TooManyCuts
from presage.errors import BadSystem
from presage.limits import Limits
from presage.model.world.faults import UNLIMITED
from presage.model.world.system import System
from presage.search.progress import Tell
from presage.search.settings import Settings


def check_tree(system: System) -> None:
    """Refuse a system that cannot be explored execution by execution."""
    faults, network = system.faults, system.network
    lossy = faults.drop or faults.duplicate
    streams = system.streams
    bounded = streams is not None and streams.queue_size is not None
    endless = streams is not None and UNLIMITED in (faults.reset, faults.silent_reset)
    loses = network in ("unordered", "lanes")
    refused = {
        "streams whose queues have a size": bounded,
        "streams and unlimited resets": endless,
        "streams and seals": streams is not None and bool(system.seals),
        "partitions": bool(faults.partitions),
        "clocks": system.clock is not None,
        f"drops or duplicates on a network that is {network}": lossy and not loses,
        "unlimited duplicates": faults.duplicate == UNLIMITED,
    }
    for what, there in refused.items():
        if there:
            raise BadSystem(
                f"the search `tree` of a system with {what}",
                "it is not known which of its events may change places",
                "use `bfs`, with the reduction `sleep` if there are many transitions",
            )


def explored(
    kernel: Kernel,
    settings: Settings,
    limits: Limits,
    progress: Tell,
) -> Outcome:
    with refusals():
        return kernel.explore(settings.reduction, limits, progress, reversals=settings.reversals)


@contextmanager
def refusals() -> Iterator[None]:
    """Refuse a system of which the explorers find out on the way that they cannot take it."""
    try:
        yield
    except TooManyWays as refused:
        raise BadSystem(
            f"one step of this system can end in more than {refused.args[0]:,} ways",
            "it sends many messages at once, and the faults may lose or repeat any of them",
            "use `bfs`, which loses them one by one, or allow fewer drops and duplicates",
        ) from None
    except TooManyCuts as refused:
        raise BadSystem(
            f"a property tells apart more than {refused.args[0]:,} states around one execution",
            "many nodes step independently of each other, and the property reads all of them",
            "leave out `--cluster`: one process learns on the way which steps to keep in order",
        ) from None
