"""`delay`: look first where few departures from a natural order lead.

After Emmi, Qadeer, Rakamaric, "Delay-bounded scheduling", POPL 2011, and Desai, Qadeer, Rajamani,
"Iterative cycle detection via delaying explorers", 2015. A scheduler orders what can happen; to do
something else instead costs delays. All that costs n is explored before what costs n + 1.
"""

from __future__ import annotations

from presage.errors import BadSystem, did_you_mean
from presage.records import record
from presage.search import options as opt
from presage.search.delay.scheduler import NATIVE, Scheduler

PRICE_MAX = 1_000


@record(frozen=True)
class Delay:
    """The settings of `search="delay"`. `docs/reference/delay.md` says what they cost and find."""

    scheduler: str | Scheduler = opt.text("rtc", "of delay: rr, random, mod:Class", metavar="NAME")
    delays: int | None = opt.count(None, "stop when what costs so many is explored", least=0)
    cost: str = opt.words(
        "log",
        ("log", "position", "deviation"),
        "of the i-th task: the digits of i in binary, i, or 1",
        rare=True,
    )
    choice_delays: int = opt.count(
        1, "cost of an unlikely answer of a choice", least=0, most=PRICE_MAX, rare=True
    )
    fault_delays: int = opt.count(1, "cost of a fault", least=0, most=PRICE_MAX, rare=True)
    commuting_delays: int = opt.count(
        0, "cost besides, if it commutes with the first task", least=0, most=PRICE_MAX, rare=True
    )

    def __post_init__(self) -> None:
        opt.refuse_values(self)
        for name in (self.scheduler, getattr(self.scheduler, "base", "rtc")):
            if not isinstance(name, Scheduler) and name not in NATIVE:
                raise BadSystem(
                    f"there is no scheduler `{name}`{did_you_mean(str(name), NATIVE)}",
                    "a misspelt name, or a class instead of an object of it",
                    f"use one of {', '.join(NATIVE)}, or an object of your `Scheduler`",
                )

    @property
    def name(self) -> str:
        """What the scheduler is called."""
        scheduler = self.scheduler
        return scheduler if isinstance(scheduler, str) else type(scheduler).__name__
