"""Programs that use TLS, whose result does not depend on timing; see `programs`."""

from __future__ import annotations

import asyncio
import http.client
import http.server
import socket
import ssl
import threading
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
CERTIFICATES = Path(__file__).resolve().parents[3] / "runtime" / "certificates"


def contexts() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Of a server, and of a client that asks for no certificate."""
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(CERTIFICATES / "a.pem", CERTIFICATES / "a.key")
    server.set_alpn_protocols(["two", "one"])
    client = ssl.create_default_context()
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    client.set_alpn_protocols(["one"])
    return server, client


def tls_streams() -> Any:
    server_context, client_context = contexts()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line.upper())
            await writer.drain()
        writer.close()

    async def main() -> Any:
        async with await asyncio.start_server(serve, HOST, 0, ssl=server_context) as server:
            address = server.sockets[0].getsockname()
            reader, writer = await asyncio.open_connection(*address, ssl=client_context)
            made = writer.get_extra_info("ssl_object")
            seen = [made.version(), made.selected_alpn_protocol(), made.getpeercert()]
            writer.write(b"hello\n" * 10_000)
            seen += [await reader.readexactly(60_000) == b"HELLO\n" * 10_000]
            writer.close()
            await writer.wait_closed()
            try:
                plain, other = await asyncio.open_connection(*address)
                other.write(b"GET / HTTP/1.0\r\n\r\n")
                seen.append(len(await plain.read()) < 20)  # an alert, or nothing
                other.close()
            except OSError:
                seen.append(True)
            return seen

    return asyncio.run(main())


def tls_sockets() -> Any:
    server_context, client_context = contexts()
    received, seen = [], []
    with socket.create_server((HOST, 0)) as server:

        def serve() -> None:
            with server_context.wrap_socket(server.accept()[0], server_side=True) as made:
                while piece := made.recv(50_000):
                    received.append(piece)
                made.sendall(b"thanks")
                made.unwrap()

        thread = threading.Thread(target=serve)
        thread.start()
        plain = socket.create_connection(server.getsockname())
        with client_context.wrap_socket(plain, server_hostname="localhost") as made:
            seen += [isinstance(made, ssl.SSLSocket), made.version(), made.server_hostname]
            made.sendall(bytes(1_000_000))
            made.settimeout(0.01)
            try:
                made.recv(1)
            except TimeoutError:
                seen.append("timed out")
            made.settimeout(0)
            try:
                made.recv(1)
            except ssl.SSLWantReadError:
                seen.append("wants to read")
            made.settimeout(None)
            try:
                made.unwrap()
            except OSError as error:  # data came where a notice was awaited
                seen.append(isinstance(error, ssl.SSLError))
        thread.join()
    return seen, len(b"".join(received))


def tls_pages() -> Any:
    server_context, client_context = contexts()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"page")

        def log_message(self, *args: Any) -> None:
            pass

    with http.server.HTTPServer((HOST, 0), Handler) as server:
        server.socket = server_context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        host, port = server.server_address[:2]
        client = http.client.HTTPSConnection(host, port, context=client_context)
        client.request("GET", "/")
        page = client.getresponse().read()
        thread.join()
    return page


TLS_PROGRAMS = [tls_streams, tls_sockets, tls_pages]
