"""What the native core gives back: the classes of `presage._core` that hold results.

All of them but `Shard` are frozen. They stand here because a file has at most 400 lines.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, Self, final

from typing_extensions import disjoint_base

from presage._core import Graph, Kernel
from presage.limits import Effort, Limits, Totals

class StopReason(StrEnum):
    """What ended an exploration before its end, as it stands in reports."""

    VIOLATION = "violation"
    PASSED = "passed"  # an execution ended well, and one was looked for
    DEPTH = "depth"
    STATES = "states"
    RUNS = "runs"
    SPINS = "spins"
    SECONDS = "seconds"
    MEMORY = "memory"
    DELAYS = "delays"
    INTERRUPT = "interrupt"
    LOST = "lost"

@final
class Outcome:
    """What a search did and found; each search fills in what it counts."""

    unique: int  # states; where executions are explored one by one, the nodes of their trees
    generated: int
    depth: int
    seconds: float
    stopped_by: StopReason | None
    cut: bool  # something was left out because of the depth limit
    left_out: bool  # an event that nobody caused was left out because it was listed often enough
    bytes: int  # of a search: what its states take, at most, beside tables of values and steps
    walks: int
    bounds: list[int]  # by delays: how many states were known when each bound was done
    delays: int  # the bound that it was at
    traces: int  # executions that went to the end
    blocked: int  # executions begun in vain: all that was left sleeps
    restarts: int  # because it was learnt which steps depend on others
    collected: int  # parts of the tree that another thread explored
    lost: int  # parts that were explored again
    spun: int  # times that a process was not allowed to test in vain once more
    handler_runs: int  # how often Python ran a step
    property_runs: int
    faults: list[int]  # how often each happened, in the order of `FAULTS`
    fault_places: int  # where it was decided whether a fault is like others
    faults_skipped: int  # of those, left out
    faults_audited: int  # of these, followed all the same for a while
    audit_states: int  # that were looked at there
    resumed_from: int | None  # states in the checkpoint it went on from
    checkpoints: int
    notes: list[str]
    sampled: bool  # arrangements of nodes were compared on part of them only
    found: list[Finding]  # one per property of a system: the shortest
    run_findings: list[RunFinding]  # of the processes of a program
    passed: list[tuple[int, int]] | None  # the path of processes that ended well
    classes: list[int]  # fingerprints of the classes of executions, where asked for
    rests: list[int]  # and of the states at rest
    hunt: HuntOutcome | None
    cycles: CycleOutcome | None

@final
class CycleOutcome:
    """What a search for cycles has met, and what it did to find them."""

    graph: Graph
    passes: int  # how often the graph was looked at
    checked: int  # how many candidates were examined
    seconds: float  # spent on that
    refining: float  # of these, on what the first round of each pass left open

@final
class HuntOutcome:
    """How the executions of a hunt ended, and those that did not come right."""

    live: int
    rest: int
    long: int
    duplicate: int
    choices: int  # how many the tree is deep
    delays: int  # how many runs had
    complete: bool  # either met all there is
    lengths: list[int]  # of walks that recovered
    suspects: list[Suspect]

@final
class Suspect:
    """An execution on which a property that must hold again and again ceased to hold."""

    property: int  # as `found` counts them
    at_rest: bool  # nothing likely is left to happen at its end
    def __len__(self) -> int: ...
    def finding(self, steps: int) -> Finding:
        """Its first `steps` events."""
    def locate(
        self,
        effort: Effort,
        seconds: float | None,
        progress: Callable[[Progress], None] | None,
    ) -> CriticalStep:
        """Its critical transition. The depth of the progress is the place that is looked at."""
    def dies(self, prints: Sequence[int], effort: Effort, seconds: float | None) -> bool | None:
        """Whether nothing recovers after these steps, named by the fingerprints they lead to; None:
        there was no time to find out."""
    def again(self, prints: Sequence[int], seconds: float | None) -> Suspect | None:
        """The execution that takes these steps and walks on calmly; none if that comes right, or
        if time ran out."""

@final
class Finding:
    """A property of a system, and the events that decide it."""

    at: int  # 0: no_exception, i + 1: the i-th property of the system
    choices: tuple[int, ...]  # of the start handlers
    initial: int  # fingerprint
    events: tuple[KernelEvent, ...]
    loop: int | None  # the step, from 1, from which on the events repeat for ever
    delays: int  # what it cost, in a search in their order
    def __new__(
        cls,
        at: int,
        choices: tuple[int, ...],
        initial: int,
        events: tuple[KernelEvent, ...],
        loop: int | None = None,
        delays: int = 0,
    ) -> Finding: ...

@final
class KernelEvent:
    """An event by indices: `origin` is a stimulus, (source, to, message) or (number,)."""

    kind: str
    node: int
    origin: tuple[Any, ...]
    choices: list[int]
    fingerprint: int  # of the state after it
    def __new__(
        cls, kind: str, node: int, origin: tuple[Any, ...], choices: list[int], fingerprint: int
    ) -> KernelEvent: ...

@final
class RunFinding:
    """What is wrong at the end of a path of processes: each step a process and its choice."""

    kind: str  # failure, deadlock, property, unmatched
    detail: list[int]
    path: list[tuple[int, int]]
    count: int  # how often it was met
    delays: int  # what it cost, in a search in the order of delays

@final
class Progress:
    """How far a search is."""

    unique: int
    generated: int
    depth: int
    frontier: int
    walks: int
    handler_runs: int
    decided: list[bool]  # per property
    seconds: float
    resumed_from: int  # states in the checkpoint that it went on from
    checkpoints: int  # written by this process
    right: int  # calm walks of a hunt that recovered
    delays: int  # now allowed, in a search in their order

@final
class CriticalStep:
    """The critical transition of a suspect, as far as it was found."""

    critical: int | None  # after it nothing recovers; 0: nothing ever does; None: not known
    states: int | None  # that follow it, if it is certain that none of them recovers
    live: int  # from how far along walks were seen to recover
    tried: int  # the next place looked at
    shares: list[tuple[int, int, int]]  # (steps taken, walks that recovered, walks)
    length: int  # of walks that did not recover
    rested: int  # of the walks from the critical place: how many came to rest
    walks: int  # of how many
    rested_within: int  # after how many steps at most
    slow: bool  # from the place that was tried only walks recovered that were too long
    in_time: bool
    seconds: float
    alternate: Finding | None  # recovers, and has most in common with the suspect

@final
class KernelCoverage:
    """What searches have run and read; a step is a local state and a stimulus."""

    # Node, class, status of the node, whether it could be delivered, steps.
    deliveries: list[tuple[int, type, int, bool, int]]
    sent: list[tuple[int, type, int]]  # receiver, class, different messages
    # Node, kind, name, number of the call, steps, local states; with the kind "", in how many local
    # states the node is up and so many calls were made.
    own: list[tuple[int, str, str, int, int, int]]
    reads: list[tuple[bool, bool]]  # per property: whether it was asked, and whether that differed

@final
class Reachable:
    """States that can still reach a property, may, and cannot; edges from the first to the last."""

    live: int
    unknown: int
    dead: int
    critical: int

@final
class Inspected:
    """What a checkpoint says of itself."""

    header: bytes
    over: bool  # whether the search was over
    states: int
    signed: bool  # with the key

@final
class Callers:
    """Finds out who called a library whose files begin with one of `folders`.

    `name`: given a file and a line, what reports call it.
    """

    def __new__(cls, folders: Sequence[str], name: Callable[[str, int], str]) -> Self: ...
    def place(self) -> str | None:
        """The innermost line that is not the library's own; None: all are."""

@disjoint_base
class Exporter:
    """Lends the memory of `view`; None: it has none to lend."""

    view: Any
    def __new__(cls, *_args: Any, **_kwargs: Any) -> Self: ...

@final
class Reader:
    """A state as a predicate sees it; notes what is read, and by which part of the predicate."""

    def apart(self) -> Self: ...
    def begin(self, function: int, node: int) -> bool: ...
    def end(self, holds: bool | None) -> None: ...
    def control(self, node: int) -> Any: ...
    def value(self, node: int, field: int) -> Any: ...
    def observer(self, slot: int) -> Any: ...
    def count(self, types: tuple[type, ...] | None) -> int: ...
    def messages(self, types: tuple[type, ...] | None) -> list[tuple[int, int, Any]]: ...
    def partition(self) -> int: ...
    def connection(self, node: int, peer: int) -> tuple[bool, bool, list[Any]]: ...

@final
class Shard:
    """One share of a breadth-first search: the states whose fingerprints are `index` modulo
    `shards`. `host.restore(classes, references)` makes names known to the codec.
    """

    def __new__(
        cls, kernel: Kernel, limits: Limits, index: int, shards: int, host: Any
    ) -> Self: ...
    @staticmethod
    def retrace(kernel: Kernel, property: int, chain: Sequence[int], step: bool) -> Finding:
        """The finding at the end of a chain of states, or by a step from the last of them."""
    @staticmethod
    def gathered(totals: Totals, found: Sequence[Finding]) -> Outcome:
        """The outcome of a search that shards have done."""
    def begin(self) -> None:
        """Take the initial states that are its own."""
    def expand(self, count: int) -> list[bytes]:
        """Expand about so many own states of this level; gives the bytes for each shard."""
    def receive(self, sender: int, batch: bytes) -> None:
        """Take what another has sent, in the order it was made in."""
    def end_level(self) -> tuple[int, list[tuple[int, int, int, bool]]]:
        """Go on to the next level: its states, and what was decided: property, steps, state,
        whether by a step from there."""
    def settle(self, properties: Sequence[int]) -> None:
        """Ask no more about these."""
    def waiting(self) -> int:
        """Words of the states that wait in this level."""
    def parent(self, key: int) -> int | None:
        """0 of an initial state; None: it is not known here."""
    def counts(self) -> tuple[int, int, int, int, int, list[int]]:
        """States, transitions, depth, runs of handlers and of properties, faults."""
    def save(self) -> bytes:
        """All of it, at the end of a level."""
    def restore(self, saved: bytes, counts: bool) -> None:
        """Take what is its own of one that was saved; `counts`: and what it had counted."""

class TooManyCuts(Exception):
    """An execution has too many consistent cuts to judge a property on; holds how many are judged.

    Then what depends on what is learnt on the way, and a tree is not explored in parts.
    """

@final
class Parts:
    """A tree of executions, explored in parts: what lies below nodes so many `levels` down.

    `first`: executions explored of a part that is not known, to learn which others there may be.
    """

    def __new__(cls, reduction: str, levels: int, first: int, classes: bool = False) -> Self: ...
    def explore(
        self,
        kernel: Kernel,
        limits: Limits,
        progress: Callable[[Progress], None] | None = None,
    ) -> tuple[Outcome, list[bytes]]:
        """Explore all but parts that are known; gives those that are not, in their order. If there
        are any, the counts of the outcome mean nothing."""
    def explore_one(
        self,
        kernel: Kernel,
        part: bytes,
        most: int,
        limits: Limits,
        progress: Callable[[Progress], None] | None = None,
    ) -> tuple[Outcome, bytes | None]:
        """Explore a part; gives what it came to, or None if it was stopped, or has more executions
        than `most`."""
    def learn(self, part: bytes, handed: bytes) -> None:
        """Take in what exploring a part came to, in any process."""
    def divide(self, part: bytes) -> None:
        """A part is too large: explore it in parts itself."""

@final
class Steps:
    """The distinct local steps that the searches of a kernel have met.

    A step is (kind, node or slot of an observer, encoded values, encoded cause, digest of what it
    did); equal digests mean that the world cannot tell the difference.
    """

    def __new__(cls, kernel: Kernel) -> Self: ...
    def names(self) -> tuple[list[str], list[str]]:
        """The classes, and the importable objects, that encoded values may name."""

    def met(
        self, count: int, room: int
    ) -> tuple[int, list[tuple[int, int, list[bytes], bytes, int]]]:
        """How many there are, and up to `count` of them, of at most `room` bytes in all.

        Some of each piece of code come first, then all are evenly spread.
        """

    def digest(self, kind: int, node: int, values: list[bytes], cause: bytes) -> int:
        """Run a step; the digest of what it does in this process."""
