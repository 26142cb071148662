"""What a program runs on: hosts that compute, links that carry, routes of links between hosts.

Invariant: every name that a route, an uplink or the placement uses is declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from presage.errors import BadSystem
from presage.records import record
from presage.simulate.units import Bandwidth, Latency, Speed

FATPIPE: Final = "fatpipe"  # each flow has the whole bandwidth


class BadPlatform(BadSystem):
    """Cause: a platform is not put together correctly, or lacks what a program needs.

    Remedy: correct the table and the field that the text names.
    """


class Host(Struct, frozen=True):
    """Where processes run. `uplink`: the link between it and the rest, for the default route."""

    name: str
    speed: Speed  # of one core
    cores: Annotated[int, Meta(ge=1)] = 1
    uplink: str | None = None


class Link(Struct, frozen=True):
    """What carries messages, both ways together."""

    name: str
    bandwidth: Bandwidth
    latency: Latency = Latency(0)
    sharing: Literal["shared", "fatpipe"] = "shared"  # shared: flows divide the bandwidth


@record(frozen=True)
class Platform:
    """Hosts, links and routes, and which process runs where."""

    name: str
    hosts: Mapping[str, Host]
    links: Mapping[str, Link] = field(default_factory=dict)
    routes: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    default_route: tuple[str, ...] | None = None  # between the uplinks of any two hosts
    placement: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by pattern

    def route(self, source: str, to: str) -> tuple[str, ...]:
        """The links from one host to another; none within a host, unless it is declared."""
        declared = self.routes.get((source, to))
        if declared is not None:
            return declared
        if source == to:
            return ()
        if self.default_route is None:
            raise BadPlatform(
                f"{self.name}: there is no route from host `{source}` to host `{to}`",
                "a pair of hosts that was forgotten, or a route in one direction only",
                "add it to `[[routes]]`, or a `[default_route]` for all other pairs",
            )
        ends = (self.hosts[source].uplink, *self.default_route, self.hosts[to].uplink)
        return tuple(dict.fromkeys(link for link in ends if link is not None))

    def latency(self, route: tuple[str, ...]) -> float:
        return sum(self.links[name].latency for name in route)


class Placement:
    """Where each process of one run is put, in the order in which they are asked for.

    What the platform says of a name or pattern comes first, then what the program says; the rest
    go round all hosts in turn.
    """

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._turns: dict[str, int] = {}

    def host_of(self, process: str, asked: str | None, creator: str | None = None) -> str:
        """The host of a process; `creator` is the host of the process that creates it."""
        pattern = self._pattern(process)
        if pattern is not None:
            return self._next(pattern, self._platform.placement[pattern])
        if asked is not None:
            return self._known(process, asked)
        if creator is not None:
            return creator
        return self._next("", tuple(self._platform.hosts))

    def _pattern(self, process: str) -> str | None:
        if process in self._platform.placement:
            return process
        patterns = self._platform.placement
        return next((pattern for pattern in patterns if fnmatchcase(process, pattern)), None)

    def _next(self, turn: str, hosts: tuple[str, ...]) -> str:
        at = self._turns.get(turn, 0)
        self._turns[turn] = at + 1
        return hosts[at % len(hosts)]

    def _known(self, process: str, host: str) -> str:
        if host not in self._platform.hosts:
            raise BadPlatform(
                f"{self._platform.name}: process `{process}` asks for host `{host}`, which is"
                f" not there; the hosts are {', '.join(self._platform.hosts)}",
                "a platform for another program, or a misspelt `host=`",
                f"declare `[hosts.{host}]`, or say in `[placement]` where `{process}` runs",
            )
        return host
