"""The local states of processes: what each was answered so far, as a tree, and what it asks next.

The kernel names a local state by its number and asks for the one that follows on a response; each
is worked out once. The process that has just got there is kept alive, and simply resumed if it is
asked to go on; any other place is reached by running that one process again on its responses.
What tells a process nothing, such as the posting of an offer, is passed by without stopping.

Invariant: a local state's operation, its payload included, is what the process asks on each run
to it. Every run to a place it has been before is compared where it ends, some on the whole way; a
difference ends the search.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from presage.errors import BadCall, explain
from presage.process.context import current
from presage.process.live import Answer, Live, another
from presage.process.ops import (
    Cancel,
    Choose,
    Create,
    Done,
    Failed,
    Join,
    Kill,
    Op,
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

AHEAD_MAX = 100  # operations passed by in a row
PASSED_BY = frozenset({Send, Recv, Sleep, Publish})  # what is answered tells a process nothing
ENDS = frozenset({Done, Failed})
NOTHING_TOLD: Told = (0, NOTHING, 0, 0)
SILENT = Response()


class Local(NamedTuple):
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


class Guide:
    """Answers the operations of one run on the spot, as long as the answer is known.

    First come the responses of a `script`, of which the last one answers `expected`; then, without
    a script, operations that tell the process nothing are `passed` by. This runs for every
    operation of every run, so it is written to be fast.
    """

    __slots__ = ("_encode", "_expected", "_left", "_script", "passed")

    def __init__(
        self,
        encode: Callable[[Op], Asked],
        script: list[Response],
        expected: Asked | None,
    ) -> None:
        self._encode = encode
        self._script = script
        self._expected = expected
        self._left = len(script)
        self.passed: list[Asked] = []

    def __call__(self, op: Op) -> Response | None:
        left = self._left
        if left:
            self._left = left - 1
            if left == 1:
                self._compare(op)
                current().mark = None  # what it said before it was told this does not hold any more
            return self._script[-left]
        if type(op) not in PASSED_BY or len(self.passed) >= AHEAD_MAX or current().mark is not None:
            return None
        # Here and now, because what is sent may be changed before the process stops.
        self.passed.append(self._encode(op))
        return SILENT

    def _compare(self, op: Op) -> None:
        if self._expected is not None and self._encode(op) != self._expected:
            context = current()
            context.error = another(context.name, self._expected, op)
            raise context.error


class Histories:
    """All local states met so far of all processes of a program."""

    def __init__(self, program: Program, run: Callable[..., Any]) -> None:
        self.program = program
        self.payloads = Payloads(program.codec)
        self.names = Numbers()  # of processes
        self.mailboxes = Numbers()
        self.fields = Numbers()  # that are published
        self.failures: list[Failed] = []
        self.runs = 0  # how often a process was run, from the start or from where it was
        self._failure_numbers = Numbers()
        self._run = run
        self._locals: list[Local] = []
        self._lives: OrderedDict[int, tuple[Live, Guide]] = OrderedDict()
        self._merged: dict[Any, int] = {}
        self._creators: dict[str, int] = {}
        self._begun: dict[Any, int] = {}
        self._responses: dict[Told, Response] = {NOTHING_TOLD: SILENT}

    def begin(self) -> list[tuple[int, bool]]:
        """The first local state of each process of the program, and whether it is a daemon."""
        for name in self.program.processes:
            self.names.of(name)
        return [
            (self._run(self._first, self.names.of(name), process), process.daemon)
            for name, process in self.program.processes.items()
        ]

    def op(self, local: int) -> Asked:
        """Called by the kernel: what a local state asks, in numbers."""
        return self._locals[local].asked

    def advance(self, local: int, choice: int, payload: int, a: int, b: int) -> list[Next]:
        """Called by the kernel: the local state that follows `local` on a response.

        Where what it asks tells it nothing, those that follow are given as well, each the next of
        the one before.
        """
        numbers: list[int] = self._run(self._advance, local, (choice, payload, a, b))
        return [(number, *self._locals[number].asked) for number in numbers]

    def _advance(self, local: int, told: Told) -> list[int]:
        kept = self._lives.pop(local, None)
        if kept is not None and kept[0].is_ours:
            live, guide = kept
            self.runs += 1
            guide.passed = []
            live.context.mark = None
            live.resume(self._response(told))
        else:
            live, guide = self._recreate(local, told)
        numbers = self._file(live, guide, self._locals[local].process, local, told)
        last = numbers[-1]
        if kept is not None and (last < CHECKED_FIRST or last % CHECKED_EVERY == 0):
            self._check(last)
        return numbers

    def _file(
        self, live: Live, guide: Guide, process: int, parent: int | None, told: Told
    ) -> list[int]:
        """File what a process asked since it was told something at `parent`."""
        numbers = []
        children = self._children(parent)
        filed = self._locals
        for asked in guide.passed:
            filed.append(Local(process, parent, told, asked, children))
            parent, told = len(filed) - 1, NOTHING_TOLD
            numbers.append(parent)
        asked = self._asked(process, live.at, children)
        place = self._place(live, process, asked, children)
        known = None if place is None else self._merged.get(place)
        if known is None:
            filed.append(Local(process, parent, told, asked, children))
            known = len(filed) - 1
            self._keep(known, live, guide)
            if place is not None:
                self._merged[place] = known
        numbers.append(known)
        return numbers

    def _children(self, parent: int | None) -> frozenset[str]:
        """The processes that one has created once it has gone on from `parent`."""
        if parent is None:
            return frozenset()
        was = self._locals[parent]
        if was.asked[0] != CREATE:
            return was.children
        return was.children | {self.names.kept[was.asked[1][0]]}

    def _place(
        self, live: Live, process: int, asked: Asked, children: frozenset[str]
    ) -> tuple[Any, ...] | None:
        """What tells this moment from others, if the process said what its future depends on."""
        context = live.context
        if context.mark is None:
            return None
        clock = context.clock if context.clock_read else None
        return process, context.mark, asked, context.open_slots, children, clock

    def _keep(self, number: int, live: Live, guide: Guide) -> None:
        if type(live.at) in ENDS:
            return
        self._lives[number] = live, guide
        if len(self._lives) > LIVES_MAX:
            oldest = self._lives.popitem(last=False)[1][0]
            if oldest.is_ours:
                oldest.close()

    def _first(self, process: int, how: Process) -> int:
        live, guide = self._start(process, how, [], None)
        first, *others = self._file(live, guide, process, None, NOTHING_TOLD)
        self._locals[first] = self._locals[first]._replace(begins=how)
        self._check([first, *others][-1])
        return first

    def _start(
        self, process: int, how: Process, script: list[Response], expected: Asked | None
    ) -> tuple[Live, Guide]:
        """A fresh run to where the script ends, and beyond."""
        self.runs += 1
        guide = Guide(partial(self._asked, process, children=frozenset()), script, expected)
        return self.program.begin(self.names.kept[process], how, pass_by=guide), guide

    def _response(self, told: Told) -> Response:
        response = self._responses.get(told)
        if response is None:
            choice, payload, a, b = told
            response = Response(choice, self.payloads.fresh(payload), (a, b))
            if self.payloads.is_shared(payload):
                self._responses[told] = response
        return response

    def _path(self, local: int) -> list[Local]:
        """The local states that lead to one, from the first on."""
        path = []
        at: int | None = local
        while at is not None:
            path.append(self._locals[at])
            at = path[-1].parent
        return path[::-1]

    def _recreate(self, local: int, told: Told) -> tuple[Live, Guide]:
        """Run a process to a local state again, alone, and go on from there."""
        path = self._path(local)
        script = [self._response(step.told) for step in path[1:]]
        script.append(self._response(told))
        begins, asked = path[0].begins, path[-1].asked
        assert begins is not None, path
        expected = None if asked[0] == CREATE else asked  # a child made anew is not the same one
        return self._start(path[0].process, begins, script, expected)

    def _check(self, local: int) -> None:
        """Run a process to a local state again, and compare all that it asks on the way."""
        path = self._path(local)
        begins, process = path[0].begins, path[0].process
        assert begins is not None, path
        self.runs += 1
        live = self.program.begin(self.names.kept[process], begins)
        for step, following in zip(path, [*path[1:], None], strict=True):
            self._compare(live, step)
            if following is not None:
                live.resume(self._response(following.told))
        live.close()

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
        """What is asked, in numbers. The most frequent come first."""
        match at:
            case WaitAny():
                return WAIT, (int(at.timeout is not None), *at.slots)
            case Recv():
                return RECV, (self.mailboxes.of(at.mailbox), *at.want)
            case Send():
                box, payload = self.mailboxes.of(at.mailbox), self.payloads.number(at.payload)
                return SEND, (box, payload, *at.key, int(at.buffered))
            case TestAny():
                return TEST, at.slots
            case Done():
                return EXIT, ()
            case Failed():
                number = self._failure_numbers.of((process, at.kind, at.brief))
                if number == len(self.failures):
                    self.failures.append(at)
                return FAIL, (number,)
            case Sleep():
                return SLEEP, ()
            case Choose():
                return CHOOSE, (at.n,)
            case Create():
                return CREATE, self._created(process, at, children)
            case Publish():
                return PUBLISH, (self.fields.of(at.field), self.payloads.number(at.value))
        return self._asked_rarely(at)

    def _asked_rarely(self, at: Answer) -> Asked:
        match at:
            case Probe():
                return PROBE, (int(at.blocking), self.mailboxes.of(at.mailbox), *at.want)
            case Cancel():
                return CANCEL, (at.slot,)
            case Join():
                return JOIN, (self._known(at.name),)
            case Kill():
                return KILL, (self._known(at.name),)
        raise AssertionError(at)

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
            return child, self._first(child, how), int(op.daemon)  # what it holds is not known
        key = (child, op.body.__code__, self.payloads.number(op.args), op.daemon)
        if key not in self._begun:
            self._begun[key] = self._first(child, how)
        return child, self._begun[key], int(op.daemon)

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
