"""A server of rpyc, and a client two of whose threads share one connection."""

from __future__ import annotations

import threading
from typing import Any

from presage.real import here

PORT = 18861


def serve() -> None:
    import rpyc
    from rpyc.utils.server import OneShotServer

    class Echo(rpyc.Service):  # type: ignore[misc]
        def exposed_echo(self, value: int) -> int:
            return value

    OneShotServer(Echo, hostname="0.0.0.0", port=PORT).start()


def call() -> None:
    import rpyc

    connection = rpyc.connect("server", PORT)
    echo = connection.root.echo
    done: list[int] = []
    here.expose(done=done)
    threads = [
        threading.Thread(target=lambda number=number: done.append(echo(number)), daemon=True)
        for number in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def view(node: Any) -> dict[str, Any]:
    return {"done": sorted(node.get("done", ()))}
