"""LMI and CMI of ZooKeeper's election as the paper's Table 1 states them, not as handlers act.

`--skip` and the searches use no such rules: that of LMI is wrong, as a vote that does not win is
stored all the same and may complete a quorum; `Rules` refuses it. Here they show what the paper's
own ratios are of. Table 1 has none for mail of a leader and its followers, nor for reboots; there,
both orders are taken.
"""

from __future__ import annotations

from typing import Any

from samc_graph import Graph

from presage.systems.samc.zle.messages import Notification


class Stated(Graph):
    """States of the election, in which the rules tell what is independent."""

    def independent(self, at: int, one: str, other: str, policies: tuple[str, ...]) -> bool:
        faults = [name for name in (one, other) if self.kinds[name].fault]
        if len(faults) == 2:
            return False
        if faults:
            message = other if one in faults else one
            return "CMI" in policies and self._crash(at, message, *faults)
        if self.kinds[one].node != self.kinds[other].node:
            return self.commute(at, one, other)
        return "LMI" in policies and self._votes(at, one, other)

    def _votes(self, at: int, one: str, other: str) -> bool:
        """`pd = !newVote`: a vote that does not win is discarded; so is one that nobody waits for.

        What is discarded is independent of all.
        """
        ballots = [self._ballot(at, name) for name in (one, other)]
        if None in ballots:
            return self.commute(at, one, other)
        server = self._server(at, self.kinds[one].node)
        if server.role != "looking":
            return True
        own = (server.round, server.vote)
        return any((ballot.round, ballot.vote) <= own for ballot in ballots)

    def _crash(self, at: int, message: str, fault: str) -> bool:
        """`pl` and `pg`: whether a crash leads to no mail of who sent this message."""
        node, kind = self.kinds[fault].node, self.kinds[fault].fault
        sender = getattr(self.places[at].events.get(message), "source", None)
        if kind != "crash" or sender is None or node in (sender, self.kinds[message].node):
            return self.commute(at, message, fault)
        server, crashing = self._server(at, sender), self._server(at, node)
        if not server.up:
            return True
        if (server.role, crashing.role) == ("leading", "following"):
            followers = len(server.synced) - 1
            return bool(followers - 1 >= len(server.voters) // 2)
        global_impact = (("following", "leading"), ("looking", "looking"))
        return (server.role, crashing.role) not in global_impact

    def _ballot(self, at: int, name: str) -> Any:
        """What a notification says; None if the event is none."""
        message = getattr(self.places[at].events.get(name), "message", None)
        return message.ballot if isinstance(message, Notification) else None

    def _server(self, at: int, node: str) -> Any:
        self.world.restore(self.places[at].saved)
        return self.world.view()[node]
