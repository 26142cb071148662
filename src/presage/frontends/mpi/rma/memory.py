"""The memory that a rank shows in a window, and the locks on it: what is kept in mailboxes.

The memory of a rank is a few blocks, and for each there is one message that holds its content;
whoever accesses it takes the message, and puts it back changed. Accesses to different blocks do not
meet, so that a search need not try them in both orders; a plain run tries nothing, and has one. A
lock is made of permits, one for each rank: a shared lock takes one's own, an exclusive one takes
them all, in order. So shared locks do not meet each other either.

Together with the content travel the accesses made under shared locks, to see which of them meet. An
access is complete when its rank says so, in a mailbox where it leaves a message for each *phase*:
what it does up to the next flush or unlock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, TypeVar

from presage.frontends.mpi.core.comm_state import CommState
from presage.frontends.mpi.core.mistakes import MPIException
from presage.frontends.mpi.core.rank import current_rank
from presage.frontends.mpi.rma.access import (
    STORE,
    Access,
    Runs,
    changed_runs,
    clash,
    overlap,
    perform,
    read,
    write,
)
from presage.process.context import asked, blocking, exchange
from presage.process.ops import Probe, Recv, Response, Send
from presage.records import record

T = TypeVar("T")
Logged = tuple[int, tuple[Any, ...]]  # phase, access
# Of all blocks in use: the content, the rest of the memory being left out, and accesses that may
# not be complete.
State = tuple[bytearray, tuple[Logged, ...]]

BLOCKS_MAX = 8
LEAST = 4  # bytes of a block; where displacements are in bytes, twice as many
CLASH = "global-concurrency"


@record(eq=False)
class Memory:
    """All memories of a window, as one of its ranks can get at them."""

    core: CommState
    view: memoryview  # its own, where the script loads and stores
    sizes: tuple[int, ...]  # of each rank's
    units: tuple[int, ...]  # bytes of a displacement there
    known: bytes = b""  # what its own was when last exchanged
    stored: list[Access] = field(default_factory=list)  # by the script, since the last fence
    phases: dict[int, int] = field(default_factory=dict)  # by target
    logged: set[int] = field(default_factory=set)  # targets with accesses of this phase

    def box(self, target: int, block: int = 0) -> str:
        return f"{self.core.name}@{target}:{block}"

    def blocks(self, target: int) -> range:
        size, unit = self.sizes[target], self.units[target]
        least = unit if unit >= LEAST else 2 * LEAST
        most = 1 if current_rank().launcher.is_plain else BLOCKS_MAX
        step = max(least, -(-size // most))
        return range(0, size, -(-step // least) * least)

    def touched(self, target: int, runs: Runs) -> list[int]:
        """The blocks that have some of these bytes."""
        blocks = self.blocks(target)
        return [at for at in blocks if overlap(runs, ((at, blocks.step),))]

    def permit(self, target: int, origin: int) -> str:
        return f"{self.core.name}@{target}!{origin}"

    def closed(self, target: int, origin: int) -> str:
        return f"{self.core.name}@{target}~{origin}"

    # Locks.

    def lay_out(self) -> None:
        """At the beginning: the content of its own memory, and the permits for it."""
        me = self.core.rank
        self.known = bytes(self.view)
        blocks = self.blocks(me)
        for at in blocks:
            leave(self.box(me, at), (self.known[at : at + blocks.step], ()))
        for origin in range(self.core.size):
            leave(self.permit(me, origin), "lock")

    def clear_away(self) -> None:
        """At the end, when nobody will look there any more."""
        me = self.core.rank
        for at in self.blocks(me):
            take(self.box(me, at))
        for origin in range(self.core.size):
            take(self.permit(me, origin))
        for target, phase in self.phases.items():
            for _ in range(phase):
                take(self.closed(target, me))

    def lock(self, target: int, exclusive: bool) -> None:
        for origin in range(self.core.size) if exclusive else (self.core.rank,):
            take(self.permit(target, origin))

    def unlock(self, target: int, exclusive: bool) -> None:
        for origin in range(self.core.size) if exclusive else (self.core.rank,):
            leave(self.permit(target, origin), "lock")

    # Accesses.

    def alone(self, target: int, accesses: Sequence[Access], calls: Sequence[str]) -> list[bytes]:
        """Accesses under an exclusive lock, all at once: nobody else can see the difference."""

        def change(state: State) -> tuple[State, list[bytes]]:
            memory = state[0]
            got = [perform(memory, each, call) for each, call in zip(accesses, calls, strict=True)]
            return (memory, ()), got

        runs = tuple(run for each in accesses for run in each.runs)
        if any(each.writes for each in accesses):
            return self._change(target, runs, change)
        memory = bytearray(self.sizes[target])
        for at in self.touched(target, runs):
            data = look(self.box(target, at), waits=True).payload[0]
            memory[at : at + len(data)] = data
        return change((memory, ()))[1]

    def among_others(self, target: int, access: Access, call: str) -> bytes:
        """One access that those of others may meet."""
        phase = self.phases.get(target, 0)
        self.logged.add(target)

        def change(state: State) -> tuple[State, tuple[bytes, Access | None]]:
            memory, log = state
            log = tuple(each for each in log if each[1][1] != access.origin or each[0] == phase)
            log, other = self._met(target, access, log)
            got = perform(memory, access, call)
            return (memory, (*log, (phase, tuple(access.brief)))), (got, other)

        got, other = self._change(target, access.runs, change)
        if other is not None:
            raise self.clashed(target, other, access)
        return got

    def _met(
        self, target: int, access: Access, log: tuple[Logged, ...]
    ) -> tuple[tuple[Logged, ...], Access | None]:
        """The accesses that are still to be remembered, and one of another rank that this meets."""
        kept = []
        for phase, entry in log:
            other = Access(*entry)
            if other.origin != access.origin and clash(other, access):
                if not look(self.closed(target, other.origin), (phase, 0)).choice:
                    return log, other
            else:
                kept.append((phase, entry))
        return tuple(kept), None

    def complete(self, target: int) -> None:
        """What this rank did at `target` is done: whoever comes now comes later."""
        if target in self.logged:
            self.logged.remove(target)
            phase = self.phases.get(target, 0)
            self.phases[target] = phase + 1
            leave(self.closed(target, self.core.rank), "done", (phase, 0))

    def clashed(self, target: int, one: Access, two: Access) -> MPIException:
        both = f"{self.describe(one)} and {self.describe(two)}"
        where = f"the same memory of rank {self.core.ranks[target]}"
        return MPIException(CLASH, f"{both} access {where}, neither after the other is complete")

    def describe(self, access: Access) -> str:
        rank = self.core.ranks[access.origin]
        if access.kind == STORE:
            return f"a store of rank {rank} in its own memory"
        place = current_rank().places.get(
            (self.box(access.origin), rank, access.number), "another place"
        )
        return f"{access.kind} of rank {rank} at {place}"

    # The rank's own memory: what the script loads and stores there.

    def exchange(self) -> None:
        """Show others what the script has stored, and the script what others have done."""
        me = self.core.rank
        if not self.sizes[me]:
            return
        runs = self._stores()
        if runs:
            data = read(bytes(self.view), runs)

            def change(state: State) -> tuple[State, None]:
                write(state[0], runs, data)
                return state, None

            self._change(me, runs, change)
        seen = [look(self.box(me, at), waits=True).payload[0] for at in self.blocks(me)]
        self._show(b"".join(seen))

    def publish(self) -> None:
        """Show others what the script has stored, if it has."""
        if self._stores():
            self.exchange()

    def replace(self, change: Callable[[bytearray], T]) -> T:
        """Change its own memory, when no lock can be held."""

        def changed(state: State) -> tuple[State, tuple[bytes, T]]:
            memory = state[0]
            got = change(memory)
            return (memory, ()), (bytes(memory), got)

        me = self.core.rank
        content, got = self._change(me, ((0, self.sizes[me]),), changed)
        self._show(content)
        return got

    def _stores(self) -> Runs:
        now = bytes(self.view)
        runs = () if now == self.known else changed_runs(self.known, now)
        if runs:
            self.stored.append(Access(STORE, self.core.rank, 0, runs))
        return runs

    def _show(self, content: bytes) -> None:
        self.known = content
        if bytes(self.view) != content:
            self.view[:] = content

    def _change(self, target: int, runs: Runs, change: Callable[[State], tuple[State, T]]) -> T:
        """Take the blocks that have these bytes, and put them back, even if something fails."""
        step, used = self.blocks(target).step, self.touched(target, runs)
        memory = bytearray(self.sizes[target])
        log: tuple[Logged, ...] = ()
        for at in used:
            memory[at : at + step], more = take(self.box(target, at))
            log += tuple(each for each in more if each not in log)
        try:
            (memory, log), got = change((memory, log))
        finally:
            for at in used:
                own = tuple(each for each in log if overlap(each[1][3], ((at, step),)))
                leave(self.box(target, at), (bytes(memory[at : at + step]), own))
        return got


def leave(mailbox: str, payload: Any, key: tuple[int, int] = (0, 0)) -> None:
    blocking(exchange(Send(mailbox, payload, key, buffered=True)))


def take(mailbox: str) -> Any:
    return blocking(exchange(Recv(mailbox)))[0]


def look(mailbox: str, want: tuple[int, int] = (-1, -1), waits: bool = False) -> Response:
    return asked(Probe(mailbox, want, waits))
