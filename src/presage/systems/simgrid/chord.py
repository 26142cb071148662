"""Nodes of a ring that serve each other while they update what they know, and mix up two messages.

After Listing 4.5 of the paper "SimGrid MC: Verification Support for a Multi-API Simulation
Platform". A node keeps one receive under way for what others want of it. To update itself it sends
a request and waits for the answer, in the receive that is under way, as nothing had come when it
looked; but by now that receive may hold what another node wanted. Where the listing sleeps because
nothing is to be done, a node here waits for the next message.
"""

from __future__ import annotations

from typing import Any

from presage import Process, Program
from presage.mailbox import Comm, Mailbox, this_actor

REQUEST, ANSWER, NOTIFY = "request", "answer", "notify"


class Node:
    """One node of the ring, with what it has still to do."""

    def __init__(self, name: str, others: list[str], bug: bool) -> None:
        self.name = name
        self.others = others
        self.bug = bug
        self.mailbox = Mailbox.by_name(name)
        self.answers = self.mailbox if bug else Mailbox.by_name(f"answers to {name}")
        self.receive: Comm | None = None
        self.to_serve = 2 * len(others)  # a request and a notification of each

    def run(self) -> None:
        """The main loop, until everybody is up to date."""
        updates = list(self.others)
        while updates or self.to_serve:
            if self.receive is None:
                self.receive = self.mailbox.get_async()
            if not updates or self.receive.test():
                self.serve(self.receive.wait().get_payload())
            else:
                self.update(updates.pop(0))

    def serve(self, message: tuple[str, str, Any]) -> None:
        """Answer what another node wants."""
        self.receive = None
        self.to_serve -= 1
        kind, sender, place = message
        this_actor.debug(f"{kind} of {sender}")
        if kind == REQUEST:
            place.put_init((ANSWER, self.name, self.mailbox)).detach()

    def update(self, other: str) -> None:
        """Ask another node, wait for its answer, tell it what has changed."""
        box = Mailbox.by_name(other)
        request = box.put_init((REQUEST, self.name, self.answers))
        if self.bug:
            request.start().wait()
            answer, self.receive = self.receive or self.mailbox.get_async(), None
            answer.wait()
        else:
            answer = self.answers.get_async()
            request.detach()
            self.serve_until(answer)
        kind, sender, _ = answer.get_payload()
        assert (kind, sender) == (ANSWER, other), f"the answer is a {kind} of {sender}"
        box.put_init((NOTIFY, self.name, self.mailbox)).detach()

    def serve_until(self, answer: Comm) -> None:
        """Wait for the answer, and serve others meanwhile: they may wait for us."""
        while True:
            if self.receive is None:
                self.receive = self.mailbox.get_async()
            if Comm.wait_any([answer, self.receive]) == 0:
                return
            self.serve(self.receive.get_payload())


def node(name: str, others: list[str], bug: bool) -> None:
    """One node."""
    Node(name, others, bug).run()


def program(*, nodes: int = 2, bug: bool = True) -> Program:
    """A ring of nodes that know each other.

    nodes: how many.
    bug: answers come to the same mailbox as requests, and the receive that is under way is
        taken for the answer.
    """
    names = [f"node {number}" for number in range(1, nodes + 1)]
    ring = {name: Process(node, name, [n for n in names if n != name], bug) for name in names}
    return Program(ring, name="chord_on_mailboxes")
