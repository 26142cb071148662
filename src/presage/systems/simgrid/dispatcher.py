"""Requests go to whichever server was picked last; a server that looked before loses them.

After the DPU program `dispatcher` in SimGrid's tests.
"""

from __future__ import annotations

from presage import Process, Program
from presage.mailbox import Actor, Mutex


def pick(picked: Mutex, servers: int) -> None:
    """Picks one server after the other."""
    for server in range(servers):
        picked.lock()
        picked.unlock(server)


def serve(channel: Mutex) -> None:
    """Looks once whether there is a request, and answers it."""
    asked, _answered = channel.lock()
    channel.unlock((asked, asked))


def request(number: int, picked: Mutex, channels: list[Mutex]) -> None:
    """Sends a request to the server that is picked just now."""
    picker = Actor.create(f"picker {number}", None, pick, picked, len(channels))
    server = picked.lock()
    picked.unlock()
    asked, answered = channels[server].lock()
    channels[server].unlock((asked + 1, answered))
    picker.join()


def main(servers: int, requests: int) -> None:
    """Starts the servers, makes the requests, and waits for the servers."""
    picked = Mutex("picked", 0)
    channels = [Mutex(f"channel {number}", (0, 0)) for number in range(servers)]
    actors = [
        Actor.create(f"server {number}", None, serve, channel)
        for number, channel in enumerate(channels)
    ]
    for number in range(requests):
        request(number, picked, channels)
    for actor in actors:
        actor.join()


def program(*, servers: int = 5, requests: int = 2) -> Program:
    """A main process, which creates the others.

    servers: how many.
    requests: how many, one after the other.
    """
    return Program({"main": Process(main, servers, requests)}, name="dispatcher")
