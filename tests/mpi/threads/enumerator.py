"""Every outcome of a small script whose ranks have threads, by trying all: an oracle.

Written from the rules of MPI (3.5, 11.6) and of `threading`, and from nothing else. A thread takes
a step at a time: it posts a message or a receive, waits for what it posted, takes or gives back a
lock, sets an event or waits for one, puts into a queue or takes out. What a step gives is written
into the log of the rank at once. Messages of one rank to another keep the order of posting.
"""

from dataclasses import dataclass, replace

ANY = -1


@dataclass(frozen=True)
class Thread:
    at: int = 0
    post: int | None = None  # the number of what it has posted and waits for


@dataclass(frozen=True)
class State:
    threads: tuple  # of each rank
    logs: tuple
    posts: int = 0
    sent: tuple = ()  # pending: (source, tag, to, number)
    asked: tuple = ()  # pending: (want, tag, owner, number)
    matched: frozenset = frozenset()  # (number, source, tag); of sends no source
    held: frozenset = frozenset()  # (rank, lock)
    events: frozenset = frozenset()  # (rank, event)
    queues: tuple = ()  # (rank, value), the oldest first


def outcomes(script, may_buffer):
    """The logs (rank, log) with which ranks may end, and whether threads may wait for ever."""
    logs, stuck, seen = set(), set(), set()
    first = State(tuple(tuple(Thread() for _ in rank) for rank in script), ((),) * len(script))
    todo = [first]
    while todo:
        state = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        ended = {rank for rank in range(len(script)) if has_ended(state, script, rank)}
        logs |= {(rank, state.logs[rank]) for rank in ended}
        forced = [*matches(state), *moves(state, script)]
        if not forced and len(ended) < len(script):
            stuck.add(frozenset(range(len(script))) - ended)
        todo += forced
        if may_buffer:
            todo += buffered(state, script)
    return logs, stuck


def has_ended(state, script, rank):
    pairs = zip(state.threads[rank], script[rank], strict=True)
    return all(thread.at == len(body) for thread, body in pairs)


def fits(want, tag, message):
    return want in (ANY, message[0]) and tag == message[1]


def matches(state):
    for message in state.sent:
        source, tag, to, number = message
        receives = [a for a in state.asked if a[2] == to and fits(a[0], a[1], message)]
        if not receives:
            continue
        receive = min(receives, key=lambda each: each[3])
        before = [
            m
            for m in state.sent
            if m[0] == source and m[2] == to and m[3] < number and fits(*receive[:2], m)
        ]
        if not before:
            yield replace(
                state,
                sent=tuple(m for m in state.sent if m != message),
                asked=tuple(a for a in state.asked if a != receive),
                matched=state.matched | {(number, None, None), (receive[3], source, tag)},
            )


def moves(state, script):
    for rank, threads in enumerate(state.threads):
        for at, thread in enumerate(threads):
            if thread.at < len(script[rank][at]):
                yield from step(state, rank, at, thread, script[rank][at][thread.at])


def step(state, rank, at, thread, what):
    kind, *args = what
    if kind in ("send", "recv"):
        if thread.post is None:
            yield posted(state, rank, at, thread, kind, *args)
            return
        for number, source, tag in state.matched:
            if number == thread.post:
                yield gone_on(state, rank, at, *([(source, tag)] if kind == "recv" else []))
    elif kind == "lock" and (rank, args[0]) not in state.held:
        yield gone_on(replace(state, held=state.held | {(rank, args[0])}), rank, at)
    elif kind == "unlock":
        yield gone_on(replace(state, held=state.held - {(rank, args[0])}), rank, at)
    elif kind == "set":
        yield gone_on(replace(state, events=state.events | {(rank, args[0])}), rank, at)
    elif kind == "wait" and (rank, args[0]) in state.events:
        yield gone_on(state, rank, at, "set")
    elif kind == "put":
        yield gone_on(replace(state, queues=(*state.queues, (rank, args[0]))), rank, at)
    elif kind == "get":
        mine = [each for each in state.queues if each[0] == rank]
        if mine:
            rest = list(state.queues)
            rest.remove(mine[0])
            yield gone_on(replace(state, queues=tuple(rest)), rank, at, mine[0][1])


def posted(state, rank, at, thread, kind, peer, tag):
    number = state.posts
    state = with_thread(state, rank, at, replace(thread, post=number))
    state = replace(state, posts=number + 1)
    if kind == "recv":
        return replace(state, asked=(*state.asked, (peer, tag, rank, number)))
    return replace(state, sent=(*state.sent, (rank, tag, peer, number)))


def buffered(state, script):
    """Sends that are complete without their receives."""
    for rank, threads in enumerate(state.threads):
        for at, thread in enumerate(threads):
            if any(message[3] == thread.post for message in state.sent):
                yield gone_on(state, rank, at)


def gone_on(state, rank, at, *log):
    thread = Thread(state.threads[rank][at].at + 1)
    logs = list(state.logs)
    logs[rank] = (*logs[rank], *((at, each) for each in log))
    return replace(with_thread(state, rank, at, thread), logs=tuple(logs))


def with_thread(state, rank, at, thread):
    threads = [list(each) for each in state.threads]
    threads[rank][at] = thread
    return replace(state, threads=tuple(map(tuple, threads)))
