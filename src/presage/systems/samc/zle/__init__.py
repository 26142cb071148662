"""ZooKeeper's leader election, with five bugs that it had: the protocol ZLE of the SAMC paper.

Servers elect by `FastLeaderElection` and then form an ensemble; see `service`. A bug is switched
on in the version that had it, with the budget of crashes and restarts of the paper's Table 2.

    ZK-790   who falsely leads takes a new epoch, and then refuses the real leader for ever
    ZK-975   who joins gets old votes of all, and leads beside the ensemble that is there
    ZK-1075  nobody can join a leader that has lost its majority
    ZK-1419  the order of votes is no order, and two servers exchange theirs for ever
    ZK-1492  a leader without majority goes on, as an observer counts

Certain are cause and mending of ZK-790, ZK-975 and ZK-1419: both are in ZooKeeper's history. The
events that lead to them are reconstructed, but for ZK-790, whose regression test tells them. ZK-790
needs the flaw of ZK-975, too, which was mended later. Of ZK-1492 only the title is public. Its
cause is inferred from a flaw that version 3.4.3 had and that fits the title and the paper's budget.

ZK-1075 is the least certain. It was never mended, and title and code are all there is. In a real
ensemble it ends when the leader times out; the claim is about the time before. So its leaders are
`patient`, and a server that decides tells those that still look, as they would ask again. With
`fixed` a server that joins counts itself, which ZooKeeper does not do.

The paper's numbers of crashes and restarts are budgets, not needs: ZK-1075 and ZK-1419 need one
crash and no restart. Without a crash none shows; for ZK-1492 this was exhausted with two voters
only.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from presage import (
    HOLDS,
    Faults,
    NodeView,
    System,
    Verdict,
    WorldView,
    always,
    forall,
    sometimes,
)
from presage.systems.samc.zle.service import Server

Bug = Literal["none", "ZK-790", "ZK-975", "ZK-1075", "ZK-1419", "ZK-1492"]


class Profile(NamedTuple):
    """The surroundings of a bug: the version, other flaws, and the paper's budget."""

    version: Literal["3.3", "3.4"] = "3.4"
    flaws: tuple[str, ...] = ()  # of that version, besides the bug
    crashes: int = 1
    restarts: int = 1
    observers: int = 0


PROFILES: dict[Bug, Profile] = {
    "none": Profile(),
    "ZK-790": Profile("3.3", ("ZK-975",)),
    "ZK-975": Profile("3.3"),
    "ZK-1075": Profile("3.3", crashes=3, restarts=2),
    "ZK-1419": Profile(crashes=3, restarts=2),
    "ZK-1492": Profile(crashes=1, restarts=0, observers=1),
}


class Established(NamedTuple):
    """Which ensembles there are, and which of them each server could find when it began to look."""

    leaders: frozenset[str] = frozenset()
    found: tuple[tuple[str, frozenset[str]], ...] = ()  # sorted by server; without those that ended


class Ensembles:
    """An observer: which leaders were established before a server began to look."""

    def initial(self) -> Established:
        return Established()

    def observe(self, seen: Established, node: str, record: str) -> Established:
        if record == "established":
            return seen._replace(leaders=seen.leaders | {node})
        leaders = seen.leaders - {node}
        found = {server: those - {node} for server, those in seen.found} | {node: leaders}
        return Established(
            leaders, tuple(sorted((n, those) for n, those in found.items() if those))
        )


@always
def joins_again(world: WorldView) -> Verdict:
    """ZK-790: no server is ahead of the ensemble, so that it would refuse its leader for ever."""
    for leader in _established(world):
        for server in world.up():
            if server.role != "leading" and server.zxid > leader.epoch:
                epochs = f"is in epoch {server.zxid}, {leader.name} leads in {leader.epoch}"
                return Verdict.fails(f"{server.name} {epochs}")
    return HOLDS


@always
def no_second_leader(world: WorldView) -> Verdict:
    """ZK-975: who began to look when there was an ensemble does not lead beside it."""
    found = dict(world.observer("ensembles").found)
    for leader in _established(world):
        for server in world.up():
            if server.role == "leading" and leader.name in found.get(server.name, ()):
                return Verdict.fails(f"{server.name} leads, and found {leader.name} established")
    return HOLDS


@always
def can_join(world: WorldView) -> Verdict:
    """ZK-1075: where nothing more happens and a majority is up, nobody is left outside."""
    up = [node for node in world.up() if node.name in node.voters]
    leaders = [node for node in up if node.role == "leading" and node.established]
    outside = [node.name for node in up if node.role == "looking"]
    if not leaders or not outside or len(up) <= len(leaders[0].voters) // 2:
        return HOLDS
    if any(_is_followed(leader, world) for leader in leaders) or not _is_quiet(world):
        return HOLDS
    return Verdict.fails(f"{outside[0]} looks for a leader, {leaders[0].name} for followers")


@always
def settles(world: WorldView) -> Verdict:
    """ZK-1419: in one round nobody votes again for whom it had given up."""
    return forall(world.up(), lambda server: server.vote not in server.given_up)


@always
def leaves_without_majority(world: WorldView) -> Verdict:
    """ZK-1492: where nothing more happens, an established leader has a majority of the voters."""
    for leader in world.up():
        if leader.established and len(_synced_voters(leader)) <= len(leader.voters) // 2:
            if _is_quiet(world):
                return Verdict.fails(f"{leader.name} leads, with {sorted(leader.synced)}")
    return HOLDS


@sometimes
def ensemble_forms(world: WorldView) -> bool:
    """All servers with a vote follow one of them."""
    return any(len(_synced_voters(leader)) == len(leader.voters) for leader in _established(world))


def _is_quiet(world: WorldView) -> bool:
    """Whether nothing but a fault can happen."""
    return not any(node.timers for node in world.nodes) and not world.messages()


def _established(world: WorldView) -> list[NodeView]:
    """The leaders that a majority follows."""
    leaders = [node for node in world.up() if node.role == "leading" and node.established]
    return [leader for leader in leaders if _is_followed(leader, world)]


def _is_followed(leader: NodeView, world: WorldView) -> bool:
    present = [
        name
        for name in _synced_voters(leader)
        if world[name].up and world[name].leader == leader.name
    ]
    return len(present) > len(leader.voters) // 2


def _synced_voters(leader: NodeView) -> list[str]:
    return sorted(leader.synced & set(leader.voters))


CLAIMS = {
    "ZK-790": joins_again,
    "ZK-975": no_second_leader,
    "ZK-1075": can_join,
    "ZK-1419": settles,
    "ZK-1492": leaves_without_majority,
}


def system(
    *,
    bug: Bug = "none",
    fixed: bool = False,
    version: Literal["3.3", "3.4"] | None = None,
    nodes: int = 3,
    observers: int | None = None,
    crashes: int | None = None,
    restarts: int | None = None,
) -> System:
    """Servers that all have just started; what is not given is as in the paper.

    bug: which one to switch on.
    fixed: the bug is mended; all else stays as it is with the bug.
    version: of ZooKeeper; none: the one that had the bug, or 3.4.
    nodes: how many servers have a vote.
    observers: how many have none; none: one for ZK-1492.
    crashes: how many there may be; none: as many as in the paper, or one.
    restarts: how many there may be; none: as many as in the paper, or one.
    """
    profile = PROFILES[bug]
    version = profile.version if version is None else version
    observers = profile.observers if observers is None else observers
    crashes = profile.crashes if crashes is None else crashes
    restarts = profile.restarts if restarts is None else restarts
    flaws = frozenset(profile.flaws if fixed or bug == "none" else (*profile.flaws, bug))
    voters = tuple(f"z{number + 1}" for number in range(nodes))
    names = (*voters, *(f"o{number + 1}" for number in range(observers)))
    servers = {
        name: Server(
            peers=tuple(peer for peer in names if peer != name),
            voters=voters,
            version=version,
            flaws=flaws,
            patient=bug == "ZK-1075",
            asks_on=bug == "ZK-1075",
            counts_itself=bug == "ZK-1075" and fixed,
        )
        for name in names
    }
    general = [joins_again, no_second_leader, settles, leaves_without_majority, ensemble_forms]
    claims = general if bug == "none" else [CLAIMS[bug]]
    return System(
        servers,
        network="ordered",
        faults=Faults(crash=crashes, restart=restarts, notices=crashes > 0),
        observers={"ensembles": Ensembles()} if no_second_leader in claims else {},
        properties=claims,
        name="ZooKeeper leader election",
    )
