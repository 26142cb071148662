"""Programs whose result does not depend on timing; each runs on real sockets and on simulated ones.

Each is a function without arguments that gives plain values. Addresses are those of the loopback,
and ports are chosen by the kernel.
"""

from __future__ import annotations

import http.client
import http.server
import io
import os
import select
import selectors
import socket
import socketserver
import struct
import threading
import urllib.request
import xmlrpc.client
import xmlrpc.server
from collections.abc import Callable
from typing import Any

HOST = "127.0.0.1"


def pair() -> tuple[socket.socket, socket.socket]:
    """Both ends of a TCP connection."""
    with socket.create_server((HOST, 0)) as server:
        one = socket.create_connection(server.getsockname())
        return one, server.accept()[0]


def whole_api() -> Any:
    one, other = pair()
    seen: list[Any] = [one.family, one.type, one.proto, one.gettimeout(), one.getblocking()]
    one.sendall(b"hello world")
    seen += [other.recv(5, socket.MSG_PEEK), other.recv(5)]
    buffer = bytearray(8)
    seen += [other.recv_into(buffer, 3), bytes(buffer), other.recvfrom(100)]
    one.sendmsg([b"ab", b"cd", memoryview(b"ef")])
    seen += [other.recvmsg(4)[:3], other.recvmsg_into([bytearray(1), bytearray(5)])[:3]]
    seen += [one.getpeername() == other.getsockname(), one.getsockopt(1, socket.SO_TYPE)]
    copy = one.dup()
    one.close()
    seen += [one.fileno(), copy.send(b"still"), other.recv(9)]
    number = copy.detach()
    again = socket.socket(fileno=number)
    seen += [copy.fileno(), again.send(b"there"), other.recv(9), again.fileno() == number]
    again.shutdown(socket.SHUT_WR)
    seen += [other.recv(9), other.recv(9), other.send(b"back"), again.recv(9)]
    other.close()
    seen += [again.recv(9)]
    with again:
        pass
    seen += [again.fileno(), repr(again)[:24]]
    return seen


def errors() -> Any:
    seen = []

    def attempt(call: Callable[..., Any], *args: Any) -> None:
        try:
            seen.append(call(*args))
        except (OSError, TypeError, ValueError, OverflowError) as error:
            seen.append((type(error).__name__, getattr(error, "errno", None)))

    made = socket.socket()
    for call, args in (
        (made.connect, ((HOST, 1),)),
        (made.connect, ("nowhere",)),
        (made.connect, ((HOST, 70_000),)),
        (made.connect, ((HOST, "x"),)),
        (made.connect, ((5, 5),)),
        (made.bind, (("8.8.8.8", 0),)),
        (made.settimeout, (-1,)),
        (made.recv, (-1,)),
        (made.send, ("text",)),
        (made.sendto, (b"x",)),
        (made.shutdown, (9,)),
        (made.accept, ()),
        (socket.socket, (socket.AF_INET, 7)),
        (socket.socket, (-1, -1, -1, 987_654)),
        (select.select, ([made], [], [], -1)),
    ):
        attempt(call, *args)
    made.close()
    for call in (made.getsockname, made.listen, lambda: made.send(b""), lambda: made.recv(1)):
        attempt(call)
    attempt(select.select, [made], [], [], 0)
    return seen


def options() -> Any:
    made, seen = socket.socket(), []
    level = socket.SOL_SOCKET
    made.setsockopt(level, socket.SO_REUSEADDR, 5)
    made.setsockopt(level, socket.SO_KEEPALIVE, (1).to_bytes(4, "little"))
    made.setsockopt(level, socket.SO_LINGER, struct.pack("ii", 1, 7))
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
    for option in (socket.SO_REUSEADDR, socket.SO_KEEPALIVE, socket.SO_TYPE, socket.SO_ERROR):
        seen += [made.getsockopt(level, option), made.getsockopt(level, option, 4)]
    seen += [made.getsockopt(level, socket.SO_LINGER, 8)]
    seen += [made.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)]
    seen += [made.getsockopt(level, socket.SO_ACCEPTCONN), made.getsockopt(level, socket.SO_DOMAIN)]
    made.listen()
    return [*seen, made.getsockopt(level, socket.SO_ACCEPTCONN)]


def timeouts() -> Any:
    one, other = pair()
    seen = []
    for limit in (0.01, 0.0):
        one.settimeout(limit)
        try:
            one.recv(1)
        except OSError as error:
            seen.append((type(error).__name__, error.errno, str(error)))
    one.settimeout(5)
    other.send(b"x")
    seen.append(one.recv(1))
    socket.setdefaulttimeout(3)
    try:
        seen.append(socket.socket().gettimeout())
    finally:
        socket.setdefaulttimeout(None)
    return seen


def files() -> Any:
    one, other = pair()
    with one.makefile("rw", newline="\n") as text, other.makefile("rwb") as raw:
        text.write("first\nsecond\n")
        text.flush()
        lines = raw.readline(), raw.readline()
        raw.write(b"answer\n")
        raw.flush()
        answer = text.readline()
        one.close()
        still = one.fileno() >= 0
    with other.makefile("rb") as rest:
        end = rest.read()
    source = io.BytesIO(b"a file " * 1000)
    sender, receiver = pair()
    with sender, receiver:
        sent = sender.sendfile(source)
        sender.shutdown(socket.SHUT_WR)
        size = len(receiver.makefile("rb").read())
    return lines, answer, still, end, sent, size


def flood() -> Any:
    """More than any buffer holds, with a slow reader."""
    one, other = pair()
    data = bytes(range(256)) * 20_000
    received = []

    def read() -> None:
        while piece := other.recv(10_000):
            received.append(piece)

    reader = threading.Thread(target=read)
    reader.start()
    one.sendall(data)
    one.close()
    reader.join()
    return b"".join(received) == data


def wait_all() -> Any:
    one, other = pair()
    writer = threading.Thread(target=lambda: [one.sendall(b"12345") for _ in range(4)])
    writer.start()
    data = other.recv(20, socket.MSG_WAITALL)
    writer.join()
    return data


def two_readers() -> Any:
    """Each of two threads gets one of two datagrams, in whatever order."""
    with socket.socket(type=socket.SOCK_DGRAM) as made:
        made.bind((HOST, 0))
        seen: list[bytes] = []
        readers = [threading.Thread(target=lambda: seen.append(made.recv(9))) for _ in range(2)]
        for reader in readers:
            reader.start()
        for text in (b"one", b"two"):
            made.sendto(text, made.getsockname())
        for reader in readers:
            reader.join()
    return sorted(seen)


def closed_while_reading() -> Any:
    one, other = pair()
    seen: list[Any] = []
    reader = threading.Thread(target=lambda: seen.append(one.recv(5)))
    reader.start()
    other.shutdown(socket.SHUT_WR)
    reader.join()
    one.close()
    return seen, other.recv(5)


def servers() -> Any:
    class Upper(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            for line in self.rfile:
                self.wfile.write(line.upper())

    seen = []
    for kind in (socketserver.TCPServer, socketserver.ThreadingTCPServer):
        with kind((HOST, 0), Upper) as server:
            server.daemon_threads = True  # type: ignore[union-attr]
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            with socket.create_connection(server.server_address) as made:
                made.sendall(b"one\ntwo\n")
                made.shutdown(socket.SHUT_WR)
                seen.append(made.makefile("rb").read())
            server.shutdown()
            thread.join()
    return seen


def datagram_server() -> Any:
    class Echo(socketserver.DatagramRequestHandler):
        def handle(self) -> None:
            self.wfile.write(self.rfile.read()[::-1])

    with socketserver.UDPServer((HOST, 0), Echo) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        with socket.socket(type=socket.SOCK_DGRAM) as made:
            made.connect(server.server_address)
            made.settimeout(5)
            made.send(b"stressed")
            answer = made.recv(100)
        server.shutdown()
        thread.join()
    return answer


def http_server() -> Any:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))[::-1]
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer((HOST, 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        client = http.client.HTTPConnection(*server.server_address[:2])
        seen = []
        for body in (b"one", b"two"):
            client.request("POST", "/", body)
            seen.append(client.getresponse().read())
        client.close()
        url = f"http://{HOST}:{server.server_address[1]}/"
        seen.append(urllib.request.urlopen(url, b"three").read())
        server.shutdown()
        thread.join()
    return seen


def remote_calls() -> Any:
    with xmlrpc.server.SimpleXMLRPCServer((HOST, 0), logRequests=False) as server:
        server.register_function(pow)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        port = server.server_address[1]
        with xmlrpc.client.ServerProxy(f"http://{HOST}:{port}") as proxy:
            answer = proxy.pow(2, 5)
        server.shutdown()
        thread.join()
    return answer


def pollers() -> Any:
    seen = []
    for kind in (selectors.SelectSelector, selectors.PollSelector, selectors.EpollSelector):
        one, other = pair()
        with kind() as selector:
            selector.register(one, selectors.EVENT_READ, "one")
            selector.register(other, selectors.EVENT_READ | selectors.EVENT_WRITE, "other")
            seen.append([(key.data, mask) for key, mask in selector.select(0)])
            other.send(b"x")
            seen.append(sorted((key.data, mask) for key, mask in selector.select(0)))
            selector.modify(other, selectors.EVENT_READ, "other")
            one.recv(1)
            seen.append(selector.select(0.01))
            selector.unregister(other)
            seen.append(len(selector.get_map()))
    return seen


def edges() -> Any:
    one, other = pair()
    seen = []
    with select.epoll() as poller:
        poller.register(one, select.EPOLLIN | select.EPOLLET)
        other.send(b"ab")
        seen += [len(poller.poll(0.05)), len(poller.poll(0))]
        other.send(b"cd")
        seen += [len(poller.poll(0.05)), one.recv(10), len(poller.poll(0))]
        poller.modify(one, select.EPOLLIN | select.EPOLLONESHOT)
        other.send(b"ef")
        seen += [len(poller.poll(0.05)), len(poller.poll(0))]
        poller.modify(one, select.EPOLLIN)
        seen += [len(poller.poll(0.05))]
        one.close()
        seen += [poller.poll(0)]
    return seen


def local_sockets() -> Any:
    one, other = socket.socketpair()
    one.sendall(b"hello")
    seen: list[Any] = [other.recv(3), other.recv(3), one.family]
    one.shutdown(socket.SHUT_WR)
    seen += [other.recv(3)]
    other.send(b"x")
    other.close()
    seen += [one.recv(3), one.recv(3)]
    try:
        one.send(b"y")
    except OSError as error:
        seen.append(error.errno)
    first, second = socket.socketpair(type=socket.SOCK_DGRAM)
    first.send(b"one")
    first.send(b"two")
    seen += [second.recv(2), second.recv(9)]
    reader, writer = os.pipe()
    os.write(writer, b"through")
    seen += [os.read(reader, 4), select.select([reader], [], [], 0)[0] == [reader]]
    os.close(writer)
    seen += [os.read(reader, 9), os.read(reader, 9)]
    return seen


PROGRAMS = [
    whole_api,
    errors,
    options,
    timeouts,
    files,
    flood,
    wait_all,
    two_readers,
    closed_while_reading,
    servers,
    datagram_server,
    http_server,
    remote_calls,
    pollers,
    edges,
    local_sockets,
]
