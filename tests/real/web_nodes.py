"""Web servers that count their visitors, and a client: ordinary programs.

The careless ones read the count, wait, and then write it.
"""

import asyncio
import http.client
import http.server
import time
from typing import Any

from presage.real import here

SERVER, PORT = "10.0.0.1", 8080


def visit() -> None:
    numbers: list[int] = []
    here.expose(numbers=numbers)
    client = http.client.HTTPConnection(SERVER, PORT)
    client.request("GET", "/")
    numbers.append(int(client.getresponse().read()))
    client.close()


def view(node: Any) -> dict[str, Any]:
    return {"numbers": list(node.get("numbers", ()))}


def aiohttp_server(careless: bool) -> None:
    from aiohttp import web

    visitors = 0

    async def page(request: Any) -> Any:
        nonlocal visitors
        number = visitors + 1
        if careless:
            await asyncio.sleep(0.1)
        visitors = number
        return web.Response(text=str(number))

    app = web.Application()
    app.router.add_get("/", page)
    web.run_app(app, host="0.0.0.0", port=PORT, print=None, access_log=None)


def standard_server(careless: bool) -> None:
    """Of the standard library: with a thread for each visitor if it is careless, else one."""
    visitors = 0

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            nonlocal visitors
            number = visitors + 1
            time.sleep(0.1)
            visitors = number
            self.send_response(200)
            self.end_headers()
            self.wfile.write(str(number).encode())

        def log_message(self, *args: Any) -> None:
            pass

    kind = http.server.ThreadingHTTPServer if careless else http.server.HTTPServer
    kind(("", PORT), Page).serve_forever(None)
