"""Systems of SAMC: the protocols whose deep bugs "Semantic-Aware Model Checking" (OSDI 2014) met.

Each file is one protocol, written anew from the paper and from the history of its source, with a
function `system(...)`. Each bug is a value of `bug`, and `bug="none"` is correct. The budgets of
crashes and restarts are the paper's unless others are given. A module says what is certain and
what is reconstructed.

Two files serve the models of ZooKeeper: `broadcast`, what its versions share, and `election`.
"""

from __future__ import annotations

MODELS: tuple[str, ...] = ("zab31", "zab34")
