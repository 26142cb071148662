"""`presage.simulate`: one run of a program on a platform, in virtual time.

What it needs is imported when it is called: whoever only checks does not pay for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from presage.errors import BadCall
from presage.process.fence import Fence
from presage.process.program import Program

if TYPE_CHECKING:
    from presage.simulate.engine import Engine
    from presage.simulate.fluid import Meter
    from presage.simulate.platform import Platform
    from presage.simulate.result import Simulation, Usage


def simulate(
    program: Program,
    platform: Platform | Mapping[str, Any] | str | Path,
    *,
    seed: int = 0,
    until: float | None = None,
) -> Simulation:
    """Run `program` once on `platform`: a file, its tables, or what `Platform` makes of them.

    `seed` is of choices that processes leave open; `until` is a time, in seconds, to stop at.
    """
    from presage.simulate.engine import Engine
    from presage.simulate.platform import Platform
    from presage.simulate.read import build, read

    if not isinstance(program, Program):
        raise BadCall(
            f"a `{type(program).__name__}` cannot be simulated",
            "a system of services, which have no durations",
            "give a `Program` of processes",
        )
    if isinstance(platform, str | Path):
        platform = read(platform)
    elif not isinstance(platform, Platform):
        platform = build(platform)
    with Fence():
        engine = Engine(program, platform, seed)
        try:
            engine.run(until)
        finally:
            engine.close()
    return _result(engine, program, platform, seed)


def _result(engine: Engine, program: Program, platform: Platform, seed: int) -> Simulation:
    from presage.simulate.result import FINISHED, Simulation

    links: dict[str, float] = {name: link.bandwidth for name, link in platform.links.items()}
    hosts = {name: host.speed * host.cores for name, host in platform.hosts.items()}
    return Simulation(
        program=program.name,
        platform=platform.name,
        outcome=engine.outcome or FINISHED,
        problem=engine.problem,
        makespan=engine.now,
        seed=seed,
        draws=engine.draws,
        early_tests=engine.early_tests,
        processes=tuple(actor.timeline() for actor in engine.actors.values()),
        transfers=tuple(flight.record() for flight in engine.transfers.all),
        links=_usage(engine.clock.fluid.links, links, engine.now),
        hosts=_usage(engine.clock.fluid.hosts, hosts, engine.now),
        log=tuple(engine.log),
        steps=tuple(engine.steps),
    )


def _usage(meters: dict[str, Meter], most: dict[str, float], seconds: float) -> tuple[Usage, ...]:
    """What was used; a link that gives each flow its whole bandwidth can carry more than 1."""
    from presage.simulate.result import Usage

    return tuple(
        Usage(
            name, meter.amount, meter.busy, meter.amount / (most[name] * seconds) if seconds else 0
        )
        for name, meter in meters.items()
    )
