"""Systems of "SAMC: Semantic-Aware Model Checking" (Leesatapornwongsa et al., OSDI 2014).

The paper counts how many executions searches need for twelve bugs of ZooKeeper, Hadoop and
Cassandra, most of which need crashes and reboots. Here are the seven protocols, written anew.
`system(...)` has keyword arguments as parameters. A bug is a value of `bug`, and comes with the
paper's budget of crashes and restarts; `bug="none"` is correct. `bugs` has all of them as a list,
with the paper's counts.

Two sources say what a bug is: the paper, which tells three of them step by step, and the history of
the real code, in which the repairs of all but ZK-1075 and ZK-1492 were found. So the causes of
those ten are certain. Reconstructed are the order of events, where the paper is silent, and the
claim that breaks. Each module says which is which, and what it leaves out. Sizes differ from the
paper's: a handler is one step here. So counts of executions compare in order of magnitude only.

Two files serve the models of ZooKeeper's broadcast: `broadcast`, what its versions share, and
`election`, which is one step.

Services have a method `recovery`: what recovery after a crash depends on, seen by that node. These
are the paper's "relevant affected local states"; names of nodes are left out.
"""

from __future__ import annotations

MODELS: tuple[str, ...] = (
    "gossip",
    "hints",
    "speculation",
    "yarn",
    "zab31",
    "zab34",
    "zle",
)
