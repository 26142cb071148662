"""Programs in several nodes: what one sends is an event of the other."""

import asyncio
import contextlib
import errno
import http.client
import http.server
import os
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest
from unit.frontends.real.machine.eager import Eager

from presage.errors import Escaped
from presage.frontends.real.machine.assigned import SERVICES


def test_an_http_server_answers_clients_in_other_nodes() -> None:
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(f"{self.path} for {self.client_address[0]}".encode())

        def log_message(self, *args: Any) -> None:
            pass

    def server() -> None:
        http.server.ThreadingHTTPServer(("", 80), Handler).serve_forever()

    def client() -> None:
        made = http.client.HTTPConnection("server")
        made.request("GET", "/page")
        answer = made.getresponse()
        seen.append((answer.status, answer.read()))

    Eager({"server": server, "client": client}).run("client").close()
    assert seen == [(200, b"/page for 10.0.0.2")]


def test_a_writer_without_end_leaves_its_step() -> None:
    async def write() -> None:
        _, writer = await asyncio.open_connection("reader", 80)
        while True:
            writer.write(b"x" * 1000)
            await writer.drain()

    async def read() -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while await reader.read(100_000):
                pass

        async with await asyncio.start_server(serve, port=80) as server:
            await server.serve_forever()

    nodes = Eager({"writer": lambda: asyncio.run(write()), "reader": lambda: asyncio.run(read())})
    for name, node in nodes.nodes.items():
        node.begin()
        nodes.collect(name)
    for _ in range(300):
        assert nodes.step()
    assert any("drained" in step for step in nodes.steps)
    nodes.close()


def test_a_half_closed_stream_still_carries_the_answer() -> None:
    seen = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        data = await reader.read()
        writer.write(data[::-1])
        await writer.drain()
        writer.close()

    async def server() -> None:
        async with await asyncio.start_server(serve, "server", 80) as made:
            await made.serve_forever()

    async def client() -> None:
        reader, writer = await asyncio.open_connection("server", 80)
        writer.write(b"abc")
        writer.write_eof()
        seen.append(await reader.read())
        writer.close()

    nodes = Eager(
        {"server": lambda: asyncio.run(server()), "client": lambda: asyncio.run(client())}
    )
    nodes.run("client").close()
    assert seen == [b"cba"]


def test_a_connection_to_nobody_is_refused() -> None:
    seen = []

    def client() -> None:
        for call in ("connect", "connect_ex"):
            made = socket.socket()
            try:
                seen.append(getattr(made, call)(("server", 80)))
            except ConnectionRefusedError:
                seen.append("refused")

    Eager({"server": lambda: threading.Event().wait(), "client": client}).run("client").close()
    assert seen == ["refused", errno.ECONNREFUSED]


def test_a_program_that_ends_closes_what_it_left_open() -> None:
    seen = []

    def server() -> None:
        made, _ = socket.create_server(("", 80)).accept()
        seen.append(made.recv(100))
        seen.append(made.recv(100))

    def client() -> None:
        global left
        left = socket.create_connection(("server", 80))
        left.send(b"bye")

    Eager({"server": server, "client": client}).run("server").close()
    assert seen == [b"bye", b""]


def test_names_are_answered_from_the_table() -> None:
    seen = []

    def ask() -> None:
        seen.append(socket.gethostname())
        seen.append(socket.gethostbyname("b"))
        seen.append(socket.gethostbyaddr("10.0.0.2")[0])
        seen.append(socket.getfqdn("b"))
        seen.append(socket.getaddrinfo("b", 80, type=socket.SOCK_STREAM)[0][4])
        seen.append(socket.getnameinfo(("10.0.0.1", 80), 0))
        for name in ("elsewhere", "www.example.com"):
            try:
                socket.getaddrinfo(name, 80)
            except socket.gaierror as error:
                seen.append(error.errno)

    Eager({"a": ask, "b": lambda: None}).run().close()
    assert seen[:5] == ["a", "10.0.0.2", "b", "b", ("10.0.0.2", 80)]
    assert seen[5:] == [("a", "http"), socket.EAI_NONAME, socket.EAI_NONAME]


def test_services_have_the_ports_that_they_have_on_real_hosts() -> None:
    seen: list[Any] = []

    def ask() -> None:
        for protocol, services in SERVICES.items():
            for name in services:
                port = socket.getservbyname(name, protocol)
                seen.append((name, protocol, port, socket.getservbyport(port, protocol)))
        seen.append(socket.getaddrinfo("b", "ntp", type=socket.SOCK_DGRAM)[0][4])
        seen.append(socket.getprotobyname("udp"))
        for ask in (socket.getservbyname, socket.getprotobyname):
            with pytest.raises(OSError, match="not found"):
                ask("nothing")

    Eager({"a": ask, "b": lambda: None}).run().close()
    assert seen[-2:] == [("10.0.0.2", 123), 17]
    for name, protocol, port, again in seen[:-2]:
        assert again == name
        with contextlib.suppress(OSError):  # not every host has a list, nor all names in it
            assert socket.getservbyname(name, protocol) == port


def test_classes_that_derive_from_a_socket_keep_their_methods() -> None:
    seen = []

    class Counting(socket.socket):
        sent = 0

        def send(self, data: bytes, flags: int = 0) -> int:
            self.sent += len(data)
            return super().send(data, flags)

    def program() -> None:
        with socket.create_server(("", 80)) as server, Counting() as made:
            made.connect(("a", 80))
            made.send(b"hello")
            other, _ = server.accept()
            seen.append((made.sent, other.recv(9), isinstance(made, Counting), made.fileno() > 99))

    Eager({"a": program}).run().close()
    assert seen == [(5, b"hello", True, True)]


def test_a_real_socket_opened_from_c_is_named_with_its_line() -> None:
    def program() -> None:
        import _socket

        _socket.socket()

    with pytest.raises(Escaped, match=r"test_nodes.py:\d+: process `a` opens a socket"):
        Eager({"a": program}).run()


def test_a_node_cannot_rename_the_machine_it_is_checked_on() -> None:
    name, seen = socket.gethostname(), []

    def program() -> None:
        try:
            socket.sethostname("renamed")
        except PermissionError:
            seen.append(socket.gethostname())

    Eager({"a": program}).run().close()
    assert seen == ["a"]
    assert socket.gethostname() == name


@pytest.mark.parametrize("call", [lambda: os.nice(0), lambda: os.setpgid(0, 0)])
def test_a_node_cannot_change_the_real_process(call: Callable[[], Any]) -> None:
    with pytest.raises(Escaped, match=r"test_nodes.py:\d+: process `a` calls `os"):
        Eager({"a": call}).run()


def test_outside_of_a_node_sockets_are_real() -> None:
    Eager({"a": lambda: None}).run().close()
    with socket.socket() as made:
        assert type(made) is socket.socket
        assert made.fileno() < 1 << 20
