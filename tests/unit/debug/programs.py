"""Small programs that break in every way, and sessions on their traces."""

from presage import Process, Program, always, check
from presage.mailbox import Mailbox, choose, publish


def client(number: int) -> None:
    print(f"client {number} begins")
    Mailbox.by_name("server").put(number)
    print(f"client {number} is done")


def server(clients: int) -> None:
    seen: list[int] = []
    for _ in range(clients):
        seen.append(Mailbox.by_name("server").get())
        publish(seen=tuple(seen))
    assert seen == sorted(seen)


def ordered(clients: int = 2) -> Program:
    """Clients may overtake each other."""
    processes = {f"client {n}": Process(client, n) for n in range(1, clients + 1)}
    return Program({"server": Process(server, clients), **processes}, name="ordered")


@always
def in_order(world) -> bool:
    seen = world["server"].seen or ()
    return len(seen) < 9 and list(seen) == sorted(seen)


def claimed() -> Program:
    program = ordered()
    return Program(program.processes, name="claimed", properties=[in_order])


def one(mine: str, other: str) -> None:
    print(f"waits at {mine}")
    Mailbox.by_name(mine).get()
    Mailbox.by_name(other).put("too late")


def idle() -> None:
    Mailbox.by_name("nobody").put_init("noise").detach()


def stuck() -> Program:
    """Two wait for each other; a third has nothing to do with it."""
    processes = {"a": Process(one, "x", "y"), "b": Process(one, "y", "x"), "idle": Process(idle)}
    return Program(processes, name="stuck")


def chooser() -> None:
    assert choose(3) != 2


def choosing() -> Program:
    return Program({"idle": idle, "chooser": chooser}, name="choosing")


def found(program: Program, prop: str, **how: object):
    """The violation of `prop` that a search finds."""
    report = check(program, traces=None, keep_going=True, **how)
    return next(each for each in report.violations if each.prop == prop)
