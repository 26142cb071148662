"""Commands on lists, without those that wait."""

from presage.frontends.real.services.redis import errors
from presage.frontends.real.services.redis.commands.arguments import (
    integer,
    option,
    positive,
    span,
)
from presage.frontends.real.services.redis.commands.table import ONE, TWO, command
from presage.frontends.real.services.redis.database import List
from presage.frontends.real.services.redis.errors import CommandError
from presage.frontends.real.services.redis.resp import MISSING, OK, Reply
from presage.frontends.real.services.redis.session import Session


def items_of(session: Session, key: bytes) -> List:
    return session.database.read(key, List) or List()


def push(session: Session, key: bytes, values: list[bytes], *, left: bool) -> int:
    items = session.database.edit(key, List)
    for value in values:
        items.insert(0 if left else len(items), value)
    session.database.changed(key)
    return len(items)


@command("lpush", -3, ONE)
def lpush(session: Session, args: list[bytes]) -> Reply:
    return push(session, args[0], args[1:], left=True)


@command("rpush", -3, ONE)
def rpush(session: Session, args: list[bytes]) -> Reply:
    return push(session, args[0], args[1:], left=False)


@command("lpushx", -3, ONE)
def lpushx(session: Session, args: list[bytes]) -> Reply:
    return push(session, args[0], args[1:], left=True) if items_of(session, args[0]) else 0


@command("rpushx", -3, ONE)
def rpushx(session: Session, args: list[bytes]) -> Reply:
    return push(session, args[0], args[1:], left=False) if items_of(session, args[0]) else 0


def take(session: Session, key: bytes, *, left: bool) -> bytes | None:
    """The first item or the last one, which then is gone."""
    items = session.database.read(key, List)
    if not items:
        return None
    value = items.pop(0 if left else -1)
    session.database.changed(key)
    return value


def pop(session: Session, name: str, args: list[bytes], *, left: bool) -> Reply:
    if len(args) > 2:
        raise errors.arity(name)
    if len(args) == 1:
        return take(session, args[0], left=left)
    count = positive(args[1])
    items = session.database.read(args[0], List)
    if items is None:
        return MISSING
    values = [take(session, args[0], left=left) for _ in range(min(count, len(items)))]
    return values


@command("lpop", -2, ONE)
def lpop(session: Session, args: list[bytes]) -> Reply:
    return pop(session, "lpop", args, left=True)


@command("rpop", -2, ONE)
def rpop(session: Session, args: list[bytes]) -> Reply:
    return pop(session, "rpop", args, left=False)


@command("llen", 2, ONE)
def llen(session: Session, args: list[bytes]) -> Reply:
    return len(items_of(session, args[0]))


@command("lrange", 4, ONE)
def lrange(session: Session, args: list[bytes]) -> Reply:
    start, stop = integer(args[1]), integer(args[2])
    items = items_of(session, args[0])
    return list(items[span(start, stop, len(items))])


@command("lindex", 3, ONE)
def lindex(session: Session, args: list[bytes]) -> Reply:
    items = session.database.read(args[0], List)
    if items is None:
        return None
    place = integer(args[1])
    return items[place] if -len(items) <= place < len(items) else None


@command("lset", 4, ONE)
def lset(session: Session, args: list[bytes]) -> Reply:
    items = session.database.read(args[0], List)
    if items is None:
        raise CommandError(errors.NO_KEY)
    place = integer(args[1])
    if not -len(items) <= place < len(items):
        raise CommandError(errors.OUT_OF_RANGE)
    items[place] = args[2]
    session.database.changed(args[0])
    return OK


@command("lrem", 4, ONE)
def lrem(session: Session, args: list[bytes]) -> Reply:
    count = integer(args[1])
    items = items_of(session, args[0])
    places = [place for place, value in enumerate(items) if value == args[2]]
    places = places[:count] if count > 0 else places[count:]
    for place in reversed(places):
        del items[place]
    if places:
        session.database.changed(args[0])
    return len(places)


@command("ltrim", 4, ONE)
def ltrim(session: Session, args: list[bytes]) -> Reply:
    start, stop = integer(args[1]), integer(args[2])
    items = session.database.read(args[0], List)
    if items is not None:
        items[:] = items[span(start, stop, len(items))]
        session.database.changed(args[0])
    return OK


@command("linsert", 5, ONE)
def linsert(session: Session, args: list[bytes]) -> Reply:
    where = option(args[1])
    if where not in {"BEFORE", "AFTER"}:
        raise CommandError(errors.SYNTAX)
    items = session.database.read(args[0], List)
    if items is None:
        return 0
    if args[2] not in items:
        return -1
    items.insert(items.index(args[2]) + (where == "AFTER"), args[3])
    session.database.changed(args[0])
    return len(items)


@command("lpos", -3, ONE)
def lpos(session: Session, args: list[bytes]) -> Reply:
    rank, count, most = lpos_options(args[2:])
    items = items_of(session, args[0])
    places = range(len(items)) if rank > 0 else range(len(items) - 1, -1, -1)
    looked = list(places)[: most or None]
    found = [place for place in looked if items[place] == args[1]][abs(rank) - 1 :]
    if count is None:
        return found[0] if found else None
    return found[: count or None]


def lpos_options(args: list[bytes]) -> tuple[int, int | None, int]:
    rank, count, most = 1, None, 0
    if len(args) % 2:
        raise CommandError(errors.SYNTAX)
    for name, value in zip(args[::2], args[1::2], strict=True):
        if option(name) == "RANK":
            rank = integer(value)
            if rank == 0:
                raise CommandError(
                    "ERR RANK can't be zero: use 1 to start from the first match, 2 from the "
                    "second ... or use negative to start from the end of the list"
                )
        elif option(name) == "COUNT":
            count = positive(value, "ERR COUNT can't be negative")
        elif option(name) == "MAXLEN":
            most = positive(value, "ERR MAXLEN can't be negative")
        else:
            raise CommandError(errors.SYNTAX)
    return rank, count, most


def is_left(text: bytes) -> bool:
    if option(text) not in {"LEFT", "RIGHT"}:
        raise CommandError(errors.SYNTAX)
    return option(text) == "LEFT"


def shift(session: Session, keys: list[bytes], *, out_left: bool, in_left: bool) -> Reply:
    """Move one item from the first of `keys` to the second."""
    if not items_of(session, keys[0]):
        return None
    items_of(session, keys[1])
    value = take(session, keys[0], left=out_left)
    assert value is not None
    push(session, keys[1], [value], left=in_left)
    return value


@command("lmove", 5, TWO)
def lmove(session: Session, args: list[bytes]) -> Reply:
    out_left, in_left = is_left(args[2]), is_left(args[3])
    return shift(session, args[:2], out_left=out_left, in_left=in_left)


@command("rpoplpush", 3, TWO)
def rpoplpush(session: Session, args: list[bytes]) -> Reply:
    return shift(session, args, out_left=False, in_left=True)
