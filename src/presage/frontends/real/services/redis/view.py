"""The whole state of the server as plain values: all that a reply can depend on.

Two states with equal views answer equally for ever, so they may be merged. So the view has what
a program never asks for, too: unread bytes, open transactions, the clock. Text is shown as text,
other bytes as bytes, and the kinds of values have different types, so no two states look alike.
"""

from typing import Any

from presage.frontends.real.services.redis.database import Database, Hash, List, Scores, Set
from presage.frontends.real.services.redis.server import Server
from presage.frontends.real.services.redis.session import Session

Shown = str | bytes


def text(data: bytes) -> Shown:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def plain(value: Any) -> Any:
    if isinstance(value, Hash):
        return [(text(name), text(each)) for name, each in value.items()]
    if isinstance(value, List):
        return tuple(text(item) for item in value)
    if isinstance(value, Set):
        return frozenset(text(member) for member in value)
    if isinstance(value, Scores):
        return {text(member): score for member, score in value.items()}
    return text(value)


def contents(database: Database) -> dict[Shown, Any]:
    return {text(key): plain(value) for key, value in database.values.items()}


def expiries(database: Database) -> dict[Shown, int]:
    return {text(key): moment for key, moment in database.expiries.items()}


def connection(session: Session) -> dict[str, Any]:
    wait = session.wait
    return {
        "number": session.number,
        "address": session.address,
        "born": session.born,
        "protocol": session.protocol,
        "name": text(session.name),
        "library": {name: text(value) for name, value in session.library.items()},
        "database": session.database_number,
        "queue": None
        if session.queue is None
        else [[text(word) for word in request] for request in session.queue],
        "refused": session.refused,
        "watched": [(number, text(key)) for number, key in session.watched],
        "spoiled": session.spoiled,
        "channels": [text(channel) for channel in session.channels],
        "patterns": [text(pattern) for pattern in session.patterns],
        "wait": None if wait is None else ([text(word) for word in wait.request], wait.deadline),
        "last_command": session.last_command,
        "unread": bytes(session.requests.unread),
    }


def view(server: Server) -> dict[str, Any]:
    """The fields of a node that is a Redis; `data` is database 0, where most programs stay."""
    first, *rest = server.databases
    filled = [(number, each) for number, each in enumerate(rest, 1) if each.values]
    return {
        "data": contents(first),
        "expiries": expiries(first),
        "others": {number: (contents(each), expiries(each)) for number, each in filled},
        "clients": [connection(session) for session in server.sessions.values()],
        "waiting": [session.number for session in server.waiting],
        "clock": server.clock,
        "memory": (
            server.started,
            server.last_number,
            sorted(server.scripts),
            sorted(server.settings.items()),
        ),
    }
