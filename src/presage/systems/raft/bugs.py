"""Four bugs of Raft, each as a server that has it.

`figure_8`: a leader commits an entry of an older term as soon as a majority has it; a server that
never had it can still be elected and overwrite it. Figure 8 of the paper.

`forgets_vote`: the vote is not written to disk, so a server that crashes votes twice in one term.

`stale_candidate`: a vote is given without comparing logs: its leader may lack what is committed.

`truncates`: a follower cuts its log behind what a message holds, also where nothing differs; a late
message then removes entries that the follower has acknowledged.
"""

from __future__ import annotations

from presage.systems.raft.messages import Append, Entry, RequestVote
from presage.systems.raft.service import Server


class Figure8Server(Server):
    def _may_commit(self, length: int) -> bool:
        return True


class ForgetsVoteServer(Server):
    vote: str = ""


class StaleCandidateServer(Server):
    def _may_lead(self, request: RequestVote) -> bool:
        return True


class TruncatesServer(Server):
    def _merged(self, append: Append) -> tuple[Entry, ...]:
        return (*self.entries[: append.at], *append.entries)


SERVERS: dict[str, type[Server]] = {
    "none": Server,
    "figure_8": Figure8Server,
    "forgets_vote": ForgetsVoteServer,
    "stale_candidate": StaleCandidateServer,
    "truncates": TruncatesServer,
}
