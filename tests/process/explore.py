"""The plain way to search a program: run it again from the start for each list of choices.

`explore(program)` takes every order. With `reduced=True` it skips orders by sleep sets, so that
each class of equivalent executions (a Mazurkiewicz trace) is run to its end exactly once; what is
run to its end is counted in `runs`. Written for clarity, for small programs only.
"""

from dataclasses import dataclass, field

from presage.process.fence import Fence
from presage.process.ops import (
    ANY,
    Cancel,
    Done,
    Kill,
    Probe,
    Publish,
    Recv,
    Send,
    TestAny,
    WaitAny,
)
from presage.process.view import ProgramView
from presage.process.world import ProcessWorld

NODES_MAX = 50_000


@dataclass
class Found:
    """What there is in a program."""

    nodes: int = 0
    runs: int = 0
    deadlocks: set = field(default_factory=set)  # who waited, in each
    failures: set = field(default_factory=set)
    broken: set = field(default_factory=set)  # names of properties
    results: set = field(default_factory=set)  # what the processes returned
    path: list | None = None  # to the first violation

    @property
    def ok(self):
        return not (self.deadlocks or self.failures or self.broken)


def rerun(program, path):
    world = ProcessWorld(program)
    for step in path:
        world.take(step)
    return world


def explore(program, *, reduced=False, nodes_max=NODES_MAX, stop_at_first=False, depth=None):
    found = Found()
    with Fence(), Place(program) as place:
        stack = [((), frozenset())]
        while stack:
            path, asleep = stack.pop()
            assert found.nodes < nodes_max, f"more than {nodes_max} nodes"
            world = place.world_after(path)
            stack += reversed(list(visit(found, world, path, asleep, reduced, depth)))
            if stop_at_first and not found.ok:
                break
    return found


class Place:
    """Where a search is: a world, and the path that led there."""

    def __init__(self, program):
        self._program = program
        self._world = self._path = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._world is not None:
            close(self._world)

    def world_after(self, path):
        """The world after `path`: one step on from here, or reached again from the start."""
        if self._world is not None and path[:-1] == self._path:
            self._world.take(path[-1])
        else:
            self.__exit__()
            self._world = rerun(self._program, path)
        self._path = path
        return self._world


def close(world):
    for member in world.members.values():
        member.live.close()


def visit(found, world, path, asleep, reduced, depth):
    """Note what is to be seen here; where to go from here, as (path, sleep set)."""
    found.nodes += 1
    judge(found, world, path)
    enabled = world.enabled()
    if not enabled:
        found.runs += 1
        ends = (member.live.at for member in world.members.values())
        found.results.add(tuple(at.value if isinstance(at, Done) else None for at in ends))
        return
    if depth is not None and len(path) >= depth:
        return
    prints = {step: footprint(world, step) for step in enabled} if reduced else {}
    asleep = set(asleep)
    for step in enabled:
        if step in asleep:
            continue
        still = {other for other in asleep if not prints[other] & prints[step]} if reduced else ()
        yield (*path, step), frozenset(still)
        if reduced:
            asleep.add(step)


def judge(found, world, path):
    before = found.ok
    for name, member in world.members.items():
        if member.failed is not None:
            found.failures.add((name, member.failed.kind, member.failed.brief))
    if not world.enabled() and not world.is_over:
        waiting = (n for n, member in world.members.items() if not member.ended)
        found.deadlocks.add(tuple(waiting))
    seen = ProgramView({name: world.published(name) for name in world.members})
    for claim in world.program.properties:
        if not claim(seen):
            found.broken.add(claim.name)
    if before and not found.ok:
        found.path = list(path)


def footprint(world, step):
    """What a step touches, here: two steps whose footprints are disjoint commute."""
    member = world.members[step.process]
    marks = {("process", step.process)}
    op = member.live.at
    if member.killed:
        return marks
    match op:
        case Send() | Recv():
            marks |= _post_marks(world, op)
        case WaitAny() | TestAny():
            marks |= {("comm", step.process, slot) for slot in op.slots}
        case Cancel():
            at = member.posts[op.slot].op.mailbox
            marks |= {("comm", step.process, op.slot), ("offers", at), ("requests", at)}
        case Probe():
            marks |= {("offers", op.mailbox), ("requests", op.mailbox)}
        case Kill():
            marks |= {("process", op.name)}
            boxes = [post.op.mailbox for post in world.members[op.name].posts.values()]
            marks |= {(kind, box) for kind in ("offers", "requests") for box in boxes}
        case Publish():
            marks |= {("published",)} if world.program.properties else set()
    return marks


def _post_marks(world, op):
    box = world.mailbox(op.mailbox)
    if isinstance(op, Send):
        kind, partner = "offers", box.first_request(op.key)
    else:
        assert op.want == (ANY, ANY), "requests that choose make offers and requests dependent"
        kind, partner = "requests", box.first_offer(op.want)
    marks = {(kind, op.mailbox)}
    if partner is not None:
        marks.add(("comm", partner.owner, partner.slot))
    return marks
