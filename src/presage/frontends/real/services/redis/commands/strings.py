"""Commands on strings."""

from presage.frontends.real.services.redis import errors
from presage.frontends.real.services.redis.commands.arguments import (
    LEAST,
    MOST,
    added,
    exact,
    integer,
    option,
    pairs,
    span,
)
from presage.frontends.real.services.redis.commands.expiring import moment
from presage.frontends.real.services.redis.commands.table import (
    ALL,
    EVERY_SECOND,
    ONE,
    command,
)
from presage.frontends.real.services.redis.errors import CommandError
from presage.frontends.real.services.redis.resp import MAX_ARGUMENT, OK, Reply
from presage.frontends.real.services.redis.session import Session

TIMES = {"EX", "PX", "EXAT", "PXAT"}


@command("get", 2, ONE)
def get(session: Session, args: list[bytes]) -> Reply:
    return session.database.read(args[0], bytes)


def options(args: list[bytes], flags: set[str]) -> tuple[set[str], tuple[str, bytes] | None]:
    """Those of `flags` that are there, and the time if there is one."""
    found: set[str] = set()
    time: tuple[str, bytes] | None = None
    rest = iter(args)
    for text in rest:
        name = option(text)
        if name in flags:
            found.add(name)
        elif name in TIMES and time is None:
            value = next(rest, None)
            if value is None:
                raise CommandError(errors.SYNTAX)
            time = name, value
        else:
            raise CommandError(errors.SYNTAX)
    if time is not None and found & {"KEEPTTL", "PERSIST"} or {"NX", "XX"} <= found:
        raise CommandError(errors.SYNTAX)
    return found, time


@command("set", -3, ONE)
def set_(session: Session, args: list[bytes]) -> Reply:
    key, value, *rest = args
    found, time = options(rest, {"NX", "XX", "GET", "KEEPTTL"})
    when = None if time is None else moment(session, time[0], time[1], "set")
    database = session.database
    old = database.read(key, bytes) if "GET" in found else None
    absent = key not in database.values
    if ("NX" in found and not absent) or ("XX" in found and absent):
        return old
    database.put(key, value, keep_expiry="KEEPTTL" in found)
    if when is not None:
        database.expire(key, when)
    return old if "GET" in found else OK


@command("setnx", 3, ONE)
def setnx(session: Session, args: list[bytes]) -> Reply:
    if args[0] in session.database.values:
        return 0
    session.database.put(args[0], args[1])
    return 1


def set_until(session: Session, unit: str, name: str, args: list[bytes]) -> Reply:
    when = moment(session, unit, args[1], name)
    session.database.put(args[0], args[2])
    session.database.expire(args[0], when)
    return OK


@command("setex", 4, ONE)
def setex(session: Session, args: list[bytes]) -> Reply:
    return set_until(session, "EX", "setex", args)


@command("psetex", 4, ONE)
def psetex(session: Session, args: list[bytes]) -> Reply:
    return set_until(session, "PX", "psetex", args)


@command("getset", 3, ONE)
def getset(session: Session, args: list[bytes]) -> Reply:
    old = session.database.read(args[0], bytes)
    session.database.put(args[0], args[1])
    return old


@command("getdel", 2, ONE)
def getdel(session: Session, args: list[bytes]) -> Reply:
    old = session.database.read(args[0], bytes)
    session.database.drop(args[0])
    return old


@command("getex", -2, ONE)
def getex(session: Session, args: list[bytes]) -> Reply:
    found, time = options(args[1:], {"PERSIST"})
    value = session.database.read(args[0], bytes)
    if value is None:
        return None
    if "PERSIST" in found:
        session.database.persist(args[0])
    elif time is not None:
        session.database.expire(args[0], moment(session, time[0], time[1], "getex"))
    return value


@command("mget", -2, ALL)
def mget(session: Session, args: list[bytes]) -> Reply:
    values = (session.database.values.get(key) for key in args)
    return [value if isinstance(value, bytes) else None for value in values]


@command("mset", -3, EVERY_SECOND)
def mset(session: Session, args: list[bytes]) -> Reply:
    for key, value in pairs(args, "mset"):
        session.database.put(key, value)
    return OK


@command("msetnx", -3, EVERY_SECOND)
def msetnx(session: Session, args: list[bytes]) -> Reply:
    changes = pairs(args, "msetnx")
    if any(key in session.database.values for key, _value in changes):
        return 0
    for key, value in changes:
        session.database.put(key, value)
    return 1


@command("append", 3, ONE)
def append(session: Session, args: list[bytes]) -> Reply:
    old = session.database.read(args[0], bytes) or b""
    if len(old) + len(args[1]) > MAX_ARGUMENT:
        raise CommandError(errors.TOO_LONG)
    session.database.put(args[0], old + args[1], keep_expiry=True)
    return len(old) + len(args[1])


@command("strlen", 2, ONE)
def strlen(session: Session, args: list[bytes]) -> Reply:
    return len(session.database.read(args[0], bytes) or b"")


@command("getrange", 4, ONE)
@command("substr", 4, ONE)
def getrange(session: Session, args: list[bytes]) -> Reply:
    start, stop = integer(args[1]), integer(args[2])
    text = session.database.read(args[0], bytes) or b""
    if start < 0 and stop < 0 and start > stop:
        return b""
    return text[span(start, max(stop, -len(text)), len(text))]


@command("setrange", 4, ONE)
def setrange(session: Session, args: list[bytes]) -> Reply:
    start = integer(args[1])
    if start < 0:
        raise CommandError("ERR offset is out of range")
    old = session.database.read(args[0], bytes)
    if not args[2]:
        return len(old or b"")
    if start + len(args[2]) > MAX_ARGUMENT:
        raise CommandError(errors.TOO_LONG)
    text = bytearray((old or b"").ljust(start, b"\0"))
    text[start : start + len(args[2])] = args[2]
    session.database.put(args[0], bytes(text), keep_expiry=True)
    return len(text)


def add(session: Session, key: bytes, difference: int) -> int:
    old = session.database.read(key, bytes)
    value = integer(b"0" if old is None else old) + difference
    if not LEAST <= value <= MOST:
        raise CommandError(errors.OVERFLOW)
    session.database.put(key, b"%d" % value, keep_expiry=True)
    return value


@command("incr", 2, ONE)
def incr(session: Session, args: list[bytes]) -> Reply:
    return add(session, args[0], 1)


@command("decr", 2, ONE)
def decr(session: Session, args: list[bytes]) -> Reply:
    return add(session, args[0], -1)


@command("incrby", 3, ONE)
def incrby(session: Session, args: list[bytes]) -> Reply:
    return add(session, args[0], integer(args[1]))


@command("decrby", 3, ONE)
def decrby(session: Session, args: list[bytes]) -> Reply:
    difference = integer(args[1])
    if difference == LEAST:
        raise CommandError("ERR decrement would overflow")
    return add(session, args[0], -difference)


@command("incrbyfloat", 3, ONE)
def incrbyfloat(session: Session, args: list[bytes]) -> Reply:
    old = session.database.read(args[0], bytes)
    value = added(exact(b"0" if old is None else old), exact(args[1]))
    session.database.put(args[0], value, keep_expiry=True)
    return value
