"""Commands that wait until there is something to take.

Inside a transaction or a script they do not wait: nothing to take is the reply at once.
"""

from presage.frontends.real.services.redis.commands.arguments import timeout
from presage.frontends.real.services.redis.commands.lists import is_left, shift, take
from presage.frontends.real.services.redis.commands.sortedsets import take_extreme
from presage.frontends.real.services.redis.commands.table import TWO, command
from presage.frontends.real.services.redis.database import List, Scores
from presage.frontends.real.services.redis.resp import MISSING, SILENT, Reply
from presage.frontends.real.services.redis.session import Pop, Session


def first_or_wait(
    session: Session,
    request: list[bytes],
    keys: list[bytes],
    pop: Pop,
    seconds: float,
    none: Reply = MISSING,
) -> Reply:
    """What can be taken now; else wait. `none` is the reply where waiting is not allowed."""
    for key in keys:
        reply = pop(key)
        if reply is not None:
            return reply
    if session.inside:
        return none
    session.block(request, keys, pop, seconds)
    return SILENT


def pop_list(session: Session, name: str, args: list[bytes], *, left: bool) -> Reply:
    *keys, wait = args
    seconds = timeout(wait)
    database = session.database

    def pop(key: bytes) -> Reply | None:
        if session.wait is not None and not isinstance(database.values.get(key), List):
            return None
        value = take(session, key, left=left)
        return None if value is None else [key, value]

    return first_or_wait(session, [name.encode(), *args], keys, pop, seconds)


@command("blpop", -3, (1, -2, 1), in_scripts=False)
def blpop(session: Session, args: list[bytes]) -> Reply:
    return pop_list(session, "blpop", args, left=True)


@command("brpop", -3, (1, -2, 1), in_scripts=False)
def brpop(session: Session, args: list[bytes]) -> Reply:
    return pop_list(session, "brpop", args, left=False)


def shift_or_wait(
    session: Session, name: str, args: list[bytes], sides: tuple[bool, bool]
) -> Reply:
    keys, seconds = args[:2], timeout(args[-1])
    database = session.database

    def pop(key: bytes) -> Reply | None:
        if session.wait is not None and not isinstance(database.values.get(key), List):
            return None
        return shift(session, keys, out_left=sides[0], in_left=sides[1])

    return first_or_wait(session, [name.encode(), *args], keys[:1], pop, seconds, None)


@command("blmove", 6, TWO, in_scripts=False)
def blmove(session: Session, args: list[bytes]) -> Reply:
    sides = is_left(args[2]), is_left(args[3])
    return shift_or_wait(session, "blmove", args, sides)


@command("brpoplpush", 4, TWO, in_scripts=False)
def brpoplpush(session: Session, args: list[bytes]) -> Reply:
    return shift_or_wait(session, "brpoplpush", args, (False, True))


def pop_scores(session: Session, name: str, args: list[bytes], *, least: bool) -> Reply:
    *keys, wait = args
    seconds = timeout(wait)
    database = session.database

    def pop(key: bytes) -> Reply | None:
        if session.wait is not None and not isinstance(database.values.get(key), Scores):
            return None
        pair = take_extreme(session, key, least=least)
        return None if pair is None else [key, *pair]

    return first_or_wait(session, [name.encode(), *args], keys, pop, seconds)


@command("bzpopmin", -3, (1, -2, 1), in_scripts=False)
def bzpopmin(session: Session, args: list[bytes]) -> Reply:
    return pop_scores(session, "bzpopmin", args, least=True)


@command("bzpopmax", -3, (1, -2, 1), in_scripts=False)
def bzpopmax(session: Session, args: list[bytes]) -> Reply:
    return pop_scores(session, "bzpopmax", args, least=False)
