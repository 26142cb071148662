"""Processes and mailboxes, explored the plain way: every interleaving, one after the other.

Written to be read next to the contract of the operations, not to be fast. A post is (process,
number); who met whom is only known at the end, which makes dependence easy to state. `classes`
tells executions apart that differ in more than the order of independent steps.
"""

from collections.abc import Iterator
from typing import NamedTuple

from unit.process import scripts as ops
from unit.process.scripts import Answer, Bridge, Op

QUIET = (0, -1, 0, 0)


class Event(NamedTuple):
    process: int
    op: Op
    answer: Answer
    posts: tuple = ()  # made, waited for, or withdrawn


def fits(want, key):
    return all(w in (-1, k) for w, k in zip(want, key, strict=True))


def overlap(one, other):
    return all(-1 in (a, b) or a == b for a, b in zip(one, other, strict=True))


class World:
    def __init__(self, bridge: Bridge, count: int) -> None:
        self.bridge = bridge
        self.answers: dict[int, tuple] = dict.fromkeys(range(count), ())
        self.ended: dict[int, str] = {}  # dying, dead
        self.slots: dict[int, tuple] = {}  # per process, posts or None
        self.ops: dict[tuple, tuple] = {}  # what was posted
        self.met: dict[tuple, tuple] = {}
        self.boxes: dict[tuple[int, int], tuple] = {}  # (mailbox, opcode): pending posts
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

    def complete(self, post) -> bool:
        return post in self.met or (self.ops[post][0] == ops.SEND and bool(self.ops[post][1][4]))

    def first(self, code: int, mailbox: int, pattern):
        """The first pending post of that kind which fits."""
        for post in self.boxes.get((mailbox, code), ()):
            its = key_of(self.ops[post])
            if fits(pattern, its) if code == ops.SEND else fits(its, pattern):
                return post
        return None

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

    def post(self, process: int, op: Op):
        code, args = op
        number = sum(1 for owner, _ in self.ops if owner == process)
        mine = (process, number)
        self.ops[mine] = op
        held = self.slots.get(process, ())
        at = held.index(None) if None in held else len(held)
        self.slots[process] = (*held[:at], mine, *held[at + 1 :])
        other = ops.RECV if code == ops.SEND else ops.SEND
        partner = self.first(other, args[0], key_of(op))
        if partner:
            self.withdraw(partner)
            self.met[mine], self.met[partner] = partner, mine
        else:
            box = (args[0], code)
            self.boxes[box] = (*self.boxes.get(box, ()), mine)
        return mine

    def returned(self, process, posts, slots, choice):
        if choice == -1:
            return (-1, -1, 0, 0)
        post = posts[choice]
        self.free(process, slots[choice])
        got = self.ops[post][0] == ops.RECV
        return self.content(choice, self.met[post]) if got else (choice, -1, 0, 0)

    def content(self, choice, post):
        return (choice, self.ops[post][1][1], *key_of(self.ops[post]))

    def free(self, process: int, slot: int) -> None:
        held = self.slots[process]
        self.slots[process] = (*held[:slot], None, *held[slot + 1 :])

    def withdraw(self, post) -> bool:
        code, args = self.ops[post]
        box = self.boxes.get((args[0], code), ())
        self.boxes[args[0], code] = tuple(other for other in box if other != post)
        return post in box

    def kill(self, victim: int) -> None:
        self.ended[victim] = "dying"
        for post in self.slots.pop(victim, ()):
            if post and not self.complete(post):
                self.withdraw(post)

    def key(self):
        """What tells states apart: posts by where they are held, else by what they are."""

        def shown(post):
            held = self.slots.get(post[0], ())
            place = (post[0], held.index(post)) if post in held else None
            return place, self.ops[post]

        def held(post):
            if post is None:
                return None
            met = self.met.get(post)
            got = met and self.ops[post][0] == ops.RECV and self.content(0, met)
            return self.ops[post][0], self.complete(post), met is not None, got

        slots = {who: tuple(map(held, posts)) for who, posts in self.slots.items()}
        trimmed = {who: trim(posts) for who, posts in slots.items() if trim(posts)}
        alive = {who: self.answers[who] for who in self.answers if who not in self.ended}
        boxes = {box: tuple(map(shown, posts)) for box, posts in self.boxes.items() if posts}
        parts = (alive, self.ended, trimmed, boxes, self.published)
        return tuple(tuple(sorted(part.items())) for part in parts)


def trim(posts):
    while posts and posts[-1] is None:
        posts = posts[:-1]
    return posts


def key_of(op: Op):
    return op[1][2:4] if op[0] == ops.SEND else op[1][1:3]
