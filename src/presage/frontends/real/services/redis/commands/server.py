"""Commands on the server: INFO, COMMAND, CONFIG, TIME. As much as clients ask at their start."""

import time as clock

from presage.frontends.real.services.redis import errors
from presage.frontends.real.services.redis.commands.arguments import option, pairs
from presage.frontends.real.services.redis.commands.table import COMMANDS, Command, command
from presage.frontends.real.services.redis.errors import CommandError
from presage.frontends.real.services.redis.globs import matches
from presage.frontends.real.services.redis.resp import OK, Map, Reply, Status, Text
from presage.frontends.real.services.redis.session import Session

VERSION = "7.0.15"
SETTINGS = {
    "appendonly": b"no",
    "databases": b"16",
    "maxmemory": b"0",
    "maxmemory-policy": b"noeviction",
    "save": b"",
    "timeout": b"0",
}


def sections(session: Session) -> dict[str, dict[str, object]]:
    server = session.server
    filled = [(n, each) for n, each in enumerate(server.databases) if each.values]
    return {
        "Server": {
            "redis_version": VERSION,
            "redis_mode": "standalone",
            "arch_bits": 64,
            "tcp_port": session.own_address.rsplit(":", 1)[-1],
            "uptime_in_seconds": (server.now() - server.started) // 1000,
        },
        "Clients": {
            "connected_clients": len(server.sessions),
            "blocked_clients": len(server.waiting),
        },
        "Persistence": {"loading": 0, "rdb_last_save_time": server.started // 1000},
        "Replication": {"role": "master", "connected_slaves": 0},
        "Cluster": {"cluster_enabled": 0},
        "Keyspace": {
            f"db{number}": f"keys={len(each.values)},expires={len(each.expiries)},avg_ttl=0"
            for number, each in filled
        },
    }


@command("info", -1)
def info(session: Session, args: list[bytes]) -> Reply:
    names = {text.decode("latin-1").lower() for text in args}
    everything = not names or bool(names & {"all", "default", "everything"})
    lines: list[str] = []
    for title, facts in sections(session).items():
        if everything or title.lower() in names:
            lines += [f"# {title}", *(f"{name}:{value}" for name, value in facts.items()), ""]
    return Text("\r\n".join(lines))


def description(each: Command) -> Reply:
    flags = [Status("fast")] if each.in_scripts else [Status("noscript")]
    return [each.name.encode(), each.arity, flags, *each.keys, [], [], [], []]


@command("command", -1, subcommands={"COUNT": 2, "LIST": -2, "INFO": -2, "DOCS": -2})
def command_(session: Session, args: list[bytes]) -> Reply:
    if not args:
        return [description(each) for each in COMMANDS.values()]
    word = option(args[0])
    if word == "COUNT":
        return len(COMMANDS)
    if word == "LIST":
        return list(COMMANDS)
    if word == "INFO":
        wanted = [COMMANDS.get(name.lower()) for name in args[1:]] or list(COMMANDS.values())
        return [None if each is None else description(each) for each in wanted]
    return Map([])


@command("config", -2, in_scripts=False, subcommands={"GET": -3, "SET": -4, "RESETSTAT": 2})
def config(session: Session, args: list[bytes]) -> Reply:
    word = option(args[0])
    settings = {**SETTINGS, **session.server.settings}
    if word == "RESETSTAT":
        return OK
    if word == "GET":
        patterns = [pattern.lower() for pattern in args[1:]]
        names = [n for n in settings if any(matches(p, n.encode()) for p in patterns)]
        return Map([(name.encode(), settings[name]) for name in names])
    for name in args[1::2]:
        if len(args) % 2 == 0 or name.decode("latin-1").lower() not in SETTINGS:
            raise CommandError(
                f"ERR Unknown option or number of arguments for CONFIG SET - '{errors.plain(name)}'"
            )
    for name, value in pairs(args[1:], "config|set"):
        session.server.settings[name.decode("latin-1").lower()] = value
    return OK


@command("time", 1)
def time(session: Session, args: list[bytes]) -> Reply:
    seconds, nanoseconds = divmod(clock.time_ns(), 1_000_000_000)
    return [b"%d" % seconds, b"%d" % (nanoseconds // 1000)]
