"""Channels: SUBSCRIBE, PSUBSCRIBE, PUBLISH and PUBSUB."""

from presage.frontends.real.services.redis import errors
from presage.frontends.real.services.redis.commands.arguments import option
from presage.frontends.real.services.redis.commands.table import command
from presage.frontends.real.services.redis.errors import CommandError
from presage.frontends.real.services.redis.globs import matches
from presage.frontends.real.services.redis.resp import SILENT, Push, Reply
from presage.frontends.real.services.redis.session import Session


def join(session: Session, kind: bytes, names: list[bytes], joined: dict[bytes, None]) -> Reply:
    for name in names:
        joined[name] = None
        session.send(Push([kind, name, session.subscriptions]))
    return SILENT


def leave(session: Session, kind: bytes, names: list[bytes], joined: dict[bytes, None]) -> Reply:
    gone = names or list(joined)
    for name in gone:
        joined.pop(name, None)
        session.send(Push([kind, name, session.subscriptions]))
    if not gone:
        session.send(Push([kind, None, session.subscriptions]))
    return SILENT


@command("subscribe", -2, while_subscribed=True, in_scripts=False)
def subscribe(session: Session, args: list[bytes]) -> Reply:
    return join(session, b"subscribe", args, session.channels)


@command("psubscribe", -2, while_subscribed=True, in_scripts=False)
def psubscribe(session: Session, args: list[bytes]) -> Reply:
    return join(session, b"psubscribe", args, session.patterns)


@command("unsubscribe", -1, while_subscribed=True, in_scripts=False)
def unsubscribe(session: Session, args: list[bytes]) -> Reply:
    return leave(session, b"unsubscribe", args, session.channels)


@command("punsubscribe", -1, while_subscribed=True, in_scripts=False)
def punsubscribe(session: Session, args: list[bytes]) -> Reply:
    return leave(session, b"punsubscribe", args, session.patterns)


@command("publish", 3)
def publish(session: Session, args: list[bytes]) -> Reply:
    return session.server.publish(args[0], args[1])


@command("pubsub", -2, subcommands={"CHANNELS": -2, "NUMSUB": -2, "NUMPAT": 2})
def pubsub(session: Session, args: list[bytes]) -> Reply:
    sessions = session.server.sessions.values()
    subcommand, rest = option(args[0]), args[1:]
    if len(rest) > 1 and subcommand == "CHANNELS":
        raise CommandError(errors.SYNTAX)
    if subcommand == "CHANNELS":
        channels = {channel for each in sessions for channel in each.channels}
        return sorted(each for each in channels if not rest or matches(rest[0], each))
    if subcommand == "NUMSUB":
        counts = [(name, sum(name in each.channels for each in sessions)) for name in rest]
        return [part for pair in counts for part in pair]
    return len({pattern for each in sessions for pattern in each.patterns})
