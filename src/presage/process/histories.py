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
from collections.abc import Callable
from functools import partial
from threading import get_ident
from typing import Any

from presage._core import (
    CANCEL,
    CHOOSE,
    CREATE,
    EXIT,
    FAIL,
    JOIN,
    KILL,
    OPCODES,
    PICK,
    POLL,
    PROBE,
    PUBLISH,
    RECV,
    SEND,
    SLEEP,
    TEST,
    WAIT,
)
from presage.errors import BadCall
from presage.process import ops
from presage.process.context import current, is_running
from presage.process.ending import leave_at_end
from presage.process.guide import SILENT, Asked, ScriptedReplies
from presage.process.live import Answer, RunningProcess, another
from presage.process.locals import NOBODY, ROOT, Local, Locals, Reply
from presage.process.ops import Op, Recv, Response, WaitAny
from presage.process.payload import NOTHING, Payloads
from presage.process.program import Process, Program

LIVES_MAX = 1_000  # processes kept where they are, to be resumed
CHECKED_FIRST = 64  # local states that are run to twice, from the beginning on
CHECKED_EVERY = 128  # and of those after, one in so many

Next = tuple[int, int, tuple[int, ...]]  # local state, code, arguments

ENDS = frozenset({ops.Done, ops.Failed})
OVER: Asked = (EXIT, ())
NO_REPLY: Reply = (0, NOTHING, 0, 0)


class Interner:
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
        self.names = Interner()  # of processes
        self.mailboxes = Interner()
        self.fields = Interner()  # that are published
        self.failures: list[ops.Failed] = []
        self.runs = 0  # how often a process was run, from the start or from where it was
        self._failure_numbers = Interner()
        self._run = run
        self.locals = Locals()
        self._known: dict[Op, Asked] = {}
        self._guiding: dict[int, tuple[Any, Any]] = {}  # what the guides of each process call
        self._lives: dict[int, tuple[RunningProcess, ScriptedReplies]] = {}  # the oldest first
        self._threads: set[int] = set()  # that keep some of them
        self._merged: dict[Any, int] = {}
        self._creators: dict[str, int] = {}
        self._begun: dict[Any, int] = {}
        self._responses: dict[Reply, Response] = {NO_REPLY: SILENT}

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
        return self.locals.all[local][3]

    def advance(self, local: int, choice: int, payload: int, a: int, b: int) -> list[Next]:
        """Called by the kernel: the local state that follows `local` on a response.

        Where what it asks tells it nothing, those that follow are given as well, each the next of
        the one before.
        """
        numbers: list[int] = self._run(self._advance, local, (choice, payload, a, b))
        known = self.locals.all
        return [(number, *known[number][3]) for number in numbers]

    def _advance(self, local: int, reply: Reply) -> list[int]:
        kept = self._lives.pop(local, None)
        if kept is not None and kept[0].thread == get_ident():
            live, guide = kept
            self.runs += 1
            guide.passed = []
            live.context.mark = None
            live.resume(self._responses.get(reply) or self._response(reply))
        else:
            live, guide = self._recreate(local, reply)
        numbers = self._file(live, guide, self.locals.all[local][0], local, reply)
        last = numbers[-1]
        if kept is not None and (last < CHECKED_FIRST or last % CHECKED_EVERY == 0):
            self._check(last)
        return numbers

    def _file(
        self, live: RunningProcess, guide: ScriptedReplies, process: int, parent: int, reply: Reply
    ) -> list[int]:
        """File what a process asked since it was told something at `parent`."""
        numbers = []
        known = self.locals.all
        if self.locals.families or parent == ROOT or known[parent][3][0] == CREATE:
            children = self._children(parent)
        else:
            children = NOBODY
        add = self.locals.add
        if guide.passed:
            for asked in guide.passed:
                parent, reply = add((process, parent, reply, asked), children), NO_REPLY
                numbers.append(parent)
        asked = self._asked(process, children, live.at)
        place = None if live.context.mark is None else self._place(live, process, asked, children)
        number = None if place is None else self._merged.get(place)
        if number is None:
            number = add((process, parent, reply, asked), children)
            self._keep(number, live, guide)
            if place is not None:
                self._merged[place] = number
        numbers.append(number)
        return numbers

    def _children(self, parent: int) -> frozenset[str]:
        """The processes that one has created once it has gone on from `parent`."""
        if parent == ROOT:
            return NOBODY
        children, (code, args) = self.locals.children(parent), self.locals.all[parent][3]
        return children if code != CREATE else children | {self.names.kept[args[0]]}

    def _place(
        self, live: RunningProcess, process: int, asked: Asked, children: frozenset[str]
    ) -> tuple[Any, ...]:
        """What tells this moment from others, by what the process said its future depends on."""
        context = live.context
        clock = context.clock + context.looks * context.tick if context.clock_read else None
        return process, context.mark, asked, context.open_slots, children, clock

    def _keep(self, number: int, live: RunningProcess, guide: ScriptedReplies) -> None:
        if type(live.at) in ENDS:
            return
        self._lives[number] = live, guide
        if live.thread not in self._threads:
            self._threads.add(live.thread)
            leave_at_end(self)
        if len(self._lives) > LIVES_MAX:
            oldest = self._lives.pop(next(iter(self._lives)))[0]
            if oldest.is_ours:
                oldest.close()

    def leave(self, thread: int | None = None) -> None:
        """This thread needs its processes no more, or ends: nobody else can unwind them."""
        for number in [number for number, (live, _) in self._lives.items() if live.is_ours]:
            live = self._lives.pop(number)[0]
            self._threads.discard(live.thread)
            self._run(live.close)  # its `finally` clauses are the user's code, and may never end

    def _first(self, process: int, how: Process) -> int:
        guide = self._guide(process)
        live = self._begin(process, how, guide)
        first, *others = self._file(live, guide, process, ROOT, NO_REPLY)
        self.locals.begins[first] = how
        self._check([first, *others][-1])
        return first

    def _guide(self, process: int, *script: Any, **how: Any) -> ScriptedReplies:
        if process not in self._guiding:
            encode = partial(self._asked, process, NOBODY)
            self._guiding[process] = encode, partial(self._expect, process)
        return ScriptedReplies(*self._guiding[process], *script, **how)

    def _begin(self, process: int, how: Process, guide: ScriptedReplies) -> RunningProcess:
        """A fresh run to where its guide leads."""
        self.runs += 1
        return RunningProcess.of(self.program, self.names.kept[process], how, guide)

    def _response(self, reply: Reply) -> Response:
        response = self._responses.get(reply)
        if response is None:
            choice, payload, a, b = reply
            response = Response(choice, self.payloads.fresh(payload), (a, b))
            if self.payloads.is_shared(payload):
                self._responses[reply] = response
        return response

    def _script(self, path: list[Local]) -> list[Response]:
        """The responses that led along a path."""
        known, response = self._responses.get, self._response
        return [known(reply) or response(reply) for _, _, reply, _ in path[1:]]

    def _recreate(self, local: int, reply: Reply) -> tuple[RunningProcess, ScriptedReplies]:
        """Run a process to a local state again, alone, and go on from there."""
        known, replies, response = self.locals.all, self._responses.get, self._response
        process, parent, last, asked = known[local]
        script, first = [replies(reply) or response(reply)], local
        while parent != ROOT:
            script.append(replies(last) or response(last))
            first = parent
            _, parent, last, _ = known[first]
        script.reverse()
        how = self.locals.begins[first]
        guide = self._guide(process, script, (asked,))
        return self._begin(process, how, guide), guide

    def _check(self, local: int) -> None:
        """Run a process to a local state again, and compare all that it asks on the way."""
        how, path = self.locals.path(local)
        process = path[-1][0]
        *expected, last = [asked for _, _, _, asked in path]
        guide = self._guide(process, self._script(path), expected, ahead=False)
        live = self._begin(process, how, guide)
        self._expect(process, live.at, last)
        live.close()

    def _expect(self, process: int, at: Answer, before: Asked) -> None:
        """Refuse a process that asks for something else than before."""
        if before[0] == CREATE and isinstance(at, ops.Create):  # made anew, so not the same one
            now: Asked = (CREATE, (self.names.of(at.name), *before[1][1:]))
        else:
            now = self._asked(process, NOBODY, at)
        if now != before:
            error = another(self.names.kept[process], self.shown(before), at)
            if is_running():
                current().error = error  # kept, because an `except` of the body may eat it
            raise error

    def shown(self, asked: Asked) -> str:
        """An operation in words, from its numbers."""
        code, args = asked
        if code == SEND:
            return f"Send({self.mailboxes.kept[args[0]]}, {self.payloads.fresh(args[1])!r})"
        if code == RECV:
            return f"Recv({self.mailboxes.kept[args[0]]})"
        return self.failures[args[0]].text if code == FAIL else f"{OPCODES[code]}{args}"

    def _asked(self, process: int, children: frozenset[str], at: Answer) -> Asked:
        """What is asked, in numbers. The most frequent come first."""
        kind = type(at)
        if kind is WaitAny or kind is Recv:
            return self._known.get(at) or self._note(at)  # type: ignore[arg-type]
        match at:
            case ops.Done():
                return OVER
            case ops.Send():
                box, payload = self.mailboxes.of(at.mailbox), self.payloads.number(at.payload)
                manner = at.buffered | at.may_wait << 1 | at.channelled << 2
                return SEND, (box, payload, *at.key, manner)
            case ops.TestAny():
                return TEST, at.slots
            case ops.Failed():
                number = self._failure_numbers.of((process, at.kind, at.brief))
                if number == len(self.failures):
                    self.failures.append(at)
                return FAIL, (number,)
            case ops.Sleep():
                return SLEEP, ()
            case ops.Choose():
                return CHOOSE, (at.n,)
            case ops.Create():
                return CREATE, self._created(process, at, children)
            case ops.Publish():
                return PUBLISH, (self.fields.of(at.field), self.payloads.number(at.value))
        return self._asked_rarely(at)

    def _note(self, at: ops.WaitAny | ops.Recv) -> Asked:
        """What most processes ask again and again, remembered."""
        if isinstance(at, ops.Recv):
            claim = () if at.claim is None else (at.claim,)
            asked: Asked = RECV, (self.mailboxes.of(at.mailbox), *at.want, *claim)
        elif at.rivals is None and not at.polled:
            asked = WAIT, (int(at.timeout is not None), *at.slots)
        else:
            rivals = (each for group in at.rivals or () for each in (len(group), *group))
            asked = WAIT, (2 | at.polled << 2, *at.slots, *rivals)
        self._known[at] = asked
        return asked

    def _asked_rarely(self, at: Answer) -> Asked:
        match at:
            case ops.Probe():
                claim = () if at.claim is None else (at.claim, int(at.polled))
                return PROBE, (int(at.blocking), self.mailboxes.of(at.mailbox), *at.want, *claim)
            case ops.Pick():
                return PICK, (self.mailboxes.of(at.mailbox), *at.want, int(at.polls))
            case ops.Poll():
                return POLL, (at.n,)
            case ops.Cancel():
                return CANCEL, (at.slot,)
            case ops.Join():
                return JOIN, (self._number(at.name),)
            case ops.Kill():
                return KILL, (self._number(at.name),)
        raise AssertionError(at)

    def _created(
        self, process: int, op: ops.Create, children: frozenset[str]
    ) -> tuple[int, int, int]:
        """The number of the child, of its first local state, and whether it is a daemon."""
        creator = self._creators.setdefault(op.name, process)
        if creator != process or op.name in children or op.name in self.program.processes:
            raise BadCall(
                f"process `{self.names.kept[process]}` creates a second process `{op.name}`",
                "a name made of something that is not unique",
                "give each process a name of its own, for instance with a number",
            )
        child = self.names.of(op.name)
        how = Process(op.body, *op.args, daemon=op.daemon, host=op.host)
        told_by = _told_by(op.body)
        if told_by is None or not self.payloads.can_number(op.args):
            return child, self._first(child, how), int(op.daemon)  # what it holds is not known
        key = (child, told_by, self.payloads.number(op.args), op.daemon)
        if key not in self._begun:
            self._begun[key] = self._first(child, how)
        return child, self._begun[key], int(op.daemon)

    def _number(self, name: str) -> int:
        if name not in self.program.processes and name not in self._creators:
            raise BadCall(
                f"there is no process `{name}`",
                "a misspelt name, or a process that was not created yet",
                "name a process of the program, or one that was created before",
            )
        return self.names.of(name)


def _told_by(body: Callable[..., Any]) -> Any:
    """What a body is, if that is all: code without variables, defaults or object; or it says so."""
    if getattr(body, "__presage_constant__", False):
        return body
    if not inspect.isfunction(body):
        return None
    if body.__closure__ or body.__defaults__ or body.__kwdefaults__:
        return None
    return body.__code__
