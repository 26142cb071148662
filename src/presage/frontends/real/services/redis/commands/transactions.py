"""MULTI, EXEC, DISCARD, WATCH."""

from presage.frontends.real.services.redis.commands.table import ALL, COMMANDS, command
from presage.frontends.real.services.redis.errors import CommandError
from presage.frontends.real.services.redis.resp import MISSING, OK, Reply
from presage.frontends.real.services.redis.session import Session


@command("multi", 1, immediate=True, in_scripts=False)
def multi(session: Session, args: list[bytes]) -> Reply:
    if session.queue is not None:
        raise CommandError("ERR MULTI calls can not be nested")
    session.queue = []
    return OK


@command("exec", 1, immediate=True, in_scripts=False)
def exec_(session: Session, args: list[bytes]) -> Reply:
    if session.queue is None:
        raise CommandError("ERR EXEC without MULTI")
    queue, refused, spoiled = session.queue, session.refused, session.spoiled
    session.end_transaction()
    if refused:
        raise CommandError("EXECABORT Transaction discarded because of previous errors.")
    if spoiled:
        return MISSING
    session.inside = True
    try:
        return [session.server.run(session, COMMANDS[each[0].lower()], each) for each in queue]
    finally:
        session.inside = False


@command("discard", 1, immediate=True, in_scripts=False)
def discard(session: Session, args: list[bytes]) -> Reply:
    if session.queue is None:
        raise CommandError("ERR DISCARD without MULTI")
    session.end_transaction()
    return OK


@command("watch", -2, ALL, immediate=True, in_scripts=False)
def watch(session: Session, args: list[bytes]) -> Reply:
    if session.queue is not None:
        raise CommandError("ERR WATCH inside MULTI is not allowed")
    if not session.spoiled:
        for key in args:
            session.watched[session.database_number, key] = None
    return OK


@command("unwatch", 1, in_scripts=False)
def unwatch(session: Session, args: list[bytes]) -> Reply:
    session.watched.clear()
    session.spoiled = False
    return OK
