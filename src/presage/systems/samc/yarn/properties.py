"""What must hold, seen by an onlooker that hears of everything in the order it happens."""

from __future__ import annotations

from typing import Any, NamedTuple

from presage import HOLDS, Verdict, WorldView, always, eventually
from presage.systems.samc.yarn.service import APP


class Seen(NamedTuple):
    """What an onlooker knows of the job."""

    ended: bool = False  # AM or client know of its success
    again: bool = False  # and then it was launched
    shunned: str = ""  # a node that the AM does not want any more
    under_way: int = 0  # requests that the RM has yet to hear
    ahead: int | None = None  # how many of them up to the first since; None: none since
    grants: int = 0  # of containers on that node, since then; more than 2 count as 2


class Onlooker:
    """Sees in which order things happen. The RM hears the requests of the AM in their order."""

    def initial(self) -> Seen:
        return Seen()

    def observe(self, seen: Seen, node: str, record: Any) -> Seen:
        kind, what = record
        if kind == "end":
            return seen._replace(ended=True)
        if kind == "launch":
            return seen._replace(again=seen.ended)
        if kind == "begin":
            return Seen(ended=seen.ended, again=seen.again)
        if kind == "shun":
            return seen._replace(shunned=seen.shunned or what)
        if kind == "ask":
            count = seen.under_way + 1
            first = bool(seen.shunned) and seen.ahead is None
            return seen._replace(under_way=count, ahead=count if first else seen.ahead)
        if kind == "heard":
            ahead = seen.ahead and seen.ahead - 1
            return seen._replace(under_way=seen.under_way - 1, ahead=ahead)
        if kind == "grant" and seen.ahead == 0 and what == seen.shunned:
            return seen._replace(grants=min(seen.grants + 1, 2))
        return seen


@always
def ended_jobs_stay_ended(world: WorldView) -> Verdict:
    """A job of whose success AM or client know is not launched again."""
    again = world.observer("onlooker").again
    return Verdict.fails("a job that had ended was launched again") if again else HOLDS


@always
def few_grants_are_refused(world: WorldView) -> Verdict:
    """At most one container is granted on a node that the AM does not want any more.

    Counted is from the first request that the RM has heard since.
    """
    seen = world.observer("onlooker")
    return HOLDS if seen.grants < 2 else Verdict.fails(f"{seen.shunned} is granted again and again")


@eventually
def jobs_end(world: WorldView) -> bool:
    """While the RM is up, a job in its store ends."""
    rm, am = world["rm"], world["am"]
    return bool(not rm.up or not rm.store.stored.get(APP) or am.job == "succeeded")
