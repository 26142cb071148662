"""Commands on the time that a key has left."""

from presage.frontends.real.services.redis import errors
from presage.frontends.real.services.redis.commands.arguments import MOST, integer, option
from presage.frontends.real.services.redis.commands.table import ONE, command
from presage.frontends.real.services.redis.errors import CommandError
from presage.frontends.real.services.redis.resp import Reply
from presage.frontends.real.services.redis.session import Session

UNITS = {"EX": 1000, "PX": 1, "EXAT": 1000, "PXAT": 1}


def moment(session: Session, unit: str, text: bytes, name: str, *, past: bool = False) -> int:
    """The moment that `text` means, in milliseconds; in the past only if `past`."""
    value = integer(text)
    if value <= 0 and not past:
        raise errors.expire_time(name)
    value *= UNITS[unit]
    if not unit.endswith("AT"):
        value += session.server.now()
    if not -MOST <= value <= MOST:
        raise errors.expire_time(name)
    return value


def conditions(args: list[bytes]) -> set[str]:
    found = {option(text) for text in args}
    for text in args:
        if option(text) not in {"NX", "XX", "GT", "LT"}:
            raise CommandError(f"ERR Unsupported option {errors.plain(text)}")
    if "NX" in found and len(found) > 1:
        raise CommandError("ERR NX and XX, GT or LT options at the same time are not compatible")
    if {"GT", "LT"} <= found:
        raise CommandError("ERR GT and LT options at the same time are not compatible")
    return found


def expire_at(session: Session, unit: str, name: str, args: list[bytes]) -> Reply:
    found = conditions(args[2:])
    when = moment(session, unit, args[1], name, past=True)
    database, key = session.database, args[0]
    if key not in database.values:
        return 0
    old = database.expiries.get(key)
    if (
        ("NX" in found and old is not None)
        or ("XX" in found and old is None)
        or ("GT" in found and (old is None or when <= old))
        or ("LT" in found and old is not None and when >= old)
    ):
        return 0
    if when <= session.server.now():
        database.drop(key)
    else:
        database.expire(key, when)
    return 1


@command("expire", -3, ONE)
def expire(session: Session, args: list[bytes]) -> Reply:
    return expire_at(session, "EX", "expire", args)


@command("pexpire", -3, ONE)
def pexpire(session: Session, args: list[bytes]) -> Reply:
    return expire_at(session, "PX", "pexpire", args)


@command("expireat", -3, ONE)
def expireat(session: Session, args: list[bytes]) -> Reply:
    return expire_at(session, "EXAT", "expireat", args)


@command("pexpireat", -3, ONE)
def pexpireat(session: Session, args: list[bytes]) -> Reply:
    return expire_at(session, "PXAT", "pexpireat", args)


def left(session: Session, key: bytes, *, absolute: bool) -> int:
    """Milliseconds; -1 for a key that stays, -2 for none."""
    if key not in session.database.values:
        return -2
    when = session.database.expiries.get(key)
    if when is None:
        return -1
    return when if absolute else max(0, when - session.server.now())


@command("pttl", 2, ONE)
def pttl(session: Session, args: list[bytes]) -> Reply:
    return left(session, args[0], absolute=False)


@command("ttl", 2, ONE)
def ttl(session: Session, args: list[bytes]) -> Reply:
    value = left(session, args[0], absolute=False)
    return value if value < 0 else (value + 500) // 1000


@command("pexpiretime", 2, ONE)
def pexpiretime(session: Session, args: list[bytes]) -> Reply:
    return left(session, args[0], absolute=True)


@command("expiretime", 2, ONE)
def expiretime(session: Session, args: list[bytes]) -> Reply:
    value = left(session, args[0], absolute=True)
    return value if value < 0 else (value + 500) // 1000


@command("persist", 2, ONE)
def persist(session: Session, args: list[bytes]) -> Reply:
    return int(session.database.persist(args[0]))
