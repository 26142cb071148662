"""What came out of a simulation: when each process did what, and how much was used of what."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from presage.errors import BadCall, UnknownNode
from presage.records import record

COMPUTE, SEND, RECEIVE, WAIT, SLEEP = KINDS = ("compute", "send", "recv", "wait", "sleep")
FINISHED: Final = "finished"
DEADLOCK: Final = "deadlock"
FAILED: Final = "failed"
STOPPED: Final = "stopped"
MICROSECONDS = 1e6  # what a Chrome trace counts in

Outcome = Literal["finished", "deadlock", "failed", "stopped"]


@record(frozen=True)
class Interval:
    """What a process did from `start` to `end`; `what` says with whom or for whom."""

    kind: str
    start: float
    end: float
    what: str = ""


@record(frozen=True)
class Timeline:
    """One process. `ended` is None if it had not when the simulation was over."""

    process: str
    host: str
    started: float
    ended: float | None
    daemon: bool
    intervals: tuple[Interval, ...]

    def total(self, kind: str) -> float:
        """For how long it did that in all."""
        return sum(each.end - each.start for each in self.intervals if each.kind == kind)


@record(frozen=True)
class Transfer:
    """A message from its match to its arrival."""

    mailbox: str
    source: str
    to: str
    size: float
    start: float
    end: float | None  # None: still under way when the simulation was over


@record(frozen=True)
class Usage:
    """Of a link, bytes; of a host, operations. `share`: of what it could have done meanwhile."""

    name: str
    amount: float
    busy: float  # seconds
    share: float


@record(frozen=True)
class Line:
    """What a process said."""

    time: float
    process: str
    text: str


@record(frozen=True)
class Simulation:
    """One run of a program in virtual time."""

    program: str
    platform: str
    outcome: Outcome
    problem: str  # why it did not finish
    makespan: float
    seed: int
    draws: int  # choices that were drawn by the seed
    early_tests: int  # that failed although a message was under way
    processes: tuple[Timeline, ...]
    transfers: tuple[Transfer, ...]
    links: tuple[Usage, ...]
    hosts: tuple[Usage, ...]
    log: tuple[Line, ...]
    steps: tuple[tuple[str, int], ...]  # whose operation was answered, and how: in order

    @property
    def exit_status(self) -> int:
        """Of the command line: 0 finished or stopped, 1 deadlock or failed."""
        return int(self.outcome in (DEADLOCK, FAILED))

    def __getitem__(self, process: str) -> Timeline:
        for each in self.processes:
            if each.process == process:
                return each
        raise UnknownNode(process, tuple(each.process for each in self.processes), "a simulation")

    def to_json(self) -> dict[str, Any]:
        """Plain values, in the order of the fields."""
        return {"exit_status": self.exit_status} | asdict(self)

    def to_chrome(self) -> dict[str, Any]:
        """A trace for chrome://tracing or ui.perfetto.dev: a row per process, an arrow per message.

        Hosts are its processes, and processes its threads.
        """
        hosts = {usage.name: at for at, usage in enumerate(self.hosts, 1)}
        threads = {each.process: at for at, each in enumerate(self.processes, 1)}
        places = {
            each.process: {"pid": hosts[each.host], "tid": threads[each.process]}
            for each in self.processes
        }
        events: list[dict[str, Any]] = [
            {"ph": "M", "name": "process_name", "pid": at, "args": {"name": name}}
            for name, at in hosts.items()
        ]
        for line in self.processes:
            place = places[line.process]
            named = {"ph": "M", "name": "thread_name", "args": {"name": line.process}}
            events.append(named | place)
            events += [_box(each) | place for each in line.intervals]
        for said in self.log:
            event = {"ph": "i", "name": said.text, "cat": "log", "s": "t", "ts": _at(said.time)}
            events.append(event | places[said.process])
        for number, each in enumerate(self.transfers):
            events += _arrow(number, each, places)
        return {"displayTimeUnit": "ms", "traceEvents": events}

    def save_chrome(self, path: str | Path) -> None:
        try:
            Path(path).write_bytes(msgspec.json.encode(self.to_chrome()))
        except OSError as error:
            raise BadCall(
                f"`{path}` cannot be written: {error.strerror}",
                "a folder that is not there, or not yours",
                "name a file in a folder that is",
            ) from error


def _at(time: float) -> float:
    return time * MICROSECONDS


def _box(each: Interval) -> dict[str, Any]:
    return {
        "ph": "X",
        "name": f"{each.kind} {each.what}".rstrip(),
        "cat": each.kind,
        "ts": _at(each.start),
        "dur": _at(each.end) - _at(each.start),
    }


def _arrow(number: int, each: Transfer, places: dict[str, dict[str, int]]) -> list[dict[str, Any]]:
    if each.end is None:
        return []
    shared = {"name": each.mailbox, "cat": "message", "id": number}
    size = {"bytes": each.size}
    start = {"ph": "s", "ts": _at(each.start), "args": size} | shared | places[each.source]
    end = {"ph": "f", "bp": "e", "ts": _at(each.end)} | shared | places[each.to]
    return [start, end]
