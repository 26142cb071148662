"""Work that proceeds at rates: bytes over links, operations on hosts.

Rates only change when something begins or ends, so the next end is known. Work whose rate stays the
same is left alone: its end, once computed, does not move by rounding, and what is alike in every
respect ends at the very same moment.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from presage.records import record
from presage.simulate.platform import FATPIPE, Platform
from presage.simulate.sharing import core_rate, fair_rates

SAME = 1e-12  # times closer than this, relatively, are one moment


@record(eq=False)
class Work:
    """A flow over `links`, or a computation on `host`; `then` is called at its end."""

    left: float  # bytes, or operations
    then: Callable[[], None]
    links: tuple[str, ...] = ()
    host: str | None = None
    rate: float = -1.0  # unknown yet
    since: float = 0.0  # when `left` was true
    ends: float = math.inf


@record
class Meter:
    """What a link has carried, or a host has computed, and for how long it was in use."""

    amount: float = 0.0
    busy: float = 0.0
    users: int = 0
    since: float = 0.0  # when it came into use

    def begin(self, now: float) -> None:
        if self.users == 0:
            self.since = now
        self.users += 1

    def end(self, now: float) -> None:
        self.users -= 1
        if self.users == 0:
            self.busy += now - self.since


class Fluid:
    """All work under way on a platform."""

    def __init__(self, platform: Platform) -> None:
        self._hosts = platform.hosts
        links = platform.links.values()
        self._shared = {each.name: each.bandwidth for each in links if each.sharing != FATPIPE}
        self._own = {each.name: each.bandwidth for each in links if each.sharing == FATPIPE}
        self._flows: list[Work] = []
        self._computing: dict[str, list[Work]] = {name: [] for name in platform.hosts}
        self._stale: set[str | None] = set()  # hosts, and None for links, whose rates may change
        self.links = {name: Meter() for name in platform.links}
        self.hosts = {name: Meter() for name in platform.hosts}

    def begin(self, work: Work, now: float) -> None:
        work.since = now
        self._siblings(work).append(work)
        self._stale.add(work.host)
        for meter in self._meters(work):
            meter.begin(now)

    def drop(self, work: Work, now: float) -> None:
        """Give some work up, unless it has just ended."""
        if work not in self._siblings(work):
            return
        self._siblings(work).remove(work)
        self._stale.add(work.host)
        self._settle(work, now)
        for meter in self._meters(work):
            meter.end(now)

    def next_end(self, now: float) -> float:
        """When the next work ends, if nothing else begins."""
        self._share(now)
        return min((work.ends for work in self._all()), default=math.inf)

    def ended(self, now: float) -> list[Work]:
        """Take out the work that ends now, in the order in which it began."""
        slack = now + abs(now) * SAME
        done = [work for work in self._all() if work.ends <= slack]
        for work in done:
            work.ends = now
            self._siblings(work).remove(work)
            self._stale.add(work.host)
            for meter in self._meters(work):
                meter.amount += work.left
                meter.end(now)
        return done

    def close(self, now: float) -> None:
        """Give up whatever is under way; meters have then counted all."""
        for work in self._all():
            self.drop(work, now)

    def _all(self) -> list[Work]:
        return [*self._flows, *(work for each in self._computing.values() for work in each)]

    def _siblings(self, work: Work) -> list[Work]:
        return self._flows if work.host is None else self._computing[work.host]

    def _meters(self, work: Work) -> list[Meter]:
        if work.host is not None:
            return [self.hosts[work.host]]
        return [self.links[name] for name in work.links]

    def _share(self, now: float) -> None:
        """Work the rates out anew where something began or ended."""
        if None in self._stale:
            rates = fair_rates([work.links for work in self._flows], self._shared, self._own)
            for work, rate in zip(self._flows, rates, strict=True):
                self._set_rate(work, rate, now)
        for name, works in self._computing.items():
            if name in self._stale:
                host = self._hosts[name]
                for work in works:
                    self._set_rate(work, core_rate(host.speed, host.cores, len(works)), now)
        self._stale.clear()

    def _set_rate(self, work: Work, rate: float, now: float) -> None:
        if work.rate == rate:
            return
        self._settle(work, now)
        work.rate = rate
        work.ends = now + (work.left / rate if work.left else 0.0)

    def _settle(self, work: Work, now: float) -> None:
        """Count what was done at the rate so far."""
        done = min(work.left, work.rate * (now - work.since)) if work.rate > 0 else 0.0
        work.left -= done
        work.since = now
        for meter in self._meters(work):
            meter.amount += done
