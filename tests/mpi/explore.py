"""Every behaviour of a small script, by going through live worlds: plain, and the same each time.

A state is restored by running the program again, unless it comes right after the last one. Steps
that commute with all others are taken at once: a wait for one communication that is complete; and,
in scripts that never test or probe, the receives of a rank and the messages of collective calls and
from files, which have one sender and one receiver, and what is put back into a window.
"""

from dataclasses import dataclass, field

from presage.frontends.mpi import script
from presage.frontends.mpi.report import races, waiting
from presage.process.fence import Fence
from presage.process.ops import Recv, Send, WaitAny
from presage.process.world import ProcessWorld

LOOKING = ("test", "probe", "any(", "some(", "status(", "ancel(")
STATES_MAX = 20_000


@dataclass
class Explored:
    """What was found: the texts of violations, by kind."""

    found: dict[str, str] = field(default_factory=dict)
    raw: set[str] = field(default_factory=set)  # kinds before races were told from others
    states: int = 0
    ends: int = 0


def explore(path, ranks, buffering, args=(), beyond=False):
    """`beyond`: a rank that fails does not end a run, the others go on."""
    program = script(path, ranks, args, f"{buffering}:ordered")
    looks = any(word in path.read_text() for word in LOOKING)
    explored, fine = Explored(), None
    seen, open_paths, bad = set(), [()], []
    world, taken, last = None, [], None
    with Fence():
        while open_paths:
            path_ = open_paths.pop()
            if path_ and path_[:-1] == last:
                taken = [*taken, world.take(path_[-1])]
            else:
                world, taken = replayed(program, path_)
            last = path_
            if world.fingerprint in seen:
                continue
            seen.add(world.fingerprint)
            explored.states += 1
            assert explored.states < STATES_MAX, "too large for the plain way"
            wrong = violations(world, beyond)
            bad += [(*each, taken) for each in wrong]
            enabled = world.enabled() if beyond or not wrong else []
            if not enabled and not wrong:
                explored.ends += 1
                fine = fine or taken
            quiet = next((step for step in enabled if commutes(world, step, looks)), None)
            steps = enabled if quiet is None else [quiet]
            open_paths += [(*path_, step) for step in reversed(steps)]
    for kind, text, taken in bad:
        explored.raw.add(kind)
        if kind in ("exception", "deadlock") and fine and (races.races(fine) or races.races(taken)):
            kind = races.RACE
        explored.found.setdefault(kind, text)
    return explored


def replayed(program, path):
    world = ProcessWorld(program)
    return world, [world.take(step) for step in path]


def violations(world, beyond):
    found = [
        (member.failed.kind, f"{member.live.name}: {member.failed.text}")
        for member in world.members.values()
        if member.failed is not None
    ]
    if world.enabled() or (found and not beyond):
        return found
    if not world.is_over:
        return [*found, ("deadlock", waiting.who_waits(world))]
    left = world.leftovers()
    return [*found, ("unmatched", waiting.unmatched(left))] if left else found


def commutes(world, step, looks):
    op = world.members[step.process].live.at
    if isinstance(op, WaitAny):
        return len(op.slots) == 1 and op.timeout is None
    if looks:
        return False
    if isinstance(op, Send):  # of what a window is made of, one at a time is in its mailbox
        one_receiver = "#" in op.mailbox or (">" in op.mailbox and op.mailbox.startswith("file:"))
        return one_receiver or ("@" in op.mailbox and not set("~-") & set(op.mailbox))
    return isinstance(op, Recv) and "@" not in op.mailbox


def verdict(path, ranks, args=()):
    """The kinds of violations of a script, with and without buffering of sends."""
    zero = explore(path, ranks, "zero", args).found
    eager = explore(path, ranks, "eager", args).found
    if not eager and "deadlock" in zero:
        return set(zero) - {"deadlock"} | {races.HAZARD}, zero
    return {*zero, *eager}, {**eager, **zero}
