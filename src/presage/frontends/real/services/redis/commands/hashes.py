"""Commands on hashes."""

import math
import random

from presage.frontends.real.services.redis import errors
from presage.frontends.real.services.redis.commands.arguments import (
    LEAST,
    MOST,
    added,
    exact,
    floating,
    integer,
    option,
    pairs,
)
from presage.frontends.real.services.redis.commands.table import ONE, command
from presage.frontends.real.services.redis.database import Hash
from presage.frontends.real.services.redis.errors import CommandError
from presage.frontends.real.services.redis.resp import OK, Map, Reply
from presage.frontends.real.services.redis.session import Session


def fields_of(session: Session, key: bytes) -> Hash:
    return session.database.read(key, Hash) or Hash()


def store(session: Session, name: str, args: list[bytes]) -> int:
    changes = pairs(args[1:], name)
    fields = session.database.edit(args[0], Hash)
    before = len(fields)
    fields.update(changes)
    session.database.changed(args[0])
    return len(fields) - before


@command("hset", -4, ONE)
def hset(session: Session, args: list[bytes]) -> Reply:
    return store(session, "hset", args)


@command("hmset", -4, ONE)
def hmset(session: Session, args: list[bytes]) -> Reply:
    store(session, "hmset", args)
    return OK


@command("hsetnx", 4, ONE)
def hsetnx(session: Session, args: list[bytes]) -> Reply:
    if args[1] in fields_of(session, args[0]):
        return 0
    return store(session, "hsetnx", args)


@command("hget", 3, ONE)
def hget(session: Session, args: list[bytes]) -> Reply:
    return fields_of(session, args[0]).get(args[1])


@command("hmget", -3, ONE)
def hmget(session: Session, args: list[bytes]) -> Reply:
    fields = fields_of(session, args[0])
    return [fields.get(name) for name in args[1:]]


@command("hgetall", 2, ONE)
def hgetall(session: Session, args: list[bytes]) -> Reply:
    return Map(list(fields_of(session, args[0]).items()))


@command("hkeys", 2, ONE)
def hkeys(session: Session, args: list[bytes]) -> Reply:
    return list(fields_of(session, args[0]))


@command("hvals", 2, ONE)
def hvals(session: Session, args: list[bytes]) -> Reply:
    return list(fields_of(session, args[0]).values())


@command("hlen", 2, ONE)
def hlen(session: Session, args: list[bytes]) -> Reply:
    return len(fields_of(session, args[0]))


@command("hexists", 3, ONE)
def hexists(session: Session, args: list[bytes]) -> Reply:
    return int(args[1] in fields_of(session, args[0]))


@command("hstrlen", 3, ONE)
def hstrlen(session: Session, args: list[bytes]) -> Reply:
    return len(fields_of(session, args[0]).get(args[1], b""))


@command("hdel", -3, ONE)
def hdel(session: Session, args: list[bytes]) -> Reply:
    fields = fields_of(session, args[0])
    count = sum(fields.pop(name, None) is not None for name in args[1:])
    if count:
        session.database.changed(args[0])
    return count


@command("hincrby", 4, ONE)
def hincrby(session: Session, args: list[bytes]) -> Reply:
    difference = integer(args[2])
    old = fields_of(session, args[0]).get(args[1], b"0")
    value = integer(old, "ERR hash value is not an integer") + difference
    if not LEAST <= value <= MOST:
        raise CommandError(errors.OVERFLOW)
    store(session, "hincrby", [args[0], args[1], b"%d" % value])
    return value


@command("hincrbyfloat", 4, ONE)
def hincrbyfloat(session: Session, args: list[bytes]) -> Reply:
    if floating(args[2]) in (math.inf, -math.inf):
        raise CommandError("ERR value is NaN or Infinity")
    difference = exact(args[2])
    old = fields_of(session, args[0]).get(args[1], b"0")
    value = added(exact(old, "ERR hash value is not a float"), difference)
    store(session, "hincrbyfloat", [args[0], args[1], value])
    return value


@command("hrandfield", -2, ONE)
def hrandfield(session: Session, args: list[bytes]) -> Reply:
    fields = fields_of(session, args[0])
    names = list(fields)
    if len(args) == 1:
        return random.choice(names) if names else None
    count = integer(args[1])
    values = len(args) == 3 and option(args[2]) == "WITHVALUES"
    if len(args) > 2 and not values:
        raise CommandError(errors.SYNTAX)
    chosen = some(names, count)
    if not values:
        return chosen
    if session.protocol == 3:
        return [[name, fields[name]] for name in chosen]
    return [part for name in chosen for part in (name, fields[name])]


def some(names: list[bytes], count: int) -> list[bytes]:
    """At most `count` different ones; as many as asked, perhaps again, if `count` is negative."""
    if count < 0:
        limit = min(-count, 1_000_000)
        return [random.choice(names) for _ in range(limit)] if names else []
    return random.sample(names, min(count, len(names)))
