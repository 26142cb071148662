"""Random small programs over the mailbox API, from a seed.

Each process follows a list of instructions, keeps what it sees, and at the end tells a collector,
which fails with a kind that says what all have seen: two searches agree if they report the same.
"""

import random

from presage import Process, Program
from presage.mailbox import Comm, Mailbox, Mutex, TimeoutException, choose
from presage.process.ops import Misuse

BOXES = ("a", "b")
SIMPLE = ("put", "get", "put_async", "get_async", "detach")
WHOLE = (*SIMPLE, "test", "wait_any", "cancel", "get_timeout", "choose", "test_any", "lock")


def random_program(seed, instructions=WHOLE):
    rng = random.Random(seed)
    processes = {}
    for number in range(rng.choice((2, 2, 3))):
        script = [(rng.choice(instructions), rng.choice(BOXES)) for _ in range(rng.randint(1, 3))]
        processes[f"p{number}"] = Process(follow, number, tuple(script))
    processes["collector"] = Process(collect, len(processes))
    return Program(processes, name=f"random {seed}")


def collect(count):
    Mutex("mutex")
    seen = [Mailbox.by_name(f"seen by {number}").get() for number in range(count)]
    raise Misuse(f"saw {seen}", "")


def follow(number, script):
    seen, comms = [], []
    for step, (what, name) in enumerate(script):
        seen.append(do(what, Mailbox.by_name(name), number * 10 + step, comms))
    for comm in comms:
        comm.wait()
        seen.append(comm.get_payload())
    Mailbox.by_name(f"seen by {number}").put_init(seen).detach()


def do(what, box, payload, comms):
    """One instruction; what is seen of it."""
    match what:
        case "put":
            box.put(payload)
        case "get":
            return box.get()
        case "put_async":
            comms.append(box.put_async(payload))
        case "get_async":
            comms.append(box.get_async())
        case "detach":
            box.put_init(payload).detach()
        case "get_timeout":
            try:
                return box.get(timeout=1)
            except TimeoutException:
                return "late"
        case "choose":
            return choose(2)
        case "lock":
            mutex = Mutex.by_name("mutex")
            mutex.lock()
            mutex.unlock()
        case _:
            return on_comms(what, comms)


def on_comms(what, comms):
    """An instruction that needs something under way."""
    if not comms:
        return None
    if what == "cancel":
        if comms[0].cancel():
            comms.pop(0)
            return "cancelled"
        return "met"
    if what == "test":
        return _take(comms, 0) if comms[0].test() else "not yet"
    found = Comm.wait_any(comms) if what == "wait_any" else Comm.test_any(comms)
    return "none" if found < 0 else _take(comms, found)


def _take(comms, at):
    return at, comms.pop(at).get_payload()
