"""One connection on a transport, and `serve`: a Redis on a port.

A connection is a `Protocol` and not a task: all it knows stands in its session, so the tables of
the server are its whole state. All that one event has to say to a client leaves in one write.

A client that does not read is not listened to until it does; one that has far too much to read
because of a channel is cut off, as Redis does.
"""

import asyncio

from presage.frontends.real.services.redis.server import Server
from presage.frontends.real.services.redis.session import Session

PORT = 6379
UNSENT_MAX = 32 * 1024 * 1024


class Connection(asyncio.Protocol):
    """What a client says goes to the server; what the server says goes to all clients."""

    def __init__(self, listener: "Listener") -> None:
        self._listener = listener
        self.session: Session | None = None
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        peer, own = (address(transport.get_extra_info(name)) for name in ("peername", "sockname"))
        self.session = self._listener.server.open(peer, own)
        self._listener.connections[self.session.number] = self

    def data_received(self, data: bytes) -> None:
        assert self.session is not None
        self._listener.server.feed(self.session, data)
        self._listener.flush()

    def connection_lost(self, error: Exception | None) -> None:
        if self.session is not None:
            self._listener.connections.pop(self.session.number, None)
            self._listener.server.close(self.session)

    def pause_writing(self) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.resume_reading()

    def flush(self) -> None:
        session, transport = self.session, self.transport
        if session is None or transport is None:
            return
        if session.output:
            transport.write(b"".join(session.output))
            session.output.clear()
            if transport.get_write_buffer_size() > UNSENT_MAX:
                transport.abort()
                return
        if session.closing:
            transport.close()


class Listener:
    """A server and its connections."""

    def __init__(self) -> None:
        self.server = Server(self.flush)
        self.connections: dict[int, Connection] = {}

    def flush(self) -> None:
        for connection in list(self.connections.values()):
            connection.flush()


def address(name: object) -> str:
    return f"{name[0]}:{name[1]}" if isinstance(name, tuple) else str(name or "?:0")


async def listen(host: str | None = None, port: int = PORT) -> tuple[asyncio.Server, Listener]:
    """A Redis that listens on `host` and `port`."""
    listener = Listener()
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: Connection(listener), host, port), listener


async def serve(host: str | None = None, port: int = PORT) -> None:
    """Be a Redis until cancelled."""
    server, _listener = await listen(host, port)
    async with server:
        await server.serve_forever()
