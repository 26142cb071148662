"""See every world that a search meets, through a property that never fails."""

from collections.abc import Callable
from typing import Any

from presage import Report, Service, System, WorldView, always, check


def explored(
    nodes: dict[str, Service], look: Callable[[WorldView], Any], **arguments: Any
) -> tuple[set[Any], Report]:
    """What `look` says of each reachable world, and the report of the search."""
    seen: set[Any] = set()

    def spy(world: WorldView) -> bool:
        seen.add(look(world))
        return True

    properties = [always(spy), *arguments.pop("properties", ())]
    system = System(nodes, properties=properties, **arguments)
    check(system, keep_going=True, traces=None)  # the next one finds `seen` as it leaves it
    return seen, check(system, keep_going=True, traces=None)


def counts(report: Report) -> tuple[int, int, int]:
    return report.unique, report.generated, report.depth
