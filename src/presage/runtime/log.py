"""The log of a live node: every step it took, so that the run can be shown and taken again.

An entry has what a step was given (stimulus, choices), what came of it (a digest of the local
state, sends), and what its links knew of the peers. Entries of all nodes are merged in `merge`.
Values are written with the system's codec, as a search has them: moments without their numbers.

Entries are written before the step's changes are made durable, and say how many changes there were.
So after a crash one can tell which of the last steps are as if they never were.
"""

from __future__ import annotations

import os
import struct
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from presage._core import UP, Codec, combine
from presage.errors import LogsDiffer, StoreError
from presage.model.service.automaton import Automaton
from presage.model.service.local_state import Outcome, Stimulus
from presage.model.service.moment import Moment
from presage.model.world.snapshot import Local
from presage.model.world.system import System
from presage.runtime.host import Host
from presage.runtime.step import Record
from presage.runtime.vocabulary import teach

LENGTH: Final = struct.Struct(">I")
# By these bytes one knows values that hold moments.
MOMENT, BETWEEN = (Codec().encode(each)[2:] for each in (Moment(), Moment() - Moment()))
M, B = max(MOMENT), max(BETWEEN)  # rare bytes of them: to look for one is ten times as fast
STEPS = "steps"  # the file of a node's log, in its folder


_length = LENGTH.pack
_encode = msgspec.msgpack.Encoder().encode


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One step of one node."""

    node: str
    life: int  # of the process
    number: int  # of the step in this life
    time: float  # of the node's wall clock
    given: bytes  # the stimulus, encoded; of a message, without it
    body: bytes | None  # the message
    choices: tuple[tuple[int, int], ...]
    digest: int  # of the local state after it
    checkpoint: int  # the number of the node's last checkpoint
    sends: tuple[tuple[str, bytes], ...]  # datagrams
    flows: tuple[tuple[str, bytes | None], ...]  # stream messages; None: closed
    idle: bool  # it changed nothing, and had no effect
    changes: int  # of durable state: how many steps had some, in all lives, this one included
    recovered: int  # how many of them there were when this life began
    stream: tuple[int, int, int] | None = None  # handled: life, position, process of the peer
    begun: tuple[tuple[str, int], ...] = ()  # connections given up: peer, life from then on
    asked: tuple[tuple[str, int, int], ...] = ()  # was there room: peer, life, known as handled
    held: dict[int, int] = {}  # messages queued to peers, as far as that was asked
    logs: tuple[str, ...] = ()
    failure: str | None = None

    def stimulus(self, codec: Codec) -> Stimulus:
        """What the step was given."""
        given: Stimulus = codec.decode(self.given)
        return given if self.body is None else (*given, codec.decode(self.body))


class StepLog:
    """Notes the steps of one life of a host; `sink` gets the entries of a turn, before its sync."""

    def __init__(self, host: Host, sink: Callable[[list[Entry]], None]) -> None:
        self._host = host
        self._sink = sink
        self._entries: list[Entry] = []
        self._digests = Digests(host.node.system, host.node.automaton)
        self._changes = 0
        host.marking = True
        host.node.on_commit.append(self.note)
        host.node.on_flush.append(self.write)

    def note(self, record: Record) -> None:
        """A step was committed."""
        host, digests = self._host, self._digests
        node, marks = host.node, host.marks
        if record.number == 1:
            self._changes = node.recovered
        if record.changes:
            self._changes += 1
        given, body = digests.stimulus(record)
        self._entries.append(
            Entry(
                node.name,
                node.life,
                record.number,
                node.clock.wall(),
                given,
                body,
                record.choices,
                digests.of(record.after),
                host.numbers.number,
                tuple(record.sends) if record.sends else (),
                tuple(record.flows) if record.flows else (),
                not record.flows and digests.idle(record),
                self._changes,
                node.recovered,
                marks.received,
                tuple(marks.begun) if marks.begun else (),
                tuple(marks.asked) if marks.asked else (),
                dict(record.held) if record.held else {},
                tuple(record.logs) if record.logs else (),
                record.failure,
            )
        )
        marks.clear()

    def write(self) -> None:
        """Pass on what was noted."""
        if self._entries:
            entries, self._entries = self._entries, []
            self._sink(entries)


class Digests:
    """What a local state is as a search has it: without ghosts, without numbers of moments.

    How far the workload is does not count: somebody outside may have made the calls.
    """

    def __init__(self, system: System, automaton: Automaton) -> None:
        self._encode = system.codec.encode
        self._digest = system.codec.digest
        self._decode = automaton.codec.decode
        self._positions = [
            at for at in range(len(automaton.fields) + 1) if at not in automaton.ghosts
        ]
        self._sources: dict[int, bytes] = {}
        self._places = tuple(enumerate(self._positions))
        self._known: Local = (b"",) * (len(automaton.fields) + 1)  # what the digests are of
        self._digests = [0] * len(self._positions)
        self._last = 0

    def of(self, local: Local) -> int:
        """64 bits that stand for a local state."""
        known, digests = self._known, self._digests
        if local != known:
            for place, at in self._places:
                if known[at] != local[at]:
                    digests[place] = self._one(at, local[at])
            self._known = local
            self._last = combine(digests)
        return self._last

    def idle(self, record: Record) -> bool:
        """Whether a step did nothing that anybody could see."""
        if record.sends or record.flows or record.records or record.failure:
            return False
        before, after = record.before, record.after
        return before == after or all(before[at] == after[at] for at in self._positions)

    def stimulus(self, record: Record) -> tuple[bytes, bytes | None]:
        """What a step was given, encoded as a search would: see `Entry`."""
        if record.body is None:
            return self._encode(record.stimulus), None
        source = record.stimulus[1]
        given = self._sources.get(source)
        if given is None:
            given = self._sources[source] = self._encode(record.stimulus[:2])
        return given, self._plain(record.body)

    def _plain(self, live: bytes) -> bytes:
        """The same value without numbers of moments, if it has any."""
        if (M in live and MOMENT in live) or (B in live and BETWEEN in live):
            return self._encode(self._decode(live))
        return live

    def _one(self, at: int, live: bytes) -> int:
        if at:
            return self._digest(self._plain(live))
        status, _, timers, failure = self._decode(live)
        return self._digest(self._encode((status, timers, None if status == UP else bool(failure))))


class LogFile:
    """A file that entries are appended to."""

    def __init__(self, path: Path) -> None:
        """Go on after the last whole entry: a crash may have cut off one."""
        self._path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            whole = self._whole(os.fstat(self._file).st_size)
            os.ftruncate(self._file, whole)
            os.lseek(self._file, whole, os.SEEK_SET)
        except OSError as error:
            raise _unusable(path, error) from error

    def _whole(self, size: int) -> int:
        """How many bytes of the file are whole entries."""
        at = 0
        while len(head := os.pread(self._file, LENGTH.size, at)) == LENGTH.size:
            end = at + LENGTH.size + LENGTH.unpack(head)[0]
            if end > size:
                break
            at = end
        return at

    def append(self, entries: Iterable[Entry]) -> None:
        """Write entries, in one piece if the disk allows it."""
        pieces: list[bytes] = []
        for entry in entries:
            content = _encode(entry)
            pieces += (_length(len(content)), content)
        data = b"".join(pieces)
        try:
            written = os.write(self._file, data)
            while written < len(data):
                written += os.write(self._file, data[written:])
        except OSError as error:
            raise _unusable(self._path, error) from error

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)


def read(path: Path) -> Iterator[Entry]:
    """The entries of a log, as far as they are whole. Raises `StoreError`."""
    return (entry for entry, _ in read_on(path, 0))


def read_on(path: Path, start: int) -> Iterator[tuple[Entry, int]]:
    """The whole entries from a place in the file on, each with the place after it."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            content = file.read()
    except OSError as error:
        raise _unusable(path, error) from error
    at = 0
    while at + LENGTH.size <= len(content):
        end = at + LENGTH.size + LENGTH.unpack_from(content, at)[0]
        if end > len(content):
            return
        try:
            yield msgspec.msgpack.decode(content[at + LENGTH.size : end], type=Entry), start + end
        except msgspec.DecodeError as error:
            raise StoreError(
                f"`{path}` is not the log of a node: {error}",
                "a file of something else, or of another version of presage",
                "name the folder of a node that ran with this version",
            ) from error
        at = end


def _unusable(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"the log `{path}` cannot be used: {error.strerror or error}",
        "a full disk, or a folder that may not be read or written",
        "make room or change its permissions",
    )


def text(system: System, entry: Entry) -> str:
    """One line that tells a step to people; the codec of `system` was taught its classes."""
    stimulus = entry.stimulus(system.codec)
    what = stimulus[0]
    if what == "deliver":
        what = f"{stimulus[2]!r} from {system.names[stimulus[1]]}"
    elif len(stimulus) > 1:
        what += " " + ", ".join(map(repr, stimulus[1:]))
    return f"{entry.time:.6f} {entry.node} {entry.life}.{entry.number} {what}"


def retrace(system: System, entries: Iterable[Entry]) -> Local:
    """Take the steps of one node's log again, alone; its state at the end, as a search has it.

    Raises `LogsDiffer` where a step leads elsewhere than it did. The log begins with a first start.
    """
    (last,) = deque(states(system, entries), maxlen=1)  # a log has a start
    return last[1]


def states(system: System, entries: Iterable[Entry]) -> Iterator[tuple[Entry, Local]]:
    """As `retrace`, step by step: each entry, and the state after it."""
    codec, local, life = system.codec, None, 0
    teach(system, codec)
    for entry in entries:
        automaton = system.automata[system.index(entry.node)]
        values = automaton.initial() if local is None else list(map(codec.decode, local))
        if life not in (0, entry.life):
            crash = automaton.branches(lambda held=values: held, ("crash",))  # type: ignore[misc]
            assert crash, "a crash has no guard"
            values = crash[0].values  # of unfinished writes none survives
        chosen = tuple(k for k, _ in entry.choices)
        outcome = automaton.step(values, entry.stimulus(codec), chosen, entry.held)
        if isinstance(outcome, Outcome):
            local = tuple(codec.encode_fields(outcome.values))
        if local is None or Digests(system, automaton).of(local) != entry.digest:
            raise differs(entry)
        life = entry.life
        yield entry, local


def differs(entry: Entry) -> LogsDiffer:
    """A step, taken again, leads elsewhere."""
    return LogsDiffer(
        f"step {entry.life}.{entry.number} of {entry.node} leads to another state than live",
        "the system was edited since it ran, or its code is not deterministic",
        "run it again; `presage doctor` looks for chance",
    )
