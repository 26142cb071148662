"""Every outcome that MPI allows of a small script, by trying all: the oracle of weak delivery.

Written from the rules of the standard (3.5 "Semantics of Point-to-Point Communication", 3.7.5, 3.8)
and from nothing else. A message and a receive *may* match if no earlier receive that is pending
fits the message, and no earlier message of the same sender that is pending fits the receive. When
they do is not said. A standard send may be complete at once, or only when it is matched. A test may
say no. A script is stuck where nobody can go on unless a send is complete without its receive.
"""

from dataclasses import dataclass, field, replace

ANY = -1


def fits(want, message):
    return want[0] in (ANY, message[0]) and want[1] in (ANY, message[1])


@dataclass(frozen=True)
class Rank:
    at: int = 0
    log: tuple = ()
    names: tuple = ()  # of requests that are open: (name, number of its post)
    posts: int = 0


@dataclass(frozen=True)
class State:
    ranks: tuple
    sent: tuple = ()  # pending messages: (source, tag, to, number, seen)
    asked: tuple = ()  # pending receives: (source, tag, owner, number)
    matched: frozenset = frozenset()  # (owner, number, source, tag) of receives, of sends no source
    arrived: frozenset = frozenset()  # at a barrier: (rank, its statement)


@dataclass
class Outcomes:
    logs: set = field(default_factory=set)  # (rank, log)
    stuck: set = field(default_factory=set)  # sets of ranks


def outcomes(script, may_buffer=True):
    """What each rank may have seen when it has ended, and which ranks may wait for ever."""
    found, seen = Outcomes(), set()
    todo = [State(tuple(Rank() for _ in script))]
    while todo:
        state = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        forced = list(steps(state, script))
        ended = [at for at, rank in enumerate(state.ranks) if rank.at == len(script[at])]
        found.logs |= {(at, state.ranks[at].log) for at in ended}
        if not forced and len(ended) < len(script):
            found.stuck.add(frozenset(range(len(script))) - frozenset(ended))
        todo += forced
        if may_buffer:
            todo += buffered(state, script)
    return found


def steps(state, script):
    """What may happen without room for messages."""
    yield from matches(state)
    for at, rank in enumerate(state.ranks):
        if rank.at < len(script[at]):
            yield from statement(state, at, rank, script[at][rank.at])


def matches(state):
    for message in state.sent:
        source, tag, to, number, _ = message
        receives = [each for each in state.asked if each[2] == to and fits(each, message)]
        if not receives:
            continue
        receive = min(receives, key=lambda each: each[3])
        before = [
            each
            for each in state.sent
            if each[0] == source and each[2] == to and each[3] < number and fits(receive, each)
        ]
        if not before:
            yield replace(
                state,
                sent=tuple(each for each in state.sent if each != message),
                asked=tuple(each for each in state.asked if each != receive),
                matched=state.matched
                | {(to, receive[3], source, tag), (source, number, None, None)},
            )


def statement(state, at, rank, what):
    """The ways in which a rank can go on."""
    kind, *args = what
    here = (at, rank.at)
    if kind in ("send", "ssend", "recv"):
        # Two steps: it posts, and then it waits.
        if not any(name == here for name, _ in rank.names):
            yield posted(state, at, here, what)
        elif (got := complete(state, at, here)) is not None:
            yield gone_on(forget(state, at, here), at, *([got] if kind == "recv" else []))
    elif kind in ("isend", "irecv"):
        yield gone_on(posted(state, at, args[0], (kind[1:], *args[1:])), at)
    elif kind == "wait":
        if args[0] not in dict(rank.names):
            yield gone_on(state, at)
        elif (got := complete(state, at, args[0])) is not None:
            yield gone_on(forget(state, at, args[0]), at, *([got] if got != "sent" else []))
    elif kind == "test":
        yield gone_on(state, at, "no")
        if (got := complete(state, at, args[0])) is not None:
            yield gone_on(forget(state, at, args[0]), at, got)
    elif kind == "waitany":
        names = [name for name in args if name in dict(rank.names)]
        if not names:
            yield gone_on(state, at)
        for name in names:
            if (got := complete(state, at, name)) is not None:
                yield gone_on(forget(state, at, name), at, name, got)
    elif kind in ("probe", "iprobe"):
        yield from probed(state, at, kind, tuple(args))
    elif kind == "barrier":
        yield from barrier(state, at, rank)


def posted(state, at, name, what):
    kind, peer, tag = what
    rank = state.ranks[at]
    number = rank.posts
    rank = replace(rank, posts=number + 1, names=(*rank.names, (name, number)))
    state = with_rank(state, at, rank)
    if kind == "recv":
        return replace(state, asked=(*state.asked, (peer, tag, at, number)))
    message = (at, tag, peer, number, False)
    return replace(state, sent=in_order([*state.sent, message]))


def in_order(messages):
    """Those of one sender to one receiver as they were sent."""
    return tuple(sorted(messages, key=lambda each: (each[0], each[2], each[3])))


def complete(state, at, name):
    """What a receive has got; "sent" of a send that was received; None: not complete."""
    number = dict(state.ranks[at].names)[name]
    for owner, post, source, tag in state.matched:
        if (owner, post) == (at, number):
            return "sent" if source is None else (source, tag)
    return None


def forget(state, at, name):
    rank = state.ranks[at]
    names = tuple(each for each in rank.names if each[0] != name)
    return with_rank(state, at, replace(rank, names=names))


def probed(state, at, kind, want):
    found = {}
    for message in state.sent:
        taken = any(each[2] == at and fits(each, message) for each in state.asked)
        if message[2] == at and fits(want, message):
            found.setdefault(message[0], None if taken else message)
    known = [message for message in found.values() if message is not None]
    fitting = [each for each in state.sent if each[2] == at and fits(want, each)]
    if kind == "iprobe" and not any(seen for *_, seen in fitting):
        yield gone_on(state, at, "no")
    for message in known:
        seen = (*message[:4], True)
        others = [each for each in state.sent if each != message]
        yield gone_on(replace(state, sent=in_order([*others, seen])), at, message[:2])


def barrier(state, at, rank):
    here = (at, rank.at)
    if here not in state.arrived:
        yield replace(state, arrived=state.arrived | {here})
        return
    rounds = [sum(1 for each in state.arrived if each[0] == who) for who in range(len(state.ranks))]
    if min(rounds) >= sum(1 for each in state.arrived if each[0] == at):
        yield gone_on(state, at)


def buffered(state, script):
    """Sends that are complete without their receives."""
    for at, rank in enumerate(state.ranks):
        if rank.at == len(script[at]):
            continue
        kind, *args = script[at][rank.at]
        names = dict(rank.names)
        if kind == "send" and (at, rank.at) in names:
            yield gone_on(forget(state, at, (at, rank.at)), at)
        if kind in ("wait", "test", "waitany"):
            for name in args:
                if any(each[0] == at and each[3] == names.get(name) for each in state.sent):
                    log = {"wait": (), "test": ("sent",), "waitany": (name, "sent")}[kind]
                    yield gone_on(forget(state, at, name), at, *log)


def gone_on(state, at, *log):
    rank = state.ranks[at]
    return with_rank(state, at, replace(rank, at=rank.at + 1, log=(*rank.log, *log)))


def with_rank(state, at, rank):
    return replace(state, ranks=(*state.ranks[:at], rank, *state.ranks[at + 1 :]))
