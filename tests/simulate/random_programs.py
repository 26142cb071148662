"""Random programs of processes, and random platforms to run them on."""

from random import Random
from typing import Any

from simulate.talking import GF, MB, compute, get, get_async, put, put_async, rest, wait

from presage import Process, Program
from presage.process.context import blocking, cancel, current, test_any
from presage.process.ops import Choose, Create, Join, Kill, Probe

BOXES = ("x", "y")
TIMES = (0.0, 0.25, 1.0)
ACTIONS = (
    *("put", "get", "put_async", "put_async", "get_async", "get_async", "buffered", "buffered"),
    *("wait_any", "timeout", "timeout", "timeout", "test", "test", "test", "cancel", "probe"),
    *("choose", "rest", "compute", "compute"),
)


def body(script: tuple[Any, ...]) -> None:
    """Do what the script says, and say what came of it."""
    slots: list[int] = []
    for action, *given in script:
        print(action, _act(action, given, slots))


def _act(action: str, given: list[Any], slots: list[int]) -> Any:
    match action:
        case "put":
            return put(*given)
        case "get":
            return get(*given)
        case "put_async" | "buffered":
            return slots.append(put_async(*given, buffered=action == "buffered"))
        case "get_async":
            return slots.append(get_async(*given))
        case "wait_any" | "timeout" | "test" | "cancel":
            return _slots(action, given, slots)
        case "rest":
            return rest(*given)
        case "compute":
            return compute(*given)
        case "create":
            return current().ask(Create(given[0], body, (given[1],)))
    ops = {"probe": Probe, "choose": Choose, "join": Join, "kill": Kill}
    answer = current().ask(ops[action](*given))
    return answer.choice, answer.payload


def _slots(action: str, given: list[Any], slots: list[int]) -> Any:
    if not slots:
        return "nothing open"
    if action == "cancel":
        withdrawn = blocking(cancel(slots[0]))
        return withdrawn, withdrawn and slots.pop(0)
    if action == "test":
        got = blocking(test_any(tuple(slots)))
    else:
        got = wait(*slots, timeout=given[0] if given else None)
    if got.choice >= 0:
        slots.pop(got.choice)
    return got.choice, got.payload


def script(random: Random, length: int) -> list[tuple[Any, ...]]:
    """Some actions, each with what it needs."""
    made: list[tuple[Any, ...]] = []
    for _ in range(length):
        action = random.choice(ACTIONS)
        match action:
            case "put" | "put_async" | "buffered":
                size = random.choice((MB, MB / 2, 3 * MB))
                made.append((action, random.choice(BOXES), random.randrange(9), size))
            case "get" | "get_async" | "probe":
                made.append((action, random.choice(BOXES)))
            case "timeout" | "rest":
                made.append((action, random.choice(TIMES)))
            case "compute":
                made.append((action, GF * random.choice((0.5, 1.0))))
            case "choose":
                made.append((action, 3))
            case _:
                made.append((action,))
    return made


def program(random: Random) -> Program:
    names = [f"p{at}" for at in range(random.randint(2, 4))]
    scripts = {name: script(random, random.randint(1, 8)) for name in names}
    if random.random() < 0.4:
        author = scripts[names[0]]
        author.insert(random.randint(0, len(author)), ("create", "child", tuple(script(random, 3))))
        author.append((random.choice(("join", "kill")), "child"))
    if random.random() < 0.3:
        killer = scripts[names[-1]]
        killer.insert(random.randint(0, len(killer)), ("kill", random.choice(names)))
    return Program({name: Process(body, tuple(made)) for name, made in scripts.items()})


def platform(random: Random, hosts_min: int = 1) -> dict[str, Any]:
    hosts = {
        f"h{at}": {"speed": GF * random.choice((1, 2)), "cores": random.choice((1, 2))}
        for at in range(random.randint(hosts_min, 3))
    }
    for at, host in enumerate(hosts.values()):
        host["uplink"] = f"up{at}"
    links: dict[str, Any] = {
        f"up{at}": {"bandwidth": MB * random.choice((1, 2)), "latency": random.choice((0.0, 0.125))}
        for at in range(len(hosts))
    }
    links["mid"] = {"bandwidth": MB, "sharing": random.choice(("shared", "fatpipe"))}
    return {"hosts": hosts, "links": links, "default_route": {"links": ["mid"]}}
