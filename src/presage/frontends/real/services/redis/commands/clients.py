"""CLIENT: names, numbers and the end of connections."""

from collections.abc import Callable

from presage.frontends.real.services.redis import errors
from presage.frontends.real.services.redis.commands.arguments import integer, option
from presage.frontends.real.services.redis.commands.connection import check_name
from presage.frontends.real.services.redis.commands.table import command
from presage.frontends.real.services.redis.errors import CommandError
from presage.frontends.real.services.redis.resp import MISSING, OK, Failure, Reply, Text
from presage.frontends.real.services.redis.session import Session

UNBLOCKED = "UNBLOCKED client unblocked via CLIENT UNBLOCK"


def client_id(session: Session, args: list[bytes]) -> Reply:
    return session.number


def getname(session: Session, args: list[bytes]) -> Reply:
    return session.name or None


def setname(session: Session, args: list[bytes]) -> Reply:
    check_name(args[0])
    session.name = args[0]
    return OK


def setinfo(session: Session, args: list[bytes]) -> Reply:
    name = option(args[0])
    if name not in {"LIB-NAME", "LIB-VER"}:
        raise CommandError(f"ERR Unrecognized option '{errors.plain(args[0])}'")
    if any(not 33 <= char <= 126 for char in args[1]):
        text = name.lower()
        raise CommandError(f"ERR {text} cannot contain spaces, newlines or special characters.")
    session.library[name.lower()] = args[1]
    return OK


def describe(session: Session) -> str:
    """The line of CLIENT LIST: what is known here; the rest is as Redis shows an idle client."""
    server = session.server
    flags = ("P" if session.subscriptions else "") + ("b" if session.wait else "")
    flags += ("x" if session.queue is not None else "") + ("d" if session.spoiled else "")
    facts = {
        "id": session.number,
        "addr": session.address,
        "laddr": session.own_address,
        "fd": session.number + 7,
        "name": errors.plain(session.name),
        "age": (server.now() - session.born) // 1000,
        "idle": 0,
        "flags": flags or "N",
        "db": session.database_number,
        "sub": len(session.channels),
        "psub": len(session.patterns),
        "ssub": 0,
        "multi": -1 if session.queue is None else len(session.queue),
        "qbuf": len(session.requests.unread),
        "qbuf-free": 0,
        "argv-mem": 0,
        "multi-mem": 0,
        "tot-mem": 0,
        "events": "r",
        "cmd": session.last_command,
        "user": "default",
        "redir": -1,
        "resp": session.protocol,
        "lib-name": errors.plain(session.library.get("lib-name", b"")),
        "lib-ver": errors.plain(session.library.get("lib-ver", b"")),
    }
    return " ".join(f"{name}={value}" for name, value in facts.items())


def kind(session: Session) -> str:
    return "pubsub" if session.subscriptions else "normal"


def info(session: Session, args: list[bytes]) -> Reply:
    return Text(describe(session) + "\n")


def list_(session: Session, args: list[bytes]) -> Reply:
    sessions = list(session.server.sessions.values())
    if args and option(args[0]) == "TYPE" and len(args) == 2:
        wanted = args[1].decode("latin-1").lower()
        if wanted not in {"normal", "pubsub", "master", "replica", "slave"}:
            raise CommandError(f"ERR Unknown client type '{errors.plain(args[1])}'")
        sessions = [each for each in sessions if kind(each) == wanted]
    elif args and option(args[0]) == "ID" and len(args) > 1:
        numbers = {integer(text, "ERR Invalid client ID") for text in args[1:]}
        sessions = [each for each in sessions if each.number in numbers]
    elif args:
        raise CommandError(errors.SYNTAX)
    return Text("".join(describe(each) + "\n" for each in sessions))


def end(session: Session, victim: Session) -> None:
    victim.closing = True
    if victim is not session:
        victim.server.waiting.pop(victim, None)


def kill(session: Session, args: list[bytes]) -> Reply:
    sessions = list(session.server.sessions.values())
    if len(args) == 1:
        for each in sessions:
            if each.address.encode() == args[0]:
                end(session, each)
                return OK
        raise CommandError("ERR No such client")
    if len(args) % 2:
        raise CommandError(errors.SYNTAX)
    skip_me = True
    for name, value in zip(args[::2], args[1::2], strict=True):
        word = option(name)
        if word == "ID":
            number = integer(value, "ERR client-id should be greater than 0")
            sessions = [each for each in sessions if each.number == number]
        elif word == "ADDR":
            sessions = [each for each in sessions if each.address.encode() == value]
        elif word == "LADDR":
            sessions = [each for each in sessions if each.own_address.encode() == value]
        elif word == "USER":
            sessions = [each for each in sessions if value == b"default"]
        elif word == "TYPE":
            sessions = [each for each in sessions if kind(each).encode() == value.lower()]
        elif word == "SKIPME" and option(value) in {"YES", "NO"}:
            skip_me = option(value) == "YES"
        else:
            raise CommandError(errors.SYNTAX)
    victims = [each for each in sessions if each is not session or not skip_me]
    for each in victims:
        end(session, each)
    return len(victims)


def unblock(session: Session, args: list[bytes]) -> Reply:
    as_error = len(args) == 2 and option(args[1]) == "ERROR"
    if len(args) == 2 and option(args[1]) not in {"ERROR", "TIMEOUT"}:
        raise CommandError("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
    victim = session.server.sessions.get(integer(args[0]))
    if victim is None or victim.wait is None:
        return 0
    session.server.resume(victim, Failure(UNBLOCKED) if as_error else MISSING)
    return 1


def accept_switch(session: Session, args: list[bytes]) -> Reply:
    """What has no effect here: nothing is evicted, and no key has an age."""
    if option(args[0]) not in {"ON", "OFF"}:
        raise CommandError(errors.SYNTAX)
    return OK


SUBCOMMANDS: dict[str, tuple[Callable[[Session, list[bytes]], Reply], int]] = {
    "ID": (client_id, 2),
    "GETNAME": (getname, 2),
    "SETNAME": (setname, 3),
    "SETINFO": (setinfo, 4),
    "INFO": (info, 2),
    "LIST": (list_, -2),
    "KILL": (kill, -3),
    "UNBLOCK": (unblock, -3),
    "NO-EVICT": (accept_switch, 3),
    "NO-TOUCH": (accept_switch, 3),
}


@command(
    "client",
    -2,
    in_scripts=False,
    subcommands={name: arity for name, (_function, arity) in SUBCOMMANDS.items()},
)
def client(session: Session, args: list[bytes]) -> Reply:
    return SUBCOMMANDS[option(args[0])][0](session, args[1:])
