"""Which executions differ in more than the order of independent steps.

Dependence is stated over a whole execution, where it is known who met whom: a wait depends on every
post that meets one of its members, be it before or after.
"""

from reference.mailboxes import fits, key_of, overlap
from reference.processes import Event, World

from presage import _core as ops

POSTS = (ops.SEND, ops.RECV)
WAITS = (ops.WAIT, ops.TEST)


def class_of(world: World, events: list[Event], wants: set):
    """The same for executions that differ only in the order of independent steps."""
    names, places = [], {}
    for event in events:
        place = places[event.process] = places.get(event.process, 0) + 1
        names.append((event.process, place, event.answer))
    ordered = [
        (names[i], names[j])
        for j in range(len(events))
        for i in range(j)
        if dependent(world, events[i], events[j], wants)
    ]
    return frozenset(names), frozenset(ordered)


def dependent(world: World, one: Event, other: Event, wants: set) -> bool:
    if one.process == other.process:
        return True
    return rules(world, one, other, wants) or rules(world, other, one, wants)


def rules(world: World, one: Event, other: Event, wants: set) -> bool:
    (code, args), (its, theirs) = one.op, other.op
    if code == ops.KILL or code == its == ops.PUBLISH:
        return True
    if code in (ops.CREATE, ops.JOIN):  # of two that wait for the same end, neither minds the other
        meets = code == ops.CREATE and its == ops.JOIN and theirs[0] == args[0]
        return meets or args[0] == other.process
    if code == its == ops.SEND:
        keys = [args[2:4], theirs[2:4]]
        both = [all(fits(want, key) for key in keys) for box, want in wants if box == args[0]]
        return args[0] == theirs[0] and (keys[0] == keys[1] or any(both))
    if code == its == ops.RECV:
        return args[0] == theirs[0] and overlap(args[1:3], theirs[1:3])
    if code in WAITS and its in POSTS:
        notice = [post for post in one.posts if not buffered(world, post)]
        return any(world.met.get(post) == other.posts[0] for post in notice)
    if code == ops.CANCEL and one.answer[0] == 0 and its in POSTS:
        return world.met.get(one.posts[0]) == other.posts[0]
    if code == ops.CANCEL and one.answer[0] == 1:
        kind, posted = world.ops[one.posts[0]]
        if its in POSTS and its != kind and theirs[0] == posted[0]:
            mine, key = key_of(world.ops[one.posts[0]]), key_of(other.op)
            return fits(key, mine) if kind == ops.SEND else fits(mine, key)
    if code == ops.PROBE:
        return probed(world, args[1], args[2:4], other)
    return False


def probed(world: World, mailbox: int, want, other: Event) -> bool:
    its, theirs = other.op
    if its == ops.CANCEL and other.answer[0] == 1:
        kind, posted = world.ops[other.posts[0]]
        return kind == ops.SEND and posted[0] == mailbox and fits(want, posted[2:4])
    if its not in POSTS or theirs[0] != mailbox:
        return False
    key = key_of(other.op)
    return fits(want, key) if its == ops.SEND else overlap(want, key)


def buffered(world: World, post) -> bool:
    code, args = world.ops[post]
    return code == ops.SEND and bool(args[4])
