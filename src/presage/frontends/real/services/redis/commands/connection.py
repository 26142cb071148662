"""Commands on the connection itself."""

from presage.frontends.real.services.redis import errors
from presage.frontends.real.services.redis.commands.arguments import integer, option
from presage.frontends.real.services.redis.commands.keys import database_number
from presage.frontends.real.services.redis.commands.server import VERSION
from presage.frontends.real.services.redis.commands.table import command
from presage.frontends.real.services.redis.errors import CommandError
from presage.frontends.real.services.redis.resp import OK, Map, Reply, Status
from presage.frontends.real.services.redis.session import Session

NO_PASSWORD = (
    "ERR AUTH <password> called without any password configured for the default user. "
    "Are you sure your configuration is correct?"
)


@command("ping", -1, while_subscribed=True)
def ping(session: Session, args: list[bytes]) -> Reply:
    if len(args) > 1:
        raise errors.arity("ping")
    if session.protocol == 2 and session.subscriptions:
        return [b"pong", args[0] if args else b""]
    return args[0] if args else Status("PONG")


@command("echo", 2)
def echo(session: Session, args: list[bytes]) -> Reply:
    return args[0]


@command("select", 2)
def select(session: Session, args: list[bytes]) -> Reply:
    session.database_number = database_number(session, args[0])
    return OK


@command("quit", -1, immediate=True, while_subscribed=True, in_scripts=False)
def quit_(session: Session, args: list[bytes]) -> Reply:
    session.closing = True
    return OK


@command("reset", 1, immediate=True, while_subscribed=True, in_scripts=False)
def reset(session: Session, args: list[bytes]) -> Reply:
    session.end_transaction()
    session.channels.clear()
    session.patterns.clear()
    session.protocol, session.name, session.database_number = 2, b"", 0
    return Status("RESET")


@command("auth", -2, in_scripts=False)
def auth(session: Session, args: list[bytes]) -> Reply:
    if len(args) > 2:
        raise CommandError(errors.SYNTAX)
    if len(args) == 1:
        raise CommandError(NO_PASSWORD)
    check_user(args[0])
    return OK


def check_user(name: bytes) -> None:
    """There is one user, without a password: any password is right for it."""
    if name != b"default":
        raise CommandError("WRONGPASS invalid username-password pair or user is disabled.")


def check_name(name: bytes) -> None:
    if any(not 33 <= char <= 126 for char in name):
        raise CommandError(
            "ERR Client names cannot contain spaces, newlines or special characters."
        )


@command("hello", -1, in_scripts=False)
def hello(session: Session, args: list[bytes]) -> Reply:
    protocol, name = session.protocol, None
    if args:
        protocol = integer(args[0], "ERR Protocol version is not an integer or out of range")
        if protocol not in (2, 3):
            raise CommandError("NOPROTO unsupported protocol version")
    rest = args[1:]
    while rest:
        word = option(rest[0])
        if word == "AUTH" and len(rest) > 2:
            check_user(rest[1])
            rest = rest[3:]
        elif word == "SETNAME" and len(rest) > 1:
            check_name(rest[1])
            name, rest = rest[1], rest[2:]
        else:
            raise CommandError(f"ERR Syntax error in HELLO option '{errors.plain(rest[0])}'")
    session.protocol = protocol
    if name is not None:
        session.name = name
    return Map(
        [
            (b"server", b"redis"),
            (b"version", VERSION.encode()),
            (b"proto", protocol),
            (b"id", session.number),
            (b"mode", b"standalone"),
            (b"role", b"master"),
            (b"modules", []),
        ]
    )
