"""Little processes for the kernel: lists of operations, or generators, re-run from their history.

A script is a list of `(opcode, arguments)`, done one after the other whatever is answered, or a
function of nothing that gives a generator: it yields operations and is sent `(choice, payload,
key0, key1)`. What a generator raises is a failure, and its text the message.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from presage._core import CREATE, EXIT, FAIL, PROBE, RECV, SEND, WAIT, ProcessKernel

Op = tuple[int, tuple[int, ...]]
Answer = tuple[int, int, int, int]
Script = Sequence[Op] | Callable[[], Iterator[Op]]


class Bridge:
    """What the kernel asks: a local state is a script and the answers it got so far."""

    def __init__(self, scripts: dict[int, Script], judge: Callable[..., list[int]] | None = None):
        self.scripts = scripts
        self.judge = judge
        self.rows: list[tuple[int, tuple[Answer, ...]]] = []
        self.ids: dict[tuple[int, tuple[Answer, ...]], int] = {}
        self.messages: list[str] = []

    def local(self, process: int, answers: tuple[Answer, ...] = ()) -> int:
        row = (process, answers)
        if row not in self.ids:
            self.ids[row] = len(self.rows)
            self.rows.append(row)
        return self.ids[row]

    def op(self, local: int) -> Op:
        process, answers = self.rows[local]
        script = self.scripts[process]
        code, args = self._listed(script, answers) or self._generated(script, answers)
        if code == CREATE:
            args = (args[0], self.local(args[0]), *args[1:])
        return code, args

    def _listed(self, script: Any, answers: tuple[Answer, ...]) -> Op | None:
        if callable(script):
            return None
        return script[len(answers)] if len(answers) < len(script) else (EXIT, ())

    def _generated(self, script: Any, answers: tuple[Answer, ...]) -> Op:
        running = script()
        try:
            op = next(running)
            for answer in answers:
                op = running.send(answer)
            return op
        except StopIteration:
            return EXIT, ()
        except AssertionError as error:
            if str(error) not in self.messages:
                self.messages.append(str(error))
            return FAIL, (self.messages.index(str(error)),)

    def advance(self, local: int, *answer: int) -> list[tuple[int, int, tuple[int, ...]]]:
        process, answers = self.rows[local]
        then = self.local(process, (*answers, answer))
        return [(then, *self.op(then))]


def kernel(
    *scripts: Script,
    created: Sequence[Script] = (),
    daemons: Sequence[int] = (),
    judge: Callable[..., list[int]] | None = None,
    **options: Any,
) -> ProcessKernel:
    """A kernel of `scripts`; `created` are those that a CREATE may start, numbered behind them."""
    bridge = Bridge(dict(enumerate([*scripts, *created])), judge)
    begun = [(bridge.local(at), at in daemons) for at in range(len(scripts))]
    return ProcessKernel(bridge, begun, judge=judge is not None, **options)


def send(mailbox: int, payload: int = 0, key: tuple[int, int] = (0, 0), buffered: bool = False):
    return SEND, (mailbox, payload, *key, int(buffered))


def recv(mailbox: int, want: tuple[int, int] = (-1, -1)):
    return RECV, (mailbox, *want)


def wait(*slots: int, timeout: bool = False):
    return WAIT, (int(timeout), *slots)


def probe(mailbox: int, want: tuple[int, int] = (-1, -1), blocking: bool = False):
    return PROBE, (int(blocking), mailbox, *want)


def gather(processes: int) -> list[Script]:
    """The first receives from all others, which each send once: listing 4.3 of SimGrid MC."""
    first = [recv(0), wait(0)] * (processes - 1)
    return [first, *([send(0, at), wait(0)] for at in range(1, processes))]


def groups(processes: int) -> list[Script]:
    """In each group of three the first receives from the others: listing 4.4 of SimGrid MC."""
    first = [[recv(at // 3), wait(0)] * 2 for at in range(0, processes, 3)]
    other = [[send(at // 3, at), wait(0)] for at in range(processes)]
    return [first[at // 3] if at % 3 == 0 else other[at] for at in range(processes)]
