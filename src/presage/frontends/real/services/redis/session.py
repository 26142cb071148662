"""What the server knows of one connection: its database, transaction, subscriptions, wait.

A session does no I/O: replies are collected in `output`, and `wire` sends them.
"""

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING

from presage.frontends.real.services.redis.database import Database
from presage.frontends.real.services.redis.resp import Reply, Requests, encode
from presage.records import record

if TYPE_CHECKING:
    from presage.frontends.real.services.redis.server import Server

Pop = Callable[[bytes], Reply | None]


@record
class Wait:
    """A command that waits until `pop` can take something from one of `keys`.

    `pop` returns None if there is nothing to take. At `deadline` the reply is `MISSING`.
    """

    request: list[bytes]
    keys: list[bytes]
    pop: Pop
    deadline: int | None


@record(eq=False)
class Session:
    """One connection. `closing` says that it is to end."""

    server: "Server"
    number: int
    address: str
    own_address: str
    born: int
    protocol: int = 2
    name: bytes = b""
    library: dict[str, bytes] = field(default_factory=dict)
    database_number: int = 0
    queue: list[list[bytes]] | None = None
    refused: bool = False
    watched: dict[tuple[int, bytes], None] = field(default_factory=dict)
    spoiled: bool = False
    channels: dict[bytes, None] = field(default_factory=dict)
    patterns: dict[bytes, None] = field(default_factory=dict)
    wait: Wait | None = None
    inside: bool = False
    closing: bool = False
    last_command: str = "NULL"
    requests: Requests = field(default_factory=Requests)
    output: list[bytes] = field(default_factory=list)

    @property
    def database(self) -> Database:
        return self.server.databases[self.database_number]

    @property
    def subscriptions(self) -> int:
        return len(self.channels) + len(self.patterns)

    def send(self, reply: Reply) -> None:
        self.output.append(encode(reply, self.protocol))

    def end_transaction(self) -> None:
        self.queue = None
        self.refused = self.spoiled = False
        self.watched.clear()

    def block(self, request: list[bytes], keys: list[bytes], pop: Pop, timeout: float) -> None:
        """Wait for one of `keys`, at most `timeout` seconds; 0 is for ever."""
        deadline = None if timeout == 0 else self.server.now() + max(1, round(timeout * 1000))
        unique = list(dict.fromkeys(keys))
        self.wait = Wait(request, unique, pop, deadline)
        self.server.waiting[self] = None
