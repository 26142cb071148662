"""Two bugs that real implementations had, each as a server that has it.

`last_promise`: the leader proposes the value of the last promise it received, not that of the
highest ballot among them. Found by the WiDS checker (Liu et al., NSDI 2007); Mace's successor
EventWave shipped a Paxos with the same line until 2012.

`no_disk`: an acceptor does not write its promise and accepted value to disk, and forgets them in
a crash. After Chandra et al., "Paxos Made Live", 2007, where a disk lost them.
"""

from __future__ import annotations

from presage.systems.paxos.messages import Ballot, Prepared, Vote
from presage.systems.paxos.service import Server


class LastPromiseServer(Server):
    def _inherited(self, last: Prepared) -> Vote | None:
        return last.accepted


class NoDiskServer(Server):
    ballot: Ballot = (0, "")
    accepted: Vote | None = None
    decided: bool = False


SERVERS: dict[str, type[Server]] = {
    "none": Server,
    "last_promise": LastPromiseServer,
    "no_disk": NoDiskServer,
}
