"""The local states of processes: what each was answered so far, as a tree, and what it asks next.

The kernel names a local state by its number and asks for the one that follows on a response; each
is worked out once. The process that has just got there is kept alive, and simply resumed if it is
asked to go on; any other place is reached by running that one process again on its responses.

Invariant: a local state's operation, its payload included, is what the process asks on each run
to it. Every run to a place it has been before is compared; a difference ends the search.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from presage.errors import BadCall, explain
from presage.process.live import Answer, Live, another
from presage.process.ops import (
    Cancel,
    Choose,
    Create,
    Done,
    Failed,
    Join,
    Kill,
    Probe,
    Publish,
    Recv,
    Response,
    Send,
    Sleep,
    TestAny,
    WaitAny,
)
from presage.process.payload import NOTHING, Payloads
from presage.process.program import Process, Program

LIVES_MAX = 1_000  # processes kept where they are, to be resumed
CHECKED_FIRST = 64  # local states that are run to twice, from the beginning on
CHECKED_EVERY = 32  # and of those after, one in so many

EXIT, FAIL, SEND, RECV, WAIT, TEST, PROBE, CANCEL, CHOOSE, SLEEP, CREATE, JOIN, KILL, PUBLISH = (
    range(14)
)

Asked = tuple[int, tuple[int, ...]]  # what is asked, in numbers: code, arguments
Told = tuple[int, int, int, int]  # choice, payload, key: a response in numbers
Next = tuple[int, int, tuple[int, ...]]  # local state, code, arguments


@dataclass(frozen=True)
class Local:
    """One local state."""

    process: int
    parent: int | None  # None: how the process begins
    told: Told  # the response that led here from the parent
    asked: Asked
    children: frozenset[str]  # names of the processes it has created
    begins: Process | None = None


class Numbers:
    """Things by number, in the order in which they were first seen."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self.kept: list[Any] = []

    def of(self, thing: Any) -> int:
        number = self._numbers.get(thing)
        if number is None:
            number = self._numbers[thing] = len(self.kept)
            self.kept.append(thing)
        return number


class Histories:
    """All local states met so far of all processes of a program."""

    def __init__(self, program: Program, run: Callable[..., Any]) -> None:
        self.program = program
        self.payloads = Payloads(program.codec)
        self.names = Numbers()  # of processes
        self.mailboxes = Numbers()
        self.fields = Numbers()  # that are published
        self.failures: list[Failed] = []
        self.runs = 0  # how often a process was run from one operation to the next
        self._failure_numbers = Numbers()
        self._run = run
        self._locals: list[Local] = []
        self._lives: OrderedDict[int, Live] = OrderedDict()
        self._merged: dict[Any, int] = {}
        self._creators: dict[str, int] = {}
        self._begun: dict[Any, Next] = {}

    def begin(self) -> list[tuple[int, bool]]:
        """The first local state of each process of the program, and whether it is a daemon."""
        for name in self.program.processes:
            self.names.of(name)
        return [
            (self._first(self.names.of(name), process)[0], process.daemon)
            for name, process in self.program.processes.items()
        ]

    def op(self, local: int) -> Asked:
        """Called by the kernel: what a local state asks, in numbers."""
        return self._locals[local].asked

    def describe(self, local: int) -> Next:
        return (local, *self._locals[local].asked)

    def advance(self, local: int, choice: int, payload: int, a: int, b: int) -> Next:
        """Called by the kernel: the local state that follows `local` on a response."""
        told = (choice, payload, a, b)
        live = self._lives.pop(local, None)
        is_kept = live is not None and live.is_ours
        if live is None or not is_kept:
            live = self._recreate(local)
        at = self._resume(live, told)
        return self._arrived(live, at, local, told, is_kept)

    def _arrived(self, live: Live, at: Answer, parent: int, told: Told, is_kept: bool) -> Next:
        was = self._locals[parent]
        children = was.children
        if was.asked[0] == CREATE:
            children |= {self.names.kept[was.asked[1][0]]}
        asked = self._asked(was.process, at, children)
        place = self._place(live, was.process, asked, children)
        known = self._merged.get(place) if place is not None else None
        if known is not None:
            return self.describe(known)
        number = self._add(Local(was.process, parent, told, asked, children))
        if place is not None:
            self._merged[place] = number
        if is_kept and (number < CHECKED_FIRST or number % CHECKED_EVERY == 0):
            self._recreate(number).close()
        self._keep(number, live)
        return self.describe(number)

    def _place(
        self, live: Live, process: int, asked: Asked, children: frozenset[str]
    ) -> tuple[Any, ...] | None:
        """What tells this moment from others, if the process said what its future depends on."""
        context = live.context
        if context.mark is None:
            return None
        clock = context.clock if context.clock_read else None
        return process, context.mark, asked, context.open_slots, children, clock

    def _add(self, local: Local) -> int:
        self._locals.append(local)
        return len(self._locals) - 1

    def _keep(self, number: int, live: Live) -> None:
        if isinstance(live.at, Done | Failed):
            return
        self._lives[number] = live
        if len(self._lives) > LIVES_MAX:
            oldest = self._lives.popitem(last=False)[1]
            if oldest.is_ours:
                oldest.close()

    def _first(self, process: int, how: Process) -> Next:
        live = self._start(process, how)
        asked = self._asked(process, live.at, frozenset())
        number = self._add(Local(process, None, (0, NOTHING, 0, 0), asked, frozenset(), how))
        self._keep(number, live)
        return self.describe(number)

    def _start(self, process: int, how: Process) -> Live:
        self.runs += 1
        live: Live = self._run(self.program.begin, self.names.kept[process], how)
        return live

    def _resume(self, live: Live, told: Told) -> Answer:
        choice, payload, a, b = told
        self.runs += 1
        live.context.mark = None
        answer: Answer = self._run(
            live.resume, Response(choice, self.payloads.fresh(payload), (a, b))
        )
        return answer

    def _recreate(self, local: int) -> Live:
        """A process run to a local state again, alone, on the responses it got."""
        path = []
        at: int | None = local
        while at is not None:
            path.append(self._locals[at])
            at = path[-1].parent
        first = path.pop()
        assert first.begins is not None, first
        live = self._start(first.process, first.begins)
        self._compare(live, first)
        for step in reversed(path):
            self._resume(live, step.told)
            self._compare(live, step)
        return live

    def _compare(self, live: Live, local: Local) -> None:
        before = local.asked
        if before[0] == CREATE and isinstance(live.at, Create):  # made anew, so not the same one
            now = (CREATE, (self.names.of(live.at.name), *before[1][1:]))
        else:
            now = self._asked(local.process, live.at, local.children)
        if now != before:
            raise another(live.name, self.shown(before), live.at)

    def shown(self, asked: Asked) -> str:
        """An operation in words, from its numbers."""
        code, args = asked
        match code:
            case 2:
                return f"Send({self.mailboxes.kept[args[0]]}, {self.payloads.fresh(args[1])!r})"
            case 3:
                return f"Recv({self.mailboxes.kept[args[0]]})"
            case 1:
                return self.failures[args[0]].text
        names = "Exit Fail Send Recv WaitAny TestAny Probe Cancel Choose Sleep Create Join Kill"
        return f"{[*names.split(), 'Publish'][code]}{args}"

    def _asked(self, process: int, at: Answer, children: frozenset[str]) -> Asked:
        match at:
            case Done():
                return EXIT, ()
            case Failed():
                number = self._failure_numbers.of((process, at.kind, at.brief))
                if number == len(self.failures):
                    self.failures.append(at)
                return FAIL, (number,)
            case Send():
                box, payload = self.mailboxes.of(at.mailbox), self.payloads.number(at.payload)
                return SEND, (box, payload, *at.key, int(at.buffered))
            case Recv():
                return RECV, (self.mailboxes.of(at.mailbox), *at.want)
            case WaitAny():
                return WAIT, (int(at.timeout is not None), *at.slots)
            case TestAny():
                return TEST, at.slots
            case Probe():
                return PROBE, (int(at.blocking), self.mailboxes.of(at.mailbox), *at.want)
            case Cancel():
                return CANCEL, (at.slot,)
            case Choose():
                return CHOOSE, (at.n,)
            case Sleep():
                return SLEEP, ()
            case Create():
                return CREATE, self._created(process, at, children)
            case Join():
                return JOIN, (self._known(at.name),)
            case Kill():
                return KILL, (self._known(at.name),)
            case Publish():
                return PUBLISH, (self.fields.of(at.field), self.payloads.number(at.value))

    def _created(self, process: int, op: Create, children: frozenset[str]) -> tuple[int, int, int]:
        """The number of the child, of its first local state, and whether it is a daemon."""
        creator = self._creators.setdefault(op.name, process)
        if creator != process or op.name in children or op.name in self.program.processes:
            raise BadCall(
                explain(
                    f"process `{self.names.kept[process]}` creates a second process `{op.name}`",
                    "a name made of something that is not unique",
                    "give each process a name of its own, for instance with a number",
                )
            )
        child = self.names.of(op.name)
        how = Process(op.body, *op.args, daemon=op.daemon, host=op.host)
        if not (_is_told_by_its_code(op.body) and self.payloads.can_number(op.args)):
            return child, self._first(child, how)[0], int(op.daemon)  # what it holds is not known
        key = (child, op.body.__code__, self.payloads.number(op.args), op.daemon)
        if key not in self._begun:
            self._begun[key] = self._first(child, how)
        return child, self._begun[key][0], int(op.daemon)

    def _known(self, name: str) -> int:
        if name not in self.program.processes and name not in self._creators:
            raise BadCall(
                explain(
                    f"there is no process `{name}`",
                    "a misspelt name, or a process that was not created yet",
                    "name a process of the program, or one that was created before",
                )
            )
        return self.names.of(name)


def _is_told_by_its_code(body: Callable[..., Any]) -> bool:
    """Whether a function is nothing but its code: it holds no variables, defaults or object."""
    if not inspect.isfunction(body):
        return False
    return not (body.__closure__ or body.__defaults__ or body.__kwdefaults__)
