"""Commands on keys of any kind."""

import copy as copies
import random

from presage.frontends.real.services.redis import errors
from presage.frontends.real.services.redis.commands.arguments import integer, option
from presage.frontends.real.services.redis.commands.table import ALL, ONE, TWO, command
from presage.frontends.real.services.redis.database import Database, type_name
from presage.frontends.real.services.redis.errors import CommandError
from presage.frontends.real.services.redis.globs import matches
from presage.frontends.real.services.redis.resp import OK, Reply, Status
from presage.frontends.real.services.redis.session import Session


@command("del", -2, ALL)
@command("unlink", -2, ALL)
def delete(session: Session, args: list[bytes]) -> Reply:
    return sum(session.database.drop(key) for key in args)


@command("exists", -2, ALL)
@command("touch", -2, ALL)
def exists(session: Session, args: list[bytes]) -> Reply:
    return sum(key in session.database.values for key in args)


@command("type", 2, ONE)
def type_(session: Session, args: list[bytes]) -> Reply:
    value = session.database.values.get(args[0])
    return Status("none" if value is None else type_name(value))


@command("keys", 2)
def keys(session: Session, args: list[bytes]) -> Reply:
    return sorted(key for key in session.database.values if matches(args[0], key))


@command("randomkey", 1)
def randomkey(session: Session, args: list[bytes]) -> Reply:
    names = sorted(session.database.values)
    return random.choice(names) if names else None


@command("dbsize", 1)
def dbsize(session: Session, args: list[bytes]) -> Reply:
    return len(session.database.values)


def carry(source: Database, key: bytes, target: Database, name: bytes) -> None:
    """Move the value of `key` and its expiry."""
    value, when = source.values[key], source.expiries.get(key)
    source.drop(key)
    target.put(name, value)
    if when is not None:
        target.expire(name, when)


@command("rename", 3, TWO)
def rename(session: Session, args: list[bytes]) -> Reply:
    if args[0] not in session.database.values:
        raise CommandError(errors.NO_KEY)
    if args[0] != args[1]:
        carry(session.database, args[0], session.database, args[1])
    return OK


@command("renamenx", 3, TWO)
def renamenx(session: Session, args: list[bytes]) -> Reply:
    if args[0] not in session.database.values:
        raise CommandError(errors.NO_KEY)
    if args[1] in session.database.values:
        return 0
    carry(session.database, args[0], session.database, args[1])
    return 1


def database_number(session: Session, text: bytes) -> int:
    number = integer(text)
    if not -(2**31) <= number < 2**31:
        raise CommandError(
            "ERR value is out of range, value must between -2147483648 and 2147483647"
        )
    if not 0 <= number < len(session.server.databases):
        raise CommandError("ERR DB index is out of range")
    return number


@command("move", 3, ONE)
def move(session: Session, args: list[bytes]) -> Reply:
    number = database_number(session, args[1])
    target = session.server.databases[number]
    if target is session.database:
        raise CommandError("ERR source and destination objects are the same")
    if args[0] not in session.database.values or args[0] in target.values:
        return 0
    carry(session.database, args[0], target, args[0])
    return 1


@command("copy", -3, TWO)
def copy(session: Session, args: list[bytes]) -> Reply:
    source, target, replace = session.database, session.database, False
    rest = iter(args[2:])
    for text in rest:
        if option(text) == "REPLACE":
            replace = True
        elif option(text) == "DB" and (number := next(rest, None)) is not None:
            place = database_number(session, number)
            target = session.server.databases[place]
        else:
            raise CommandError(errors.SYNTAX)
    if source is target and args[0] == args[1]:
        raise CommandError("ERR source and destination objects are the same")
    value = source.values.get(args[0])
    if value is None or (args[1] in target.values and not replace):
        return 0
    target.put(args[1], copies.copy(value))
    if args[0] in source.expiries:
        target.expire(args[1], source.expiries[args[0]])
    return 1


def flush_mode(args: list[bytes]) -> None:
    if len(args) > 1 or (args and option(args[0]) not in {"SYNC", "ASYNC"}):
        raise CommandError(errors.SYNTAX)


@command("flushdb", -1)
def flushdb(session: Session, args: list[bytes]) -> Reply:
    flush_mode(args)
    session.database.clear()
    return OK


@command("flushall", -1)
def flushall(session: Session, args: list[bytes]) -> Reply:
    flush_mode(args)
    for database in session.server.databases:
        database.clear()
    return OK
