"""Cluster management of Hadoop 2.0.3: a job runs again (MR-5505), or hangs (MR-5489).

A resource manager (RM) keeps the application in a store on disk, launches its application master
(AM), and grants it containers on nodes (NM). The AM runs one task in each. When all are done it
unregisters, and the RM removes the application from the store. An RM that boots launches a new
attempt of what it finds there. The RM works through a queue of its own, each entry in a step.

MR-5505: the RM answers an unregistration at once, and removes the application much later. If it
crashes in between, it runs the job again, although the AM has ended; a client that asks the AM
had learned of the success even earlier. The repair (with YARN-540) answers when the removal has
reached the disk; the AM asks until then, and tells clients nothing before.

MR-5489: the AM does not use a node on which containers fail, but does not tell the RM. The RM
grants a container there, the AM gives it back, and so on for ever. The repair tells the RM.

Certain: causes and repairs, read in Hadoop's history; the steps of MR-5505, from the paper.
Reconstructed: the steps of MR-5489. Abstracted: the application is submitted before all else; a
heartbeat of a node is the step in which the RM grants a container there; the AM has a place of its
own; a node that goes bad, the paper's second crash, is an action; a blacklist is never ignored.
"""

from __future__ import annotations

from presage import Faults, System
from presage.systems.samc.yarn.properties import (
    Onlooker,
    ended_jobs_stay_ended,
    few_grants_are_refused,
    jobs_end,
)
from presage.systems.samc.yarn.service import Bug, Client, Master, NodeManager, ResourceManager


def system(
    *,
    tasks: int = 1,
    nodes: int = 2,
    crashes: int = 1,
    restarts: int = 1,
    bad: bool | None = None,
    polls: int | None = None,
    bug: Bug = "none",
) -> System:
    """One application, that has just been submitted, and an RM that may crash.

    tasks: of the application.
    nodes: each with room for one container.
    crashes: how often the RM may crash.
    restarts: how often it may come back.
    bad: whether the first node may go bad; left out: as the bug needs it.
    polls: how often the client asks for the job; left out: as the bug needs it.
    bug: `MR-5505` answers and removes too early and too late; `MR-5489` keeps a blacklist secret.
    """
    hangs = bug == "MR-5489"
    bad = hangs if bad is None else bad
    polls = int(not hangs) if polls is None else polls
    names = tuple(f"nm{n}" for n in range(1, nodes + 1))
    return System(
        {
            "rm": ResourceManager(nodes=names, bug=bug),
            "am": Master(number=tasks, bug=bug),
            **{name: NodeManager(fragile=bad and name == names[0]) for name in names},
            "client": Client(polls=polls),
        },
        network="ordered",
        faults=Faults(crash=crashes, restart=restarts, nodes=["rm"]),
        observers={"onlooker": Onlooker()},
        properties=[ended_jobs_stay_ended, few_grants_are_refused, jobs_end],
        name="Yarn",
    )
