"""Systems shipped with presage: classic models whose state counts are published, and real bugs.

Each is a folder, written with public names only: read one as an example of how to write your own.
Its files have the same names everywhere; a file that would be empty is left out.

    __init__     `system(...)`, whose keyword arguments are its parameters
    messages     what the nodes send each other
    service      the nodes; what they rest on may be a file of its own (`circle`, `transport`)
    properties   what must hold, and what must come about
    bugs         what went wrong in real implementations, and the switches that bring it back

Beside the folders stands what several systems share: `register`, the clients of a register, and
`catalogue`, what a list of bugs is made of. Three folders are collections: `simgrid` has one file
for each program of processes, with a function `program(...)`; `reactive` has one for each benchmark
of a paper, with a function `system(...)`, and two that those share; `samc` has a file or a folder
for each protocol of another paper, and the list of their bugs.

Names are the targets of `presage check`; modules are imported only when asked for.
"""

from __future__ import annotations

from presage.systems.reactive import MODELS as REACTIVE
from presage.systems.samc import MODELS as SAMC
from presage.systems.simgrid import PROGRAMS

SYSTEMS: tuple[str, ...] = (
    "abd",
    "bullet",
    "chord",
    "counter",
    "mace_paxos",
    "mace_transport",
    "pastry",
    "paxos",
    "ping_pong",
    "raft",
    "randtree",
    "single_copy",
    "two_phase_commit",
)
TARGETS: tuple[str, ...] = (
    *SYSTEMS,
    *(f"reactive.{name}" for name in REACTIVE),
    *(f"samc.{name}" for name in SAMC),
    *(f"simgrid.{name}" for name in PROGRAMS),
)
SHIPPED: dict[str, str] = {name: f"presage.systems.{name}" for name in TARGETS}
