"""Random small programs of processes, to compare ways of exploring them.

A script is a list of intents; which slots a wait names depends on what is still open, so they are
turned into operations while the process runs. `if` leaves out the next intent unless the last
answer was choice 0, and `fail` raises: so processes behave differently by what they are answered.
"""

import random
from collections.abc import Iterator

from unit.process.scripts import Answer, Bridge, Op, probe, recv, send, wait

from presage import _core as ops

KINDS = {
    "send": 8,
    "recv": 8,
    "wait": 7,
    "test": 3,
    "probe": 2,
    "cancel": 2,
    "choose": 1,
    "sleep": 1,
    "join": 1,
    "kill": 1,
    "publish": 1,
    "create": 1,
    "if": 3,
    "fail": 1,
}
CHILD = 9  # at most one process is created, with this number


def random_program(seed: int) -> tuple[Bridge, int]:
    """The scripts by process, and how many run from the start."""
    draw = random.Random(seed)
    count = draw.choice((2, 2, 3, 3, 4))
    keyed = draw.random() < 0.5
    mailboxes = draw.choice((1, 1, 2))
    leave = {kind for kind in KINDS if draw.random() < 0.35} - {"send", "recv", "wait"}
    kinds = [kind for kind in KINDS if kind not in leave]
    weights = [KINDS[kind] for kind in kinds]
    scripts = {}
    created = False
    for process in [*range(count), CHILD]:
        script = []
        for kind in draw.choices(kinds, weights, k=draw.randint(1, 5 if count < 4 else 3)):
            if kind == "create":
                if created or process == CHILD:
                    continue
                created = True
            script.append(intent(draw, kind, process, count, keyed, mailboxes))
        scripts[process] = script
    return Bridge({who: acting(script) for who, script in scripts.items()}), count


def intent(
    draw: random.Random, kind: str, process: int, count: int, keyed: bool, mailboxes: int
) -> tuple:
    mailbox = draw.randrange(mailboxes)
    numbers = (0, 0, 1) if keyed else (0,)
    wants = (-1, 0, 1) if keyed else (-1,)
    key = (draw.choice(numbers), draw.choice(numbers))
    want = (draw.choice(wants), draw.choice(wants))
    flag = draw.random() < 0.3
    which = draw.choice(("all", "all", "first", "last"))
    other = draw.choice([who for who in [*range(count), CHILD] if who != process])
    return {
        "send": (kind, mailbox, process, key, flag),
        "recv": (kind, mailbox, want),
        "wait": (kind, which, flag),
        "test": (kind, which),
        "probe": (kind, mailbox, want, flag),
        "cancel": (kind, which),
        "join": (kind, other),
        "kill": (kind, other),
        "publish": (kind, draw.randrange(2)),
    }.get(kind, (kind,))


def acting(script: list[tuple]):
    return lambda: act(script)


def act(script: list[tuple]) -> Iterator[Op]:
    """Do a script; a slot is open from its post until it was returned or withdrawn."""
    taken: set[int] = set()
    answer: Answer = (0, -1, 0, 0)
    leave_out = False
    for kind, *args in script:
        if leave_out:
            leave_out = False
            continue
        if kind == "if":
            leave_out = answer[0] != 0
            continue
        assert kind != "fail", f"got {answer[1]}"
        slots = chosen(taken, args[0]) if kind in ("wait", "test", "cancel") else []
        if kind in ("wait", "test", "cancel") and not slots:
            continue
        answer = yield operation(kind, args, slots)
        if kind in ("send", "recv"):
            taken.add(next(slot for slot in range(len(taken) + 1) if slot not in taken))
        elif kind == "cancel":
            taken -= set(slots[:1]) if answer[0] else set()
        elif slots and answer[0] >= 0:
            taken.remove(slots[answer[0]])


def chosen(taken: set[int], which: str) -> list[int]:
    slots = sorted(taken)
    return {"all": slots, "first": slots[:1], "last": slots[-1:]}[which]


def operation(kind: str, args: list, slots: list[int]) -> Op:
    match kind:
        case "send":
            return send(args[0], args[1], args[2], args[3])
        case "recv":
            return recv(args[0], args[1])
        case "wait":
            return wait(*slots, timeout=args[1])
        case "test":
            return ops.TEST, tuple(slots)
        case "probe":
            return probe(args[0], args[1], args[2])
        case "cancel":
            return ops.CANCEL, (slots[0],)
        case "choose":
            return ops.CHOOSE, (2,)
        case "create":
            return ops.CREATE, (CHILD,)
        case "join":
            return ops.JOIN, (args[0],)
        case "kill":
            return ops.KILL, (args[0],)
        case "publish":
            return ops.PUBLISH, (0, args[0])
    return ops.SLEEP, ()
