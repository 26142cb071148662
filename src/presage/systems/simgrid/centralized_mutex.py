"""Clients enter a critical section one at a time, as a coordinator allows.

After SimGrid's examples `mc-centralized-mutex`, in C++ and, with `finish`, in Python, and its
former liveness example `bugged1`, whose coordinator ignores what the first client asks.
"""

from __future__ import annotations

from typing import Any, Literal

from presage import Process, Program, always
from presage.mailbox import Mailbox, publish, this_actor

Bug = Literal["none", "ignores_first", "grants_twice"]
REQUEST, GRANT, RELEASE, FINISH = "request", "grant", "release", "finish"


def coordinator(expected: int, finish: bool, bug: Bug) -> None:
    """Grants requests one after the other, until everybody has had enough."""
    mailbox = Mailbox.by_name("coordinator")
    waiting: list[Mailbox] = []
    is_used = False
    while expected > 0:
        kind, client = mailbox.get()
        if kind == FINISH:
            expected -= 1
        elif kind == RELEASE:
            expected -= 0 if finish else 1
            if waiting:
                waiting.pop(0).put((GRANT, mailbox), 1000)
            else:
                is_used = False
        elif bug == "ignores_first" and client.name == "client 1":
            this_actor.info("who is that?")
        elif is_used and bug != "grants_twice":
            waiting.append(client)
        else:
            is_used = True
            client.put((GRANT, mailbox), 1000)
    this_actor.info("done")


def client(rounds: int, finish: bool, watched: bool) -> None:
    """Asks, enters, leaves, as often as it wants."""
    name = this_actor.get_name()
    mine, coordinator = Mailbox.by_name(name), Mailbox.by_name("coordinator")
    for _ in range(rounds):
        coordinator.put((REQUEST, mine), 1000)
        mine.get()
        if watched:
            publish(inside=True)
        this_actor.sleep_for(1)
        if watched:
            publish(inside=False)
        coordinator.put((RELEASE, mine), 1000)
        this_actor.sleep_for(2)
    if finish:
        coordinator.put((FINISH, mine), 1)


@always
def one_at_a_time(world: Any) -> bool:
    """At most one client is in the critical section."""
    return len([node for node in world.nodes if node.inside]) <= 1


def program(
    *,
    clients: int = 2,
    rounds: int = 1,
    finish: bool = True,
    watched: bool = False,
    bug: Bug = "none",
) -> Program:
    """A coordinator and its clients.

    clients: how many.
    rounds: how often each of them enters.
    finish: clients say when they have had enough; else the coordinator counts releases.
    watched: clients publish whether they are inside, and at most one may be.
    bug: `ignores_first` never grants what client 1 asks, `grants_twice` grants at once, always.
    """
    expected = clients if finish else clients * rounds
    named = {f"client {n}": Process(client, rounds, finish, watched) for n in range(1, clients + 1)}
    return Program(
        {"coordinator": Process(coordinator, expected, finish, bug), **named},
        name="centralized_mutex",
        properties=[one_at_a_time] if watched else [],
    )
