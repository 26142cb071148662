"""Redis servers for tests: ours in a thread, and Debian's if it can be had.

Debian's is taken from the path, or unpacked from its packages into a folder of the user's cache.
Nothing is installed.
"""

import asyncio
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unit.fetching import cache

from presage.frontends.real.services.redis.wire import listen

PACKAGES = ("redis-server", "redis-tools", "liblzf1", "libjemalloc2")
LIBRARIES = "usr/lib/x86_64-linux-gnu"


@contextmanager
def ours() -> Iterator[int]:
    """The port of our server, which runs in a thread."""
    started: list[int] = []
    ready, loop = threading.Event(), asyncio.new_event_loop()

    async def main() -> None:
        server, _listener = await listen("127.0.0.1", 0)
        started.append(server.sockets[0].getsockname()[1])
        ready.set()
        async with server:
            await stop.wait()

    stop = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(main()), daemon=True)
    thread.start()
    ready.wait(10)
    try:
        yield started[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)


def debian() -> tuple[str, dict[str, str]] | None:
    """The command of a real server and its environment; None if there is no way to get one."""
    found = shutil.which("redis-server")
    if found:
        return found, dict(os.environ)
    root = cache() / "debian-redis"
    program = root / "usr/bin/redis-server"
    if not program.exists():
        if not shutil.which("apt-get") or not shutil.which("dpkg"):
            return None
        packages = root / "packages"
        packages.mkdir(parents=True, exist_ok=True)
        command = ["apt-get", "download", *PACKAGES]
        if subprocess.run(command, cwd=packages, capture_output=True, timeout=200).returncode:
            return None
        for each in sorted(packages.glob("*.deb")):
            subprocess.run(["dpkg", "-x", each, root], check=True)
    return str(program), {**os.environ, "LD_LIBRARY_PATH": str(root / LIBRARIES)}


@contextmanager
def theirs(folder: Path) -> Iterator[int | None]:
    """The port of a real server; None if there is none."""
    found = debian()
    if found is None:
        yield None
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [found[0], "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
    process = subprocess.Popen(command, env=found[1], stdout=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield port
    finally:
        process.terminate()
        process.wait(10)


def wait_for(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"nothing listens on port {port}")
