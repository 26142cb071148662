"""Mailboxes, the plain way: what was posted, what waits, and who met whom.

A post is (process, number). Who met whom is kept for ever, which makes dependence easy to state.
"""

from unit.process.scripts import Op

from presage import _core as ops


def fits(want, key):
    return all(w in (-1, k) for w, k in zip(want, key, strict=True))


def overlap(one, other):
    return all(-1 in (a, b) or a == b for a, b in zip(one, other, strict=True))


def key_of(op: Op):
    return op[1][2:4] if op[0] == ops.SEND else op[1][1:3]


class Mailboxes:
    def __init__(self) -> None:
        self.slots: dict[int, tuple] = {}  # per process, posts or None
        self.ops: dict[tuple, tuple] = {}  # what was posted
        self.met: dict[tuple, tuple] = {}
        self.boxes: dict[tuple[int, int], tuple] = {}  # (mailbox, opcode): pending posts

    def complete(self, post) -> bool:
        return post in self.met or (self.ops[post][0] == ops.SEND and bool(self.ops[post][1][4]))

    def first(self, code: int, mailbox: int, pattern):
        """The first pending post of that kind which fits."""
        for post in self.boxes.get((mailbox, code), ()):
            its = key_of(self.ops[post])
            if fits(pattern, its) if code == ops.SEND else fits(its, pattern):
                return post
        return None

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
