"""EVAL, EVALSHA and SCRIPT: several commands as one."""

import hashlib

from presage.frontends.real.services.redis import errors
from presage.frontends.real.services.redis.commands.arguments import integer, option
from presage.frontends.real.services.redis.commands.table import COMMANDS, command
from presage.frontends.real.services.redis.errors import CommandError
from presage.frontends.real.services.redis.lua.library import at, library, module, text
from presage.frontends.real.services.redis.lua.machine import Machine, TooLong
from presage.frontends.real.services.redis.lua.parser import parse
from presage.frontends.real.services.redis.lua.tokens import LuaSyntaxError
from presage.frontends.real.services.redis.lua.values import (
    Function,
    LuaError,
    Table,
    Value,
    to_text,
)
from presage.frontends.real.services.redis.resp import (
    MISSING,
    OK,
    Failure,
    Map,
    Members,
    Reply,
    Scored,
    Status,
    Text,
    double,
)
from presage.frontends.real.services.redis.session import Session

NO_SCRIPT = "NOSCRIPT No matching script. Please use EVAL."
DEPTH_MAX = 100


def sha(source: bytes) -> bytes:
    return hashlib.sha1(source).hexdigest().encode()


def to_lua(reply: Reply) -> Value:
    """A reply as a script sees it."""
    if isinstance(reply, bool) or reply is None or reply is MISSING:
        return False
    if isinstance(reply, int):
        return float(reply)
    if isinstance(reply, float):
        return double(reply)
    if isinstance(reply, Text):
        return reply.text.encode("latin-1", "replace")
    if isinstance(reply, Status):
        return module("", {"ok": reply.text.encode("latin-1")})
    if isinstance(reply, Failure):
        return module("", {"err": reply.text.encode("latin-1", "replace")})
    if isinstance(reply, Map | Scored):
        reply = [part for pair in reply.pairs for part in pair]
    if isinstance(reply, Members):
        reply = reply.items
    if isinstance(reply, list):
        return Table([to_lua(each) for each in reply])
    return reply


def to_reply(value: Value, depth: int = 0) -> Reply:
    """What a script returns, as a reply."""
    if depth > DEPTH_MAX:
        return Failure("ERR reached lua stack limit")
    if isinstance(value, bool):
        return 1 if value else None
    if isinstance(value, float):
        return int(value) if abs(value) < 2**63 else -(2**63)
    if isinstance(value, Table):
        problem, status = value.get(b"err"), value.get(b"ok")
        if isinstance(problem, bytes):
            return Failure(worded(problem))
        if isinstance(status, bytes):
            return Status(errors.plain(status))
        return [to_reply(each, depth + 1) for each in value.array()]
    return value if isinstance(value, bytes) else None


def worded(problem: bytes) -> str:
    return errors.plain(problem).removeprefix("-")


class Script:
    """One run of a script for a session."""

    def __init__(self, session: Session, source: bytes) -> None:
        self.session = session
        self.source = source
        self.machine = Machine({})

    def run(self, keys: list[bytes], arguments: list[bytes]) -> Reply:
        session, machine = self.session, self.machine
        machine.globals |= library(machine.call)
        machine.globals |= {"KEYS": Table(keys), "ARGV": Table(arguments), "redis": self.redis()}
        inside, number = session.inside, session.database_number
        session.inside = True
        try:
            return to_reply(at(machine.run(parse(self.source)), 0))
        except LuaSyntaxError as error:
            raise CommandError(f"ERR Error compiling script (new function): {error}") from None
        except LuaError as error:
            raise CommandError(self.blame(error)) from None
        except TooLong:
            raise CommandError("ERR Script killed: it did not end") from None
        finally:
            session.inside, session.database_number = inside, number

    def blame(self, error: LuaError) -> str:
        """An error that the script did not catch, with the script and the line."""
        where = f"script: {sha(self.source).decode()}, on @user_script:{error.line}."
        if isinstance(error.value, Table):
            problem = error.value.get(b"err")
            return (
                f"{worded(problem) if isinstance(problem, bytes) else 'ERR unknown error'} {where}"
            )
        said = to_text(error.value) or b"unknown error"
        return f"ERR {errors.plain(said)} {where}"

    def redis(self) -> Table:
        return module(
            "redis",
            {
                "call": self.calling(raises=True),
                "pcall": self.calling(raises=False),
                "error_reply": lambda values: [module("", {"err": self.error_text(values)})],
                "status_reply": lambda values: [
                    module("", {"ok": text(values, 0, "status_reply")})
                ],
                "sha1hex": lambda values: [sha(text(values, 0, "sha1hex"))],
                "log": lambda values: [],
                "replicate_commands": lambda values: [True],
                **{f"LOG_{name}": float(n) for n, name in enumerate(LEVELS)},
            },
        )

    @staticmethod
    def error_text(values: list[Value]) -> bytes:
        """An error has a code in front; `ERR` where the script gives none."""
        said = text(values, 0, "error_reply").removeprefix(b"-")
        return said if b" " in said else b"ERR " + said

    def calling(self, *, raises: bool) -> Function:
        def call(values: list[Value]) -> list[Value]:
            reply = self.reply(values)
            if raises and isinstance(reply, Failure):
                raise LuaError(to_lua(reply))
            return [to_lua(reply)]

        return call

    def reply(self, values: list[Value]) -> Reply:
        request = [to_text(value) for value in values]
        if not request:
            return Failure("ERR Please specify at least one argument for this redis lib call")
        words = [each for each in request if each is not None]
        if len(words) < len(request):
            return Failure("ERR Lua redis lib command arguments must be strings or integers")
        known = COMMANDS.get(words[0].lower())
        if known is None:
            return Failure("ERR Unknown Redis command called from script")
        try:
            known.check_arity(words)
        except CommandError:
            return Failure("ERR Wrong number of args calling Redis command from script")
        if not known.in_scripts:
            return Failure("ERR This Redis command is not allowed from script")
        return self.session.server.run(self.session, known, words)


LEVELS = ("DEBUG", "VERBOSE", "NOTICE", "WARNING")


def run(session: Session, source: bytes, args: list[bytes]) -> Reply:
    count = integer(args[0])
    if count < 0:
        raise CommandError("ERR Number of keys can't be negative")
    if count > len(args) - 1:
        raise CommandError("ERR Number of keys can't be greater than number of args")
    return Script(session, source).run(args[1 : 1 + count], args[1 + count :])


@command("eval", -3, in_scripts=False)
def eval_(session: Session, args: list[bytes]) -> Reply:
    source = args[0]
    session.server.scripts[sha(source)] = source
    return run(session, source, args[1:])


@command("evalsha", -3, in_scripts=False)
def evalsha(session: Session, args: list[bytes]) -> Reply:
    source = session.server.scripts.get(args[0].lower())
    if source is None:
        raise CommandError(NO_SCRIPT)
    return run(session, source, args[1:])


@command(
    "script", -2, in_scripts=False, subcommands={"LOAD": 3, "EXISTS": -3, "FLUSH": -2, "KILL": 2}
)
def script(session: Session, args: list[bytes]) -> Reply:
    scripts, word = session.server.scripts, option(args[0])
    if word == "LOAD":
        try:
            parse(args[1])
        except LuaSyntaxError as error:
            raise CommandError(f"ERR Error compiling script (new function): {error}") from None
        scripts[sha(args[1])] = args[1]
        return sha(args[1])
    if word == "EXISTS":
        return [int(name.lower() in scripts) for name in args[1:]]
    if word == "KILL":
        raise CommandError("NOTBUSY No scripts in execution right now.")
    if len(args) > 2 or (len(args) == 2 and option(args[1]) not in {"SYNC", "ASYNC"}):
        raise CommandError("ERR SCRIPT FLUSH only support SYNC|ASYNC option")
    scripts.clear()
    return OK
