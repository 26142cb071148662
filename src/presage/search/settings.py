"""Every option of a search, declared once.

`check` takes them by keyword and the command line makes its flags of them (`cli/options.py`). What
is left out, and what does not go together, is decided here; so are the limits of the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from presage.errors import BadSystem, HandlerStuck
from presage.execution.budget import Budget
from presage.execution.causes import Known
from presage.execution.sandbox import SECONDS_DEFAULT as HANDLER_SECONDS
from presage.limits import Limits, Weighing
from presage.process.program import SPINS_DEFAULT
from presage.props.property import FAIRNESSES
from presage.records import record
from presage.search import options as opt
from presage.search.delay.settings import Delay
from presage.search.hunt.settings import Hunt
from presage.search.options import PROGRAM_SEARCHES, SEARCHES, Use, refuse_use, refuse_values
from presage.search.part import WHOLE, Part
from presage.search.threads import AUTO, THREADS_MAX
from presage.search.threads import with_defaults as threads_of

if TYPE_CHECKING:
    from presage.search.progress import ProgressLine
    from presage.search.twin.compare import Start

TRACES = ".presage/traces"
LONG = "long searches"  # a group of flags
CHECKPOINT_SECONDS = 60.0
# Where no time is given to go on until it ends.
WALKS = {"walk": 1_000, "semantic": 10_000, "hunt": 10_000}
DEPTHS = {
    "tree": 100_000,
    "walk": 200,
    "semantic": 200,
    "delay": 1_000,
    "cycles": 1_000,
    "ndfs": 100_000,
    "indfs": 100_000,
}  # an execution of a tree that is longer: taken for endless
BY_DELAYS = ("delay", "cycles")

_BOTH = Use()
_SERVICES = Use(programs=())
_STATES = Use(
    ("bfs", "dfs", "delay", "cycles", "walk", "semantic", "hunt"),
    ("bfs", "delay"),
    "it limits searches that remember states",
)
_PARALLEL = ("bfs", "dfs", "delay", "cycles", "walk", "hunt", "tree")
_TREE = Use(("tree",), ("tree",), "it is for executions one by one; `bfs` remembers states")
_REVERSALS = Use(("tree",), (), "it says in which order `tree` reverses the races of executions")
_SLEEP = Use(
    ("bfs", "dfs"), (), "it leaves out orders that lead to a state met before; others forget them"
)
_KEPT = "alone, only `bfs` keeps its progress; on a `--cluster`, `hunt`, `walk` and `tree` do, too"
_BFS = Use(("bfs",), (), _KEPT)
_SPILL = Use(("bfs", "delay"), (), "these alone let the states that wait lie in files")
_FAULTS = Use(
    ("delay", "walk", "semantic"),
    (),
    "it leaves states out; other searches claim to have met all of them",
)
_AUDIT = Use(("delay",), (), "only a search by delays looks behind the faults that it leaves out")
_CALM = "random walks can be calm; a hunt walks calmly by itself, other searches try everything"
_FOLLOWED = "its executions are followed state by state, each as it is"
_CYCLES = Use(("cycles",), (), "it says how `cycles` looks for endless executions")
_REST = Use(
    tuple(name for name in SEARCHES if name != "cycles"),
    because="endless executions are what `cycles` looks for",
)
_LEFT_IN = "settings of a hunt, such as `--walk-length`, left in after the search was changed"
_ORDER = "settings of a search by delays, such as `--scheduler`, left in after it was changed"

SEARCH_WORDS = {name: _BOTH if name in PROGRAM_SEARCHES else _SERVICES for name in SEARCHES}
SKIPS = ("symmetric-faults",)
AUDIT_DEFAULT = 500
ALGORITHMS = ("scc", "ndfs", "indfs", "map")
REVERSALS = ("stack", "queue", "random")
REDUCTIONS = {"none": _BOTH, "sleep": _SLEEP, "dpor": _TREE, "sdpor": _TREE, "odpor": _TREE}


@record(frozen=True, kw_only=True, eq=False)
class Settings:
    """How something is searched, and where to report it.

    `with_defaults()` fills in what is None; the types are those of settings that are whole.
    """

    search: str = opt.words(
        None,
        SEARCH_WORDS,
        "bfs, delay, cycles, dfs, tree, walk, semantic, hunt",
        "search",
        metavar="NAME",
    )
    threads: int | str = opt.count(
        AUTO,
        "for bfs, auto means all cores",
        "search",
        most=THREADS_MAX,
        words={AUTO: _BOTH},
        use=Use(_PARALLEL, ("tree",), "`semantic`, and `bfs` of programs, run on one thread"),
        idle=(1,),
        hunts=True,
    )
    seed: int = opt.count(0, "which random choices", "search", least=0, most=2**64 - 1, hunts=True)
    walks: int | None = opt.count(
        None,
        "how many executions",
        "search",
        use=Use(programs=("tree",), because="it limits executions, `states` a search of states"),
        hunts=True,
    )
    keep_going: bool = opt.switch("look on after a violation", "search", hunts=True)
    causes: int = opt.count(1, "stop after so many causes of violations", "search")
    reduction: str = opt.words(
        None,
        REDUCTIONS,
        "none (default), sleep; in a tree dpor, sdpor, odpor",
        "search",
        metavar="NAME",
    )
    reversals: str = opt.words(
        "stack",
        dict.fromkeys(REVERSALS, _REVERSALS),
        "of dpor: stack (default), queue: faults first; random",
        "search",
        metavar="KIND",
        rare=True,
    )
    spins: int = opt.count(
        None,
        "tests that may fail in a row; 0: no end; default: 2",
        "search",
        least=0,
        use=Use(services=()),
        rare=True,
    )
    symmetry: bool = opt.on_off(
        "default: off", "search", use=Use(("bfs", "dfs", "delay", "walk"), (), _FOLLOWED)
    )
    skip: str | None = opt.words(
        None,
        dict.fromkeys(SKIPS, _FAULTS),
        "symmetric-faults: crashes and restarts like ones tried",
        "search",
        metavar="WHAT",
        rare=True,
    )
    audit: int = opt.count(
        AUDIT_DEFAULT,
        "of skip: states looked at behind a sample of what it skips",
        "search",
        least=0,
        use=_AUDIT,
        rare=True,
    )
    calm: bool = opt.switch(
        "random walks only: no faults, likely events first",
        "search",
        use=Use(("walk",), (), _CALM),
        rare=True,
    )
    algorithm: str = opt.words(
        "scc",
        dict.fromkeys(ALGORITHMS, _CYCLES),
        "of cycles: scc (default), ndfs, indfs, map",
        "search",
        metavar="NAME",
        rare=True,
    )
    fairness: str | None = opt.words(
        None,
        dict.fromkeys(FAIRNESSES, _CYCLES),
        "of cycles: weak, strong, none; default: as each property says",
        "search",
        metavar="KIND",
        rare=True,
    )
    liveness: str = opt.words(
        "exact",
        {"exact": _BOTH, "rest": _REST},
        "exact (default), rest: only where nothing happens",
        "search",
        metavar="KIND",
        cause="a misspelt name, or a fairness, which `@eventually(fairness=...)` chooses",
    )
    hunt: Hunt = opt.option(None, kind="object", use=Use(("hunt",), (), _LEFT_IN))
    delay: Delay = opt.option(None, kind="object", use=Use(BY_DELAYS, ("delay",), _ORDER))
    seconds: float | None = opt.seconds(None, "wall-clock time", "limits", hunts=True)
    memory_mib: int | None = opt.count(
        None,
        "of the process, in MiB",
        "limits",
        flag="memory",
        metavar="MIB",
        use=_SERVICES,
        hunts=True,
    )
    handler_seconds: float = opt.seconds(
        HANDLER_SECONDS, "for one run of one handler", "limits", hunts=True, rare=True
    )
    depth: int | None = opt.count(None, "the initial state is 1", "limits")
    states: int | None = opt.count(None, "distinct states", "limits", use=_STATES)
    checkpoint: str | Path | None = opt.text(
        None, "keep the progress there", LONG, use=_BFS, hunts=True
    )
    checkpoint_seconds: float = opt.seconds(
        CHECKPOINT_SECONDS, "between two of them", LONG, use=_BFS, rare=True
    )
    resume: bool = opt.switch("go on from the checkpoint", LONG, use=_BFS, hunts=True)
    trust: bool = opt.switch("whoever made the checkpoint", LONG, use=_BFS, rare=True)
    spill: str | Path | None = opt.text(
        None, "go on in files there past `--memory`", LONG, use=_SPILL
    )
    coverage: str | Path | None = opt.text(
        None, "write which lines ran there; *.json: as JSON", metavar="FILE", hunts=True
    )
    traces: str | Path | None = opt.text(TRACES, "save them there", hunts=True)
    known: Known | None = None  # causes of violations that are not to be found again
    target: str | None = None  # what it was loaded from
    parameters: Mapping[str, Any] | None = None
    progress: ProgressLine | None = None
    give_up: Callable[[HandlerStuck], None] | None = None
    budget: Budget = opt.option(None, kind="object")
    part: Part = WHOLE  # of a search that is divided
    second: Start | None = None  # starts a process that has loaded the same system

    def validated(self, *, program: bool) -> Settings:
        """These; refuses values that make no sense, and what does not go together."""
        refuse_values(self)
        refuse_use(self, self.with_defaults(program=program).search, program=program)
        for conflict in self._conflicts():
            raise BadSystem(*conflict)
        return self

    def with_defaults(self, *, program: bool) -> Settings:
        """These with what is left out filled in, some of it as it follows from the rest."""
        in_tree = program or REDUCTIONS.get(self.reduction) is _TREE
        search = self.search or ("tree" if in_tree else "bfs")
        budget = self.budget or Budget(self.seconds)
        endless = "walk" if self.samples else search
        walks = WALKS.get(endless) if budget.seconds is None else None
        return replace(
            self,
            search=search,
            reduction=self.reduction or ("odpor" if search == "tree" else "none"),
            depth=self.depth or DEPTHS.get(self.algorithm) or DEPTHS.get(search),
            walks=self.walks or walks,
            skip=SKIPS[0] if search == "semantic" else self.skip,
            spins=SPINS_DEFAULT if self.spins is None else self.spins,
            keep_going=self.keep_going or self.causes > 1 or bool(self.known),
            hunt=self.hunt or Hunt(),
            delay=self.delay or Delay(),
            budget=budget,
        )

    def _conflicts(self) -> Iterator[tuple[str, str, str]]:
        """Facts, causes and remedies of options that do not go with each other."""
        if self.resume and self.checkpoint is None:
            fact = "`resume` is given, and no checkpoint to go on from"
            remedy = "name the folder that the search was started with: `--checkpoint DIR`"
            yield fact, "no folder was named", remedy
        if self.spill is not None and self.memory_mib is None:
            fact = "`spill` is given, and no limit of memory"
            remedy = "say how much memory may be used: `--memory MIB`"
            yield fact, "files are used past a limit only", remedy
        if self.symmetry and self.reduction == "sleep":
            yield (
                "symmetry and the reduction `sleep` are both asked for",
                "what sleeps in a state belongs to one arrangement of its nodes, and their"
                " representative has another",
                "choose one; symmetry saves states, `sleep` only transitions",
            )
        if self.reversals != "stack" and self.reduction != "dpor":
            given = (
                "no reduction" if self.reduction is None else f"the reduction `{self.reduction}`"
            )
            yield (
                f"the reversals `{self.reversals}` are given with {given}",
                "only `dpor` knows how to reverse races in any order",
                "add `--reduction dpor`, or leave out `--reversals`",
            )
        if self.checkpoint is not None and (self.known or self.causes > 1):
            yield (
                "a checkpoint is asked for, and so are causes beyond those that are known",
                "a checkpoint knows of each property only whether it was broken",
                "leave out `--checkpoint`, or `--causes` and `--baseline`",
            )
        yield from self._skip_conflicts()
        yield from self._tree_conflicts()
        kept = [name for name in ("checkpoint", "spill") if getattr(self, name) is not None]
        if kept and (self.symmetry or self.reduction == "sleep"):
            yield (
                f"`{kept[0]}` together with a reduction or symmetry",
                "what these know of the states met is kept in memory only",
                f"leave out either; without `{kept[0]}` the search must fit into memory",
            )

    def _skip_conflicts(self) -> Iterator[tuple[str, str, str]]:
        """The same, of faults that are left out."""
        if self.search == "delay" and self.symmetry and self.skip is None:
            yield (
                "`symmetry` is given for the search `delay`",
                _FOLLOWED,
                "leave it out, or add `--skip symmetric-faults`: faults are then compared up to"
                " an exchange of nodes",
            )
        if self.audit != AUDIT_DEFAULT and self.skip is None:
            fact = "`audit` is given, and nothing is skipped"
            yield fact, "it looks behind what `skip` leaves out", "add `--skip symmetric-faults`"
        if self.search == "delay" and self.skip and self.threads not in (AUTO, 1):
            yield (
                f"`skip` is given with {self.threads} threads",
                "which of two like faults comes first would be chance",
                "leave out `--threads`",
            )

    def _tree_conflicts(self) -> Iterator[tuple[str, str, str]]:
        """The same, of executions one by one."""
        if self.search == "tree" and self.reversals != "stack" and self.threads not in (AUTO, 1):
            yield (
                f"`reversals={self.reversals}` is given with {self.threads} threads",
                "what comes next depends on all that was met before, so one thread explores",
                "leave out `--threads`, or `--reversals`",
            )

    @property
    def by_delays(self) -> bool:
        """Whether what is found costs delays."""
        return self.search in BY_DELAYS and self.algorithm != "ndfs"

    @property
    def samples(self) -> bool:
        """Whether executions of a tree are picked at random, and none is the last."""
        return self.reversals == "random"

    @property
    def exact(self) -> bool:
        """Whether endless executions are examined, too."""
        return self.liveness == "exact"

    @property
    def named(self) -> dict[str, Any]:
        return dict(self.parameters or {})

    def limits(self, seconds: float | None, weights: Weighing | None = None) -> Limits:
        ordered = self.states is not None or self.reduction == "sleep"
        threads, alone_until = threads_of(self.threads, self.search, ordered=ordered)
        return Limits(
            depth=self.depth,
            states=self.states,
            seconds=seconds,
            memory_mib=self.memory_mib,
            threads=threads,
            alone_until=alone_until,
            keep_going=self.keep_going,
            seed=self.seed,
            walks=self.walks if self.part.walks is None else self.part.walks,
            first=self.part.first,
            weights=weights,
        )
