"""Programs of asyncio whose result does not depend on timing; see `programs`."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

HOST = "127.0.0.1"


def streams() -> Any:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line.upper())
            await writer.drain()
        writer.write(b"end\n")
        writer.write_eof()
        writer.close()

    async def main() -> Any:
        server = await asyncio.start_server(serve, HOST, 0)
        address = server.sockets[0].getsockname()

        async def ask(text: str) -> bytes:
            reader, writer = await asyncio.open_connection(*address)
            for word in text.split():
                writer.write(word.encode() + b"\n")
                await writer.drain()
            writer.write_eof()
            data = await reader.read()
            writer.close()
            await writer.wait_closed()
            return data

        async with server:
            return await asyncio.gather(ask("a b c"), ask("d"), ask(""))

    return asyncio.run(main())


def back_pressure() -> Any:
    """A writer that is faster than its reader is stopped by `drain`, and loses nothing."""

    async def main() -> Any:
        received = 0
        done = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal received
            while data := await reader.read(10_000):
                received += len(data)
                await asyncio.sleep(0)
            writer.close()
            done.set()

        async with await asyncio.start_server(serve, HOST, 0) as server:
            _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            for _ in range(100):
                writer.write(bytes(20_000))
                await writer.drain()
            writer.close()
            await done.wait()
        return received

    return asyncio.run(main())


def broken_streams() -> Any:
    async def main() -> Any:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readexactly(1)
            writer.transport.abort()

        async with await asyncio.start_server(serve, HOST, 0) as server:
            address = server.sockets[0].getsockname()
            reader, writer = await asyncio.open_connection(*address)
            writer.write(b"xyz")
            try:
                seen: list[Any] = [await reader.read()]
            except OSError as error:
                seen = [type(error).__name__]
            writer.close()
        try:
            await asyncio.open_connection(*address)
        except OSError as error:
            seen.append(type(error).__name__)
        return seen

    return asyncio.run(main())


def datagram_endpoints() -> Any:
    async def main() -> Any:
        loop, seen = asyncio.get_running_loop(), asyncio.Queue()

        class Echo(asyncio.DatagramProtocol):
            def connection_made(self, transport: Any) -> None:
                self.transport = transport

            def datagram_received(self, data: bytes, address: Any) -> None:
                self.transport.sendto(data[::-1], address)

        class Client(asyncio.DatagramProtocol):
            def datagram_received(self, data: bytes, address: Any) -> None:
                seen.put_nowait(data)

        server, _ = await loop.create_datagram_endpoint(Echo, (HOST, 0))
        target = server.get_extra_info("sockname")
        client, _ = await loop.create_datagram_endpoint(Client, remote_addr=target)
        client.sendto(b"one")
        client.sendto(b"two")
        answers = [await seen.get(), await seen.get()]
        client.close()
        server.close()
        return answers

    return asyncio.run(main())


def low_level() -> Any:
    async def main() -> Any:
        loop = asyncio.get_running_loop()
        with socket.create_server((HOST, 0)) as server:
            server.setblocking(False)
            client = socket.socket()
            client.setblocking(False)
            (made, _), _ = await asyncio.gather(
                loop.sock_accept(server), loop.sock_connect(client, server.getsockname())
            )
            sending = asyncio.create_task(loop.sock_sendall(client, bytes(300_000)))
            size = 0
            while size < 300_000:
                size += len(await loop.sock_recv(made, 50_000))
            await sending
            buffer = bytearray(10)
            await loop.sock_sendall(made, b"back")
            count = await loop.sock_recv_into(client, buffer)
            client.close()
            made.close()
            return size, count, bytes(buffer)

    return asyncio.run(main())


AIO_PROGRAMS = [streams, back_pressure, broken_streams, datagram_endpoints, low_level]
