"""What the servers of `zle` send each other, and what they vote for.

Every message carries the lives of both ends: the sender's, and the receiver's as the sender knows
it. So a receiver can tell mail of a connection that broke when it crashed.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import Struct

Role = Literal["looking", "following", "leading", "observing"]


class Vote(NamedTuple):
    """A candidate, and how far its log goes. The larger vote is the better one."""

    epoch: int  # the last one it took part in; always 0 in version 3.3, which did not keep it
    zxid: int  # the epoch of the last transaction; there is no traffic within an epoch
    leader: str


class Ballot(NamedTuple):
    """What a notification says: a vote, in which round of elections, and what its owner does."""

    vote: Vote
    round: int
    role: Role


class Mail(Struct, frozen=True, kw_only=True):
    """Any message."""

    life: int  # of the sender: how often it has started
    to_life: int  # of the receiver; 0: the sender has not heard of it yet


class Notification(Mail, frozen=True, kw_only=True):
    """Of the election."""

    ballot: Ballot


class Link(Mail, frozen=True, kw_only=True):
    """On the connection of a learner with its leader."""

    session: int  # which connection: the learner's round when it opened it


class FollowerInfo(Link, frozen=True, kw_only=True):
    """A learner opens its connection."""

    accepted: int  # the last epoch that it accepted


class LeaderInfo(Link, frozen=True, kw_only=True):
    """The leader proposes an epoch (3.4)."""

    epoch: int


class AckEpoch(Link, frozen=True, kw_only=True):
    """A learner accepts it (3.4)."""


class NewLeader(Link, frozen=True, kw_only=True):
    """The leader begins its epoch, with the state that it has."""

    epoch: int
    zxid: int


class Ack(Link, frozen=True, kw_only=True):
    """A learner has that state."""


class Closed(Link, frozen=True, kw_only=True):
    """The other end closed the connection, or refused it."""
