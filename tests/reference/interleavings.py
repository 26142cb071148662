"""All interleavings of a program: every execution, every state, every deadlock and failure."""

from dataclasses import dataclass, field

from reference.processes import Event, World
from unit.process.scripts import Bridge

from presage import _core as ops


@dataclass
class Explored:
    """What all executions together show."""

    nodes: int = 0
    edges: int = 0  # between distinct states
    paths: list[tuple] = field(default_factory=list)
    states: set = field(default_factory=set)
    wants: set = field(default_factory=set)  # (mailbox, want) of receives and probes
    findings: set = field(default_factory=set)  # failures and deadlocks, as the kernel tells them


def explore(bridge: Bridge, count: int) -> Explored:
    """Every execution, one after the other."""
    found = Explored()
    todo = [(World(bridge, count), ())]
    while todo:
        world, path = todo.pop()
        steps = list(world.enabled())
        if not steps:
            found.paths.append(path)
        look(found, world, steps)
        for step in steps:
            then = world.copy()
            then.take(*step)
            todo.append((then, (*path, step)))
    return found


def look(found: Explored, world: World, steps: list) -> None:
    """Note what is to be seen in a state."""
    found.nodes += 1
    state = state_of(world)
    if state in found.states:
        return
    found.states.add(state)
    found.edges += len(steps)
    for process in world.answers:
        code, args = world.op(process)
        if code in (ops.RECV, ops.PROBE):
            mailbox = args[0] if code == ops.RECV else args[1]
            found.wants.add((mailbox, args[-2:]))
        if code == ops.FAIL and process not in world.ended:
            found.findings.add(("failure", (process, args[0])))
    stuck = tuple(sorted(who for who in world.answers if not world.over(who)))
    if stuck and not steps:
        found.findings.add(("deadlock", stuck))


def state_of(world: World):
    """What tells states apart: posts by where they are held, else by what they are."""

    def shown(post):
        held = world.slots.get(post[0], ())
        place = (post[0], held.index(post)) if post in held else None
        return place, world.ops[post]

    def held(post):
        if post is None:
            return None
        met = world.met.get(post)
        got = met and world.ops[post][0] == ops.RECV and world.content(0, met)
        return world.ops[post][0], world.complete(post), met is not None, got

    slots = {who: tuple(map(held, posts)) for who, posts in world.slots.items()}
    trimmed = {who: trim(posts) for who, posts in slots.items() if trim(posts)}
    alive = {who: world.answers[who] for who in world.answers if who not in world.ended}
    boxes = {box: tuple(map(shown, posts)) for box, posts in world.boxes.items() if posts}
    parts = (alive, world.ended, trimmed, boxes, world.published)
    return tuple(tuple(sorted(part.items())) for part in parts)


def trim(posts):
    while posts and posts[-1] is None:
        posts = posts[:-1]
    return posts


def replay(bridge: Bridge, count: int, path) -> tuple[World, list[Event]]:
    world = World(bridge, count)
    return world, [world.take(*step) for step in path]


def outcome(world: World):
    """How an execution ended: who heard what, who is stuck, what is left."""
    stuck = tuple(sorted(who for who in world.answers if not world.over(who)))
    failed = tuple(sorted(who for who in world.answers if world.op(who)[0] == ops.FAIL))
    left = sorted((post, world.ops[post]) for posts in world.boxes.values() for post in posts)
    heard = tuple(sorted(world.answers.items()))
    return heard, stuck, failed, tuple(left), tuple(sorted(world.published.items()))
