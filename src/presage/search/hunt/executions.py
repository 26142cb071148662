"""A hunt, run: what the kernel is given, and what a report says of how executions ended."""

from __future__ import annotations

from dataclasses import fields

from msgspec.structs import replace

from presage._core import Kernel
from presage._results import HuntOutcome, Outcome
from presage.execution.replay import replay
from presage.limits import DelayPlan, HuntPlan, Limits
from presage.model.world.system import System
from presage.search.hunt.settings import KINDS, Hunt
from presage.search.options import COUNT_MAX
from presage.search.part import WHOLE, Part
from presage.search.progress import Tell
from presage.search.report import Hunted
from presage.search.walks import calm_weights
from presage.trace.show import plural
from presage.trace.trace import Trace


def run(
    kernel: Kernel,
    system: System,
    settings: Hunt,
    limits: Limits,
    progress: Tell = None,
    part: Part = WHOLE,
) -> Outcome:
    """Hunt within `limits`; gives what the kernel reports."""
    kinds = KINDS[settings.executions]
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
        tree="tree" in kinds,
        delay=DelayPlan("rtc") if "delay" in kinds else None,
        random="random" in kinds,
        storm=settings.storm,
        prefixes=settings.prefixes,
        part=(part.share, part.shares),
        prefix=None if settings.prefix is None else begun(system, settings.prefix),
    )
    return kernel.hunt(plan, replace(limits, depth=None), progress)


def summary(hunt: HuntOutcome) -> Hunted:
    names = {each.name for each in fields(Hunted)}
    facts = {name: getattr(hunt, name) for name in names if hasattr(hunt, name)}
    return Hunted(**facts | {"lengths": tuple(sorted(hunt.lengths))})


def note(hunted: Hunted, executions: str) -> str:
    """On what an `eventually` rests that was hunted for, by these kinds of executions."""
    texts = {
        "tree": f"executions of up to {plural(hunted.choices, 'choice')}",
        "delay": f"runs with up to {plural(hunted.delays, 'delay')}",
        "random": "random executions",
    }
    extent = [texts[kind] for kind in KINDS[executions]]
    extent = ["all executions"] if hunted.complete else extent
    walked = hunted.live + hunted.rest + hunted.long
    return (
        f"{plural(walked, 'calm walk')}, from {', '.join(extent)}:"
        f" {hunted.live:,} recovered{_typical(hunted)}, {hunted.rest:,} stopped without recovering,"
        f" {hunted.long:,} were cut off"
    )


def _typical(hunted: Hunted) -> str:
    """How long walks took that recovered."""
    half, most = hunted.within(0.5), hunted.within(1)
    if half is None or most is None:
        return ""
    if most == 0:
        return " where they began"
    if half == 0:
        return f" (half of them where they began, all within {plural(most, 'step')})"
    return f" (half of them within {plural(half, 'step')}, all within {most:,})"


def begun(system: System, prefix: Trace) -> tuple[int, list[int]]:
    """The states of `prefix`, as fingerprints; refuses an execution that `system` does not have."""
    replay(system, prefix)
    return prefix.initial, [step.fingerprint for step in prefix.steps]
