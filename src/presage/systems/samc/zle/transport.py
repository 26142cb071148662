"""The connections of `zle`: what survives a crash of either end, and what is sent again.

Each pair of servers has one queue in each direction, for the election and for the link to the
leader. ZooKeeper has a connection for each; so here the order of mail is a little more regular. A
crash closes all connections of a server: its peers hear `Down` behind all that it had sent, and
what was on its way to it is ignored by its next life.

Of notifications to a peer that is down the newest waits at the sender. When the peer is back, it
gets the last notification that the sender had for it, also if its previous life got it. Version 3.3
kept up to a hundred and sent them all; the newest is enough for the bugs. Older ones could be votes
for the peer itself, by which it would come to lead even where ZK-975 is mended.
"""

from __future__ import annotations

from typing import Any

from presage import Service, durable, state
from presage.systems.samc.zle.messages import Ballot, Link, Mail, Notification


class Endpoint(Service):
    """One end of all connections of a server."""

    peers: tuple[str, ...]  # all other servers
    life: int = durable(0)  # how often it has started
    lives: dict[str, int] = state(dict)  # of peers it has heard of
    down: frozenset[str] = frozenset()  # peers that crashed, and have not been heard of since
    last_sent: dict[str, Ballot] = state(dict)  # or to be sent, to a peer that is down

    def begin_life(self) -> None:
        """At first all know each other; who comes back knows nobody."""
        self.life += 1
        self.lives = dict.fromkeys(self.peers, 1) if self.life == 1 else {}

    def accept(self, mail: Mail, source: str) -> bool:
        """Whether mail came on a connection that still exists. A new one is put to use at once."""
        if mail.to_life not in (0, self.life):
            return False
        known = self.lives.get(source)
        is_new = mail.to_life == 0 if known is None else mail.life != known
        self.lives[source] = mail.life
        self.down -= {source}
        if is_new and source in self.last_sent:
            self.notify(source, self.last_sent[source])
        return True

    def notify(self, peer: str, ballot: Ballot) -> None:
        """Send a notification, or let it wait for a peer that is down."""
        self.last_sent[peer] = ballot
        if peer not in self.down:
            self.send(peer, Notification(**self._stamps(peer), ballot=ballot))

    def tell(self, peer: str, kind: type[Link], **fields: int) -> None:
        """Send something on the link of a learner with its leader."""
        self.send(peer, kind(**self._stamps(peer), **fields))

    def _stamps(self, peer: str) -> dict[str, Any]:
        return {"life": self.life, "to_life": self.lives.get(peer, 0)}
