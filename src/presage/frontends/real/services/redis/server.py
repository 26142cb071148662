"""All databases and sessions: running commands, watching, blocking, publishing, expiry.

Everything happens within one call of `feed` or of a timer, so a command is atomic, as in Redis.
The moment of expiry is a timer of the loop: a checker that lets the earliest deadline come at any
moment lets keys expire at any moment. An expired key is gone before the next command is looked at.
"""

import asyncio
import time
from collections.abc import Callable

from presage.frontends.real.services.redis import errors
from presage.frontends.real.services.redis.commands.table import COMMANDS, Command
from presage.frontends.real.services.redis.database import Database
from presage.frontends.real.services.redis.errors import CommandError
from presage.frontends.real.services.redis.globs import matches
from presage.frontends.real.services.redis.resp import (
    MISSING,
    Failure,
    ProtocolError,
    Push,
    Reply,
    Status,
)
from presage.frontends.real.services.redis.session import Session

DATABASES = 16
LATE_S = 0.00001  # a timer comes after its moment, not at the last digit of it


class Server:
    """The state of one Redis; `flush` sends what the sessions have to say."""

    def __init__(self, flush: Callable[[], None]) -> None:
        self._flush = flush
        self.databases = [Database(self._notifier(number)) for number in range(DATABASES)]
        self.sessions: dict[int, Session] = {}
        self.waiting: dict[Session, None] = {}
        self.scripts: dict[bytes, bytes] = {}
        self.settings: dict[str, bytes] = {}
        self.last_number = 0
        self.started = self.now()
        self._ready: dict[tuple[int, bytes], None] = {}
        self._alarm: tuple[int, asyncio.TimerHandle] | None = None

    def now(self) -> int:
        """Milliseconds on the clock, which `clock` remembers."""
        self.clock = int(time.time() * 1000)
        return self.clock

    def _notifier(self, number: int) -> Callable[[bytes], None]:
        return lambda key: self._changed(number, key)

    def _changed(self, number: int, key: bytes) -> None:
        place = (number, key)
        for session in self.sessions.values():
            if place in session.watched:
                session.spoiled = True
        if self.waiting and key in self.databases[number].values:
            self._ready[place] = None

    def open(self, address: str, own_address: str) -> Session:
        self.last_number += 1
        session = Session(self, self.last_number, address, own_address, self.now())
        self.sessions[session.number] = session
        return session

    def close(self, session: Session) -> None:
        self.sessions.pop(session.number, None)
        self.waiting.pop(session, None)
        session.closing = True
        self.set_alarm()

    def feed(self, session: Session, data: bytes) -> None:
        """Run the requests in `data`, and all that could not be run before it came."""
        session.requests.feed(data)
        self.purge()
        self._run(session)
        self.set_alarm()

    def _run(self, session: Session) -> None:
        while session.wait is None and not session.closing:
            try:
                request = session.requests.next()
            except ProtocolError as error:
                session.send(Failure(f"ERR Protocol error: {error}"))
                session.closing = True
                return
            if request is None:
                return
            session.send(self.request(session, request))
            self._serve()

    def request(self, session: Session, request: list[bytes]) -> Reply:
        """The reply to one request, or `SILENT`."""
        command = COMMANDS.get(request[0].lower())
        try:
            if command is None:
                raise errors.unknown_command(request[0], request[1:])
            command.check_arity(request)
            refuse_while_subscribed(session, command)
        except CommandError as error:
            if session.queue is not None:
                session.refused = True
            return Failure(error.text)
        session.last_command = command.name
        if session.queue is not None and not command.immediate:
            session.queue.append(request)
            return Status("QUEUED")
        return self.run(session, command, request)

    def run(self, session: Session, command: Command, request: list[bytes]) -> Reply:
        try:
            return command.function(session, request[1:])
        except CommandError as error:
            return Failure(error.text)

    def _serve(self) -> None:
        """Give what came to those who wait for it, the longest wait first."""
        while self._ready:
            number, key = next(iter(self._ready))
            del self._ready[number, key]
            for session in list(self.waiting):
                wait = session.wait
                if wait is None or session.database_number != number or key not in wait.keys:
                    continue
                try:
                    reply = wait.pop(key)
                except CommandError as error:
                    reply = Failure(error.text)
                if reply is not None:
                    self.resume(session, reply)

    def resume(self, session: Session, reply: Reply) -> None:
        """End the wait of `session` with `reply`, and run what it asked meanwhile."""
        self.waiting.pop(session, None)
        session.wait = None
        session.send(reply)
        self._run(session)

    def purge(self) -> None:
        """Forget what has expired, and end the waits that are over."""
        now = self.now()
        for database in self.databases:
            if database.expiries:
                database.purge(now)
        for session in list(self.waiting):
            if session.wait and session.wait.deadline is not None and session.wait.deadline <= now:
                self.resume(session, MISSING)

    def earliest(self) -> int | None:
        """The next moment at which something expires by itself."""
        moments = [
            moment + 1 for database in self.databases for moment in database.expiries.values()
        ]
        moments += [
            session.wait.deadline
            for session in self.waiting
            if session.wait is not None and session.wait.deadline is not None
        ]
        return min(moments, default=None)

    def set_alarm(self) -> None:
        moment = self.earliest()
        if self._alarm is not None:
            if self._alarm[0] == moment:
                return
            self._alarm[1].cancel()
            self._alarm = None
        if moment is not None:
            delay = max(0, moment - self.now()) / 1000 + LATE_S
            loop = asyncio.get_running_loop()
            self._alarm = (moment, loop.call_later(delay, self._expire))

    def _expire(self) -> None:
        self._alarm = None
        self.purge()
        self._serve()
        self.set_alarm()
        self._flush()

    def publish(self, channel: bytes, message: bytes) -> int:
        receivers = 0
        for session in self.sessions.values():
            if channel in session.channels:
                session.send(Push([b"message", channel, message]))
                receivers += 1
        for session in self.sessions.values():
            for pattern in session.patterns:
                if matches(pattern, channel):
                    session.send(Push([b"pmessage", pattern, channel, message]))
                    receivers += 1
        return receivers


def refuse_while_subscribed(session: Session, command: Command) -> None:
    if session.protocol == 2 and session.subscriptions and not command.while_subscribed:
        raise CommandError(
            f"ERR Can't execute '{command.name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / "
            "QUIT / RESET are allowed in this context"
        )
