"""Commands on sets."""

from collections.abc import Callable
from functools import reduce

from presage.frontends.real.services.redis import errors
from presage.frontends.real.services.redis.commands.arguments import (
    integer,
    is_integer,
    option,
    positive,
)
from presage.frontends.real.services.redis.commands.hashes import some
from presage.frontends.real.services.redis.commands.table import ALL, ONE, TWO, command
from presage.frontends.real.services.redis.database import Set
from presage.frontends.real.services.redis.errors import CommandError
from presage.frontends.real.services.redis.resp import Members, Reply
from presage.frontends.real.services.redis.session import Session

Operation = Callable[[set[bytes], set[bytes]], set[bytes]]


def members_of(session: Session, key: bytes) -> Set:
    return session.database.read(key, Set) or Set()


def in_order(members: set[bytes]) -> list[bytes]:
    """Numbers as Redis keeps sets of numbers, other members as bytes."""
    if all(is_integer(member) for member in members):
        return sorted(members, key=int)
    return sorted(members)


@command("sadd", -3, ONE)
def sadd(session: Session, args: list[bytes]) -> Reply:
    members = session.database.edit(args[0], Set)
    before = len(members)
    members.update(args[1:])
    if len(members) > before:
        session.database.changed(args[0])
    return len(members) - before


@command("srem", -3, ONE)
def srem(session: Session, args: list[bytes]) -> Reply:
    members = members_of(session, args[0])
    before = len(members)
    members.difference_update(args[1:])
    if len(members) < before:
        session.database.changed(args[0])
    return before - len(members)


@command("smembers", 2, ONE)
def smembers(session: Session, args: list[bytes]) -> Reply:
    return Members(list(in_order(members_of(session, args[0]))))


@command("scard", 2, ONE)
def scard(session: Session, args: list[bytes]) -> Reply:
    return len(members_of(session, args[0]))


@command("sismember", 3, ONE)
def sismember(session: Session, args: list[bytes]) -> Reply:
    return int(args[1] in members_of(session, args[0]))


@command("smismember", -3, ONE)
def smismember(session: Session, args: list[bytes]) -> Reply:
    members = members_of(session, args[0])
    return [int(member in members) for member in args[1:]]


@command("smove", 4, TWO)
def smove(session: Session, args: list[bytes]) -> Reply:
    source = session.database.read(args[0], Set)
    if source is None:
        return 0
    target = members_of(session, args[1])
    if args[2] not in source:
        return 0
    if args[0] != args[1]:
        source.discard(args[2])
        session.database.changed(args[0])
        if args[2] not in target:
            session.database.edit(args[1], Set).add(args[2])
            session.database.changed(args[1])
    return 1


@command("spop", -2, ONE)
def spop(session: Session, args: list[bytes]) -> Reply:
    if len(args) > 2:
        raise CommandError(errors.SYNTAX)
    count = positive(args[1]) if len(args) == 2 else None
    members = members_of(session, args[0])
    taken = some(in_order(members), 1 if count is None else count)
    if taken:
        members.difference_update(taken)
        session.database.changed(args[0])
    if count is None:
        return taken[0] if taken else None
    return Members(list(taken))


@command("srandmember", -2, ONE)
def srandmember(session: Session, args: list[bytes]) -> Reply:
    if len(args) > 2:
        raise CommandError(errors.SYNTAX)
    count = integer(args[1]) if len(args) == 2 else None
    chosen = some(in_order(members_of(session, args[0])), 1 if count is None else count)
    if count is None:
        return chosen[0] if chosen else None
    return chosen


def combined(session: Session, keys: list[bytes], operation: Operation) -> set[bytes]:
    sets: list[set[bytes]] = [members_of(session, key) for key in keys]
    return reduce(operation, sets[1:], set(sets[0]))


def intersection(left: set[bytes], right: set[bytes]) -> set[bytes]:
    return left & right


def union(left: set[bytes], right: set[bytes]) -> set[bytes]:
    return left | right


def difference(left: set[bytes], right: set[bytes]) -> set[bytes]:
    return left - right


def shown(session: Session, keys: list[bytes], operation: Operation) -> Reply:
    return Members(list(in_order(combined(session, keys, operation))))


def stored(session: Session, args: list[bytes], operation: Operation) -> Reply:
    members = Set(combined(session, args[1:], operation))
    if members:
        session.database.put(args[0], members)
    else:
        session.database.drop(args[0])
    return len(members)


@command("sinter", -2, ALL)
def sinter(session: Session, args: list[bytes]) -> Reply:
    return shown(session, args, intersection)


@command("sunion", -2, ALL)
def sunion(session: Session, args: list[bytes]) -> Reply:
    return shown(session, args, union)


@command("sdiff", -2, ALL)
def sdiff(session: Session, args: list[bytes]) -> Reply:
    return shown(session, args, difference)


@command("sinterstore", -3, ALL)
def sinterstore(session: Session, args: list[bytes]) -> Reply:
    return stored(session, args, intersection)


@command("sunionstore", -3, ALL)
def sunionstore(session: Session, args: list[bytes]) -> Reply:
    return stored(session, args, union)


@command("sdiffstore", -3, ALL)
def sdiffstore(session: Session, args: list[bytes]) -> Reply:
    return stored(session, args, difference)


@command("sintercard", -3)
def sintercard(session: Session, args: list[bytes]) -> Reply:
    count = integer(args[0], "ERR numkeys should be greater than 0")
    if count <= 0:
        raise CommandError("ERR numkeys should be greater than 0")
    if count > len(args) - 1:
        raise CommandError("ERR Number of keys can't be greater than number of args")
    limit, rest = 0, args[1 + count :]
    if rest:
        if len(rest) != 2 or option(rest[0]) != "LIMIT":
            raise CommandError(errors.SYNTAX)
        limit = positive(rest[1], "ERR LIMIT can't be negative")
    size = len(combined(session, args[1 : 1 + count], intersection))
    return min(size, limit) if limit else size
