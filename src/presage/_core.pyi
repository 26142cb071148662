"""The native core: canonical values, fingerprints, and the kernel with its searches."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeVar, final

from presage._results import Callers as Callers
from presage._results import CriticalStep as CriticalStep
from presage._results import CycleOutcome as CycleOutcome
from presage._results import Exporter as Exporter
from presage._results import Finding as Finding
from presage._results import HuntOutcome as HuntOutcome
from presage._results import Inspected as Inspected
from presage._results import KernelCoverage as KernelCoverage
from presage._results import KernelEvent as KernelEvent
from presage._results import Outcome as Outcome
from presage._results import Parts as Parts
from presage._results import Progress as Progress
from presage._results import Reachable as Reachable
from presage._results import Reader as Reader
from presage._results import RunFinding as RunFinding
from presage._results import Shard as Shard
from presage._results import Steps as Steps
from presage._results import StopReason as StopReason
from presage._results import Suspect as Suspect
from presage._results import TooManyCuts as TooManyCuts
from presage.limits import (
    CyclePlan,
    DelayPlan,
    HuntPlan,
    KernelOrigin,
    KernelSystem,
    Limits,
    PredictionPlan,
    SkipPlan,
    Storage,
)

_T = TypeVar("_T")

# Faults, in the order of `Faults.budgets`; `FAULTS` has their names.
FAULTS: tuple[str, ...]
CRASH, RESTART, DROP, DUPLICATE, RESET, SILENT, CUT, IDLE = range(8)
PARTITION, HEAL, SLOWED, SEVER, REFUSE, TERMINATE = range(8, len(FAULTS))

# Statuses of a node; a slow one is up but takes no step.
STATUSES: tuple[str, ...]
DOWN, UP, FAILED, SLOW = range(len(STATUSES))

# Kinds of events, faults aside, in the canonical order.
ORDINARY: tuple[str, ...]
DELIVER, RECEIVE, BROKEN, REFUSED, KEEPALIVE, TIMER, ACTION, CALL, WRITE, WAKE = range(
    len(ORDINARY)
)

# Operations of a process.
OPCODES: tuple[str, ...]
EXIT, FAIL, SEND, RECV, WAIT, TEST, PROBE, CANCEL, CHOOSE, SLEEP, CREATE, JOIN, KILL, PUBLISH = (
    range(len(OPCODES) - 2)
)
PICK, POLL = range(len(OPCODES) - 2, len(OPCODES))

@final
class Codec:
    """Values to canonical bytes and back.

    Typed (1, True and 1.0 differ); independent of hash seed, insertion order and object sharing.
    Raises `presage.errors.NotState` for what cannot be state.
    """
    def __new__(cls, *, live: bool = False) -> Self:
        """`live`: moments are written with the numbers they hold; else they are one value."""
    def encode(self, value: Any) -> bytes: ...
    def keep(self, value: _T) -> _T: ...  # itself if no part of it can be changed, else a copy
    def decode(self, data: bytes) -> Any: ...  # fresh objects, equal to what was encoded
    def decode_fields(self, fields: tuple[bytes, ...]) -> list[Any]: ...  # each, as new objects
    def encode_fields(self, values: list[Any]) -> list[bytes]:
        """Each of the values of one node; raises `Sharing` if a mutable object is there twice."""
    def names(self) -> tuple[list[str], list[str]]:
        """Of all classes, and all importable objects, that encodings may name."""
    def unordered(self, data: bytes) -> bool:
        """Whether the value holds a set or dict with two or more entries."""
    @staticmethod
    def reorder(function: Callable[..., Any], *args: Any) -> Any:
        """`function(*args)`, while all that is decoded has its sets and dicts in another order."""
    @staticmethod
    def in_order(function: Callable[..., Any], *args: Any) -> Any:
        """`function(*args)`, while all that is decoded is in the canonical order."""
    def decode_plain(self, data: bytes) -> Any:
        """Of bytes from anybody: plain values and admitted classes; else raises `ValueError`."""
    def admit(self, cls: type) -> None: ...  # for `decode_plain`; `NotState` if it cannot be
    def learn(self, cls: type) -> None:
        """Let encodings of instances of `cls` be decoded, before any was encoded."""
    @staticmethod
    def immutable(data: bytes) -> bool: ...  # whether the value could be shared without harm
    def rename(self, data: bytes, names: dict[str, str]) -> bytes:
        """The encoding of the same value with strings exchanged, old to new."""
    @staticmethod
    def digest(data: bytes) -> int: ...  # 64 bits, the same in every process

@final
class Watchdog:
    """Ends the process when user code keeps the interpreter for too long; needs nothing of it.

    Raises `NoThread` if it cannot be started.
    """

    @staticmethod
    def alone(seconds: float, text: str) -> Watchdog:
        """Writes `text` to standard error, and aborts."""
    @staticmethod
    def watched(seconds: float, descriptor: int, signal: int) -> Watchdog:
        """Tells the parent through `descriptor`; `signal` makes a thread write where it is."""
    def call(self, run: int, function: Callable[..., Any], *args: Any) -> Any:
        """`function(*args)`: user code, watched while it runs."""
    def spent(self) -> list[tuple[int, int, float]]: ...  # thread, run, seconds that count, of each
    def forget(self, thread: int) -> None:
        """Let the run that `thread` is in take as long as it likes."""
    def stop(self) -> None: ...

def die_with(parent: int) -> None:
    """End this process when `parent` ends, which has started it; at once, and whatever it does."""

def mix(kind: int, slot: int, digest: int) -> int:
    """One component's share of a fingerprint, which is the wrapping sum of all shares."""

def combine(digests: Sequence[int]) -> int:
    """The digest of a sequence of digests; order matters."""

def queue_share(parts: Sequence[int]) -> int:
    """What a queue adds to a fingerprint, from what each of its messages adds alone, oldest first.

    The kernel follows it as messages come and go, whatever else the queue holds.
    """

_Messages: TypeAlias = tuple[int, int, int, int, list[bytes]]  # end, number, life, handled, bodies

def read_messages(buffer: bytearray, at: int, limit: int, most: int) -> _Messages | None:
    """The run of message frames at `at`, with the largest `handled`."""

def write_messages(number: int, life: int, handled: int, bodies: list[bytes]) -> bytes: ...
def never_go_backwards() -> None: ...  # makes sets what they were before
def notice_methods(cls: type, /) -> None: ...  # after its attributes were replaced unseen
def may_go_backwards() -> bool:
    """Make sets obey `backwards`, in all of this process; False if they cannot."""

def backwards(function: Callable[..., _T], *args: Any) -> _T:
    """`function(*args)`, while this thread iterates every set backwards."""

def goes_backwards() -> bool: ...  # whether this thread does
def resident_mib() -> int | None:
    """What the process holds in memory now; None where the system does not tell."""

def sha256(content: bytes, /) -> bytes: ...
def hmac_sha256(key: bytes, content: bytes, /) -> bytes: ...
def build_info() -> list[tuple[str, str]]: ...  # version, profile, features, target, compiler
def cores() -> int: ...  # that this process may use
def request_stop() -> None:
    """Ask every exploration of this process to stop, as Ctrl-C does. Any signal handler may."""

def stop_requested() -> bool: ...
def stop_once() -> bool:
    """Request a stop if somebody listens and nobody did before; False: end in another way."""

def listen_for_stop(listens: bool) -> None:
    """Say whether what was done is told once a stop is requested."""

def forget_stop() -> None:
    """Take the request back: the next exploration runs to its end."""

@final
class Halt:
    """Ends the explorations that were given it, as an interrupt does; any thread may set it."""
    def __new__(cls) -> Self: ...
    def set(self) -> None: ...
    def is_set(self) -> bool: ...

def inspect(path: Path, key: bytes | None) -> Inspected:
    """What a checkpoint says of itself, and whether `key` signed it.

    Raises `OSError` if there is none, `KeyboardInterrupt` if a stop is requested meanwhile, else
    `ValueError(kind, detail)`: "unreadable", "foreign", "damaged" or "version".
    """

@final
class Checkpoint:
    """A place for checkpoints. `host` has `errors`, `restore`, `recall` and `refuse`."""

    def __new__(
        cls,
        path: Path,
        header: bytes,
        seconds: float,
        resume: bool,
        signing: tuple[bytes | None, bool],
        host: Any,
    ) -> Self:
        """`signing`: the key, and whether to go on from a file that it did not sign."""

@final
class Spill:
    """A folder for what does not fit into memory; its files have no names."""

    def __new__(cls, folder: str | Path, memory_mib: int) -> Self: ...

class TooManyWays(Exception): ...

class PassCut(Exception):
    """A pass over a graph was stopped before its end; holds the `StopReason`."""

@final
class Kernel:
    """A system in integers. Steps run in Python once, through `bridge`; searches run natively.

    `bridge.found(finding)` hears at once of the first violation of each property.
    """

    def __new__(cls, bridge: Any, codec: Codec, system: KernelSystem) -> Self: ...
    def is_ordered(self, history: Any, real_time: bool) -> bool | None:
        """Whether an order explains a `History`; None where that is left to Python."""
    def search(
        self,
        kind: str,
        limits: Limits,
        progress: Callable[[Progress], None] | None = None,
        storage: Storage | None = None,
        sleep: bool = False,
        skip: SkipPlan | None = None,
    ) -> Outcome:
        """One finding per property, the shortest. A second search runs no handler again.

        `progress` is called a few times a second.
        """
    def coverage(self) -> KernelCoverage:
        """What the searches so far have run and read."""
    def armed(self, node: int, timer: str) -> bool:
        """Whether a timer of that name may have been armed in some local state of `node`."""
    def growth(self) -> tuple[int, list[tuple[int, int, int, list[int]]]]:
        """How many levels there were, and of fields with a number or a length: (node, position in
        its values, the largest, the levels in which it became larger)."""

    def predict(
        self,
        origin: KernelOrigin,
        plan: PredictionPlan,
        limits: Limits,
        halts: Sequence[Halt] | None = None,
    ) -> Outcome:
        """Search breadth first from a saved state; `ValueError` if it is not of this system."""
    def delay(
        self,
        plan: DelayPlan,
        limits: Limits,
        progress: Callable[[Progress], None] | None = None,
        storage: Storage | None = None,
        skip: SkipPlan | None = None,
    ) -> Outcome:
        """Search in the order of delays; `storage` has no checkpoint."""
    def cycles(
        self,
        wanted: CyclePlan,
        plan: DelayPlan,
        limits: Limits,
        progress: Callable[[Progress], None] | None = None,
    ) -> Outcome:
        """Search in that order for endless executions on which a claim never holds."""
    def hunt(
        self,
        settings: HuntPlan,
        limits: Limits,
        progress: Callable[[Progress], None] | None = None,
    ) -> Outcome:
        """Hunt for executions that never recover."""
    def explore(
        self,
        reduction: str,
        limits: Limits,
        progress: Callable[[Progress], None] | None = None,
        classes: bool = False,
        cuts: int = 100_000,
        reversals: str = "stack",
        hand_overs: int | None = None,
    ) -> Outcome:
        """Explore executions one by one. `classes`: tell the classes of executions, too.
        `cuts`: of one execution, for one property. `reversals`: of `dpor`; stack, queue or random.
        `hand_overs`: the seed of dice that say which parts are explored ahead, in tests.
        """
    def graph(
        self,
        properties: Sequence[int],
        room: tuple[int, int],
        limits: Limits,
        scene: tuple[KernelOrigin, PredictionPlan] | None = None,
    ) -> tuple[Graph, float]:
        """The graph of the states within these limits, judged by these properties, and seconds.

        `scene`: from a saved state, as a plan says; its bound of own events does not count here.
        `room` is how many states and edges to expect: right or wrong, it changes only the speed.
        """

@final
class ProcessKernel:
    """Sequential processes in integers. Python runs a process once for each (local, response).

    `bridge.op(local)` gives `(opcode, args)` for the first local of a process;
    `bridge.advance(local, choice, payload, key0, key1)` gives `[(local, opcode, args), ...]`, the
    local that the response leads to and those that follow where what is asked tells nothing;
    `bridge.judge(published)`, with `judge`, gives the numbers of what is broken;
    `bridge.found(finding)` hears of each finding at once.
    """

    def __new__(
        cls,
        bridge: Any,
        processes: Sequence[tuple[int, bool]],
        *,
        spins: int = 0,
        unmatched: bool = False,
        judge: bool = False,
    ) -> Self: ...
    def explore(
        self,
        reduction: str = "odpor",
        limits: Limits | None = None,
        progress: Callable[[Progress], None] | None = None,
        *,
        each: Callable[[list[tuple[int, int]], str], object] | None = None,
        until_pass: bool = False,
        hand_overs: int | None = None,
    ) -> Outcome: ...
    def search(
        self,
        limits: Limits | None = None,
        progress: Callable[[Progress], None] | None = None,
        plan: DelayPlan | None = None,
    ) -> Outcome:
        """Search through distinct states: breadth first, or with a plan in the order of delays."""

    def verify(self, states: int) -> tuple[list[str], int]:
        """Try out the relation of dependence: what is wrong, and how many pairs were tried."""

@final
class Graph:
    """A state space as a graph: its cycles, and what can be reached from where.

    Properties are told by their position in the list it was made with. A loop is a list of (state,
    unit): the unit of the edge taken there. Of units -1 (a call) and -2 (a fault) fairness does not
    speak.

    A pass over it raises `PassCut` when its seconds end, its memory does, or somebody interrupts.
    """
    @staticmethod
    def of(
        edges: Sequence[Sequence[tuple[int, int]] | None],
        holds: Sequence[Sequence[bool]],
        cut: Sequence[Sequence[int]] | None = None,
    ) -> Graph:
        """A graph given by hand, in breadth-first order from state 0: per state its edges (target,
        unit), None from the first state on at which nobody looked; per property its verdicts; the
        units of edges that were not followed, per state."""
    @property
    def states(self) -> int: ...
    @property
    def expanded(self) -> int:
        """How many states have all their edges; the others were met and not looked at."""
    @property
    def stopped_by(self) -> StopReason | None: ...
    def delays(self, property: int) -> int | None:
        """What a cycle cost, where a search for cycles found one without the property."""
    def lasso(
        self, property: int, fairness: str, seconds: float | None = None
    ) -> tuple[list[int], list[tuple[int, int]]] | None:
        """A nearest fair cycle without the property: the states before it, and the loop."""
    def cycle(self, property: int, fairness: str, algorithm: str) -> list[int] | None:
        """The states of a fair cycle without the property, in order, by `map` or `ndfs`."""
    def rest(self, property: int, seconds: float | None = None) -> list[int] | None: ...
    def finding(self, at: int, stem: Sequence[int], steps: Sequence[tuple[int, int]]) -> Finding:
        """What decides property `at`: through the states of `stem` and once round the loop."""
    def reachability(self, property: int, seconds: float | None = None) -> Reachable: ...
    def territories(
        self, property: int, fingerprints: Sequence[int], seconds: float | None = None
    ) -> list[str]:
        """Per fingerprint "live", "unknown" or "dead"."""
