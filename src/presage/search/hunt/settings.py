"""`hunt`: how to look for executions that never come right, in systems too large to exhaust.

After Killian et al., "Life, Death, and the Critical Transition", NSDI 2007. All executions up to a
number of choices, runs with few delays, and random ones with faults are continued by a calm walk;
one on which an `eventually` does not come true any more is a suspect, whose critical transition is
then located.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from presage.records import record
from presage.search import options as opt

if TYPE_CHECKING:
    from presage.trace.trace import Trace


# What `executions` names: the kinds that take turns.
KINDS = {
    "all": ("tree", "delay", "random"),
    "both": ("tree", "random"),
    **{kind: (kind,) for kind in ("tree", "delay", "random")},
}


@record(frozen=True)
class Hunt:
    """The settings of `search="hunt"`. `docs/reference/hunt.md` maps them to MaceMC's."""

    walk_length: int = opt.count(20_000, "steps of a calm walk that stand for ever")
    depth_step: int = opt.count(5, "by how many choices the tree grows each round")
    count: str = opt.words("choices", ("choices", "steps"), "what the tree is bounded by")
    executions: str = opt.words(
        "all", tuple(KINDS), "up to a depth, by few delays, at random, or all"
    )
    order: str = opt.words("seed", ("seed", "likely"), "of events in the tree")
    storm: int = opt.count(256, "steps with faults, at most, between calm walks")
    prefixes: int = opt.count(2, "live executions to start from as well", least=0)
    recovery_walks: int = opt.count(60, "walks from each place to find the critical transition")
    region: int = opt.count(20_000, "states searched to make sure that nothing recovers", least=0)
    samples: int = opt.count(20, "places where the share that recovers is measured", least=0)
    tail: int = opt.count(200, "steps kept after the critical transition", least=0)
    prefix: Trace | None = opt.text(None, "go on from the end of a saved trace", metavar="TRACE")

    def __post_init__(self) -> None:
        for name, declared, _ in opt.options(self):
            value = getattr(self, name)
            if not declared.accepts(value):
                wrong = "known" if declared.words else "a count"
                raise declared.refused(name, f"`Hunt({name}={value!r})` is not {wrong}")
