"""Processes and mailboxes, explored the plain way: every interleaving, one after the other.

Written to be read next to the contract of the operations, not to be fast.
"""

from collections.abc import Iterator
from typing import NamedTuple

from reference.mailboxes import Mailboxes
from unit.process.scripts import Answer, Bridge, Op

from presage import _core as ops

QUIET = (0, -1, 0, 0)


class Event(NamedTuple):
    process: int
    op: Op
    answer: Answer
    posts: tuple = ()  # made, waited for, or withdrawn


class World(Mailboxes):
    def __init__(self, bridge: Bridge, count: int) -> None:
        super().__init__()
        self.bridge = bridge
        self.answers: dict[int, tuple] = dict.fromkeys(range(count), ())
        self.ended: dict[int, str] = {}  # dying, dead
        self.published: dict[tuple[int, int], int] = {}

    def copy(self):
        twin = World.__new__(World)
        for name, value in vars(self).items():
            setattr(twin, name, dict(value) if isinstance(value, dict) else value)
        return twin

    def op(self, process: int) -> Op:
        return self.bridge.op(self.bridge.local(process, self.answers[process]))

    def over(self, process: int) -> bool:
        if process not in self.answers or self.ended.get(process) == "dying":
            return False
        return process in self.ended or self.op(process)[0] in (ops.EXIT, ops.FAIL)

    def enabled(self) -> Iterator[tuple[int, int]]:
        for process in self.answers:
            if not self.over(process):
                yield from ((process, choice) for choice in self.choices(process))

    def choices(self, process: int) -> list[int]:
        code, args = self.op(process)
        if self.ended.get(process) == "dying":
            return [0]
        if code in (ops.WAIT, ops.TEST):
            slots = args[1:] if code == ops.WAIT else args
            held = [self.slots[process][slot] for slot in slots]
            done = [at for at, post in enumerate(held) if self.complete(post)]
            timeout = args[0] if code == ops.WAIT else not done
            return [*done, -1] if timeout else done
        if code == ops.PROBE and args[0]:
            return [0] if self.first(ops.SEND, args[1], args[2:]) else []
        if code == ops.JOIN:
            return [0] if self.over(args[0]) else []
        return list(range(args[0])) if code == ops.CHOOSE else [0]

    def take(self, process: int, choice: int) -> Event:
        if self.ended.get(process) == "dying":
            self.ended[process] = "dead"
            return Event(process, (ops.SLEEP, ()), QUIET)
        code, args = op = self.op(process)
        answer, posts = QUIET, ()
        if code in (ops.SEND, ops.RECV):
            posts = (self.post(process, op),)
        elif code in (ops.WAIT, ops.TEST):
            slots = args[1:] if code == ops.WAIT else args
            posts = tuple(self.slots[process][slot] for slot in slots)
            answer = self.returned(process, posts, slots, choice)
        elif code == ops.PROBE:
            seen = self.first(ops.SEND, args[1], args[2:])
            answer = self.content(1, seen) if seen else QUIET
        elif code == ops.CANCEL:
            posts = (self.slots[process][args[0]],)
            if self.withdraw(posts[0]):
                self.free(process, args[0])
                answer = (1, -1, 0, 0)
        elif code == ops.CHOOSE:
            answer = (choice, -1, 0, 0)
        elif code == ops.CREATE:
            self.answers[args[0]] = ()
        elif code == ops.KILL and args[0] in self.answers and not self.over(args[0]):
            if self.ended.get(args[0]) != "dying":
                self.kill(args[0])
        elif code == ops.PUBLISH:
            self.published[process, args[0]] = args[1]
        if self.ended.get(process) != "dying":
            self.answers[process] += (answer,)
            if self.op(process)[0] in (ops.EXIT, ops.FAIL):
                self.slots[process] = ()
        return Event(process, op, answer, posts)

    def returned(self, process, posts, slots, choice):
        if choice == -1:
            return (-1, -1, 0, 0)
        post = posts[choice]
        self.free(process, slots[choice])
        got = self.ops[post][0] == ops.RECV
        return self.content(choice, self.met[post]) if got else (choice, -1, 0, 0)

    def kill(self, victim: int) -> None:
        self.ended[victim] = "dying"
        for post in self.slots.pop(victim, ()):
            if post and not self.complete(post):
                self.withdraw(post)
