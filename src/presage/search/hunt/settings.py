"""`hunt`: how to look for executions that never come right, in systems too large to exhaust.

After Killian et al., "Life, Death, and the Critical Transition", NSDI 2007. All executions up to a
number of choices, and random ones with faults, are continued by a calm walk; one on which an
`eventually` does not come true any more is a suspect, whose critical transition is then located.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar

from msgspec.structs import replace

from presage._core import Kernel
from presage._results import HuntOutcome, Outcome, Progress
from presage.errors import BadSystem
from presage.execution.replay import replay
from presage.limits import HuntPlan, Limits
from presage.model.system import System
from presage.search.report import Hunted, Report
from presage.search.walks import calm_weights
from presage.trace.trace import Trace

EXECUTIONS = ("both", "tree", "random")
ORDERS = ("seed", "likely")
COUNTS = ("choices", "steps")
COUNT_MAX = 2**32 - 1


@dataclass(frozen=True)
class Hunt:
    """The settings of `search="hunt"`. `docs/reference/hunt.md` maps them to MaceMC's."""

    MAY_BE_NONE: ClassVar[tuple[str, ...]] = ("prefixes", "region", "samples", "tail")

    walk_length: int = 20_000  # steps of a calm walk, at most, that stand for all eternity
    depth_step: int = 5  # by how many choices the tree grows each round
    count: str = "choices"  # what the tree is bounded by: choices or steps
    executions: str = "both"  # tree, random, or both in turns
    order: str = "seed"  # in which the tree tries events: by the seed, or likely ones first
    storm: int = 256  # steps with faults, at most, between two calm walks
    prefixes: int = 2  # live executions to collect, from whose ends to start as well
    recovery_walks: int = 60  # walks from each place where recovery is tried
    region: int = 20_000  # states searched to make sure that nothing recovers
    samples: int = 20  # places where the share of walks that recover is measured
    tail: int = 200  # steps of the trace kept after the critical transition
    prefix: Trace | None = None  # an execution to go on from, instead of an initial state

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            least = 0 if each.name in self.MAY_BE_NONE else 1
            if each.type == "int" and not (
                isinstance(value, int)
                and not isinstance(value, bool)
                and least <= value <= COUNT_MAX
            ):
                raise BadSystem(
                    f"`Hunt({each.name}={value!r})` is not a count",
                    "a text, a fraction, or a number that leaves nothing to do",
                    f"give `{each.name}` from {least} to {COUNT_MAX:,}",
                )
        for name, known in (("executions", EXECUTIONS), ("order", ORDERS), ("count", COUNTS)):
            value = getattr(self, name)
            if value not in known:
                raise BadSystem(
                    f"`Hunt({name}={value!r})` is not known",
                    "a misspelt name",
                    f"use one of {', '.join(f'`{each}`' for each in known)}",
                )


def checked(search: str, settings: Hunt | None, *, calm: bool) -> Hunt:
    """The settings to hunt with; refuses them for another search, and what no hunt needs."""
    if search != "hunt" and settings is not None:
        raise BadSystem(
            f"the settings of a hunt are given, and the search is `{search}`",
            "a setting left in after the search was changed",
            '`search="hunt"`, or leave them out',
        )
    if search == "hunt" and calm:
        raise BadSystem(
            "a calm `hunt`",
            "a hunt looks for what faults lead to, and walks on calmly from there by itself",
            'leave out `calm`; calm walks alone are `search="walk"`',
        )
    return settings or Hunt()


def run(
    kernel: Kernel,
    system: System,
    settings: Hunt,
    limits: Limits,
    progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Hunt within `limits`; gives what the kernel reports."""
    plan = HuntPlan(
        eventually=[
            at for at, prop in enumerate(system.properties, 1) if prop.kind == "eventually"
        ],
        calm=calm_weights(system),
        walk_length=settings.walk_length,
        depth_step=settings.depth_step,
        depth=limits.depth or COUNT_MAX,
        by_steps=settings.count == "steps",
        likely_first=settings.order == "likely",
        tree=settings.executions != "random",
        random=settings.executions != "tree",
        storm=settings.storm,
        prefixes=settings.prefixes,
        prefix=None if settings.prefix is None else begun(system, settings.prefix),
    )
    return kernel.hunt(plan, replace(limits, depth=None), progress)


def tell(report: Report, hunt: HuntOutcome | None) -> None:
    """Let a report say how executions ended, and on what `eventually` rests."""
    if hunt is None:
        return
    hunted = Hunted(
        live=hunt.live,
        rest=hunt.rest,
        long=hunt.long,
        duplicate=hunt.duplicate,
        choices=hunt.choices,
        complete=hunt.complete,
        lengths=tuple(sorted(hunt.lengths)),
    )
    report.hunted = hunted
    bound = f"executions of up to {hunted.choices} choices"
    extent = "all executions" if hunted.complete else bound
    walked = hunted.live + hunted.rest + hunted.long
    report.notes.append(
        f"{_plural(walked, 'calm walk')}, from {extent} and from random ones:"
        f" {hunted.live:,} came right{_typical(hunted)}, {hunted.rest:,} came to rest before,"
        f" {hunted.long:,} did neither"
    )


def _typical(hunted: Hunted) -> str:
    """How long walks took that came right."""
    half, most = hunted.within(0.5), hunted.within(1)
    if half is None or most is None:
        return ""
    if most == 0:
        return " where they began"
    if half == 0:
        return f" (half of them where they began, all within {_plural(most, 'step')})"
    return f" (half of them within {_plural(half, 'step')}, all within {most:,})"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def begun(system: System, prefix: Trace) -> tuple[int, list[int]]:
    """The states of `prefix`, as fingerprints; refuses an execution that `system` does not have."""
    replay(system, prefix)
    return prefix.initial, [step.fingerprint for step in prefix.steps]
