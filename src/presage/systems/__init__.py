"""Systems shipped with presage: classic models whose state counts are published, and real bugs.

Each module has a function `system(...)`, or `program(...)` if it is made of processes, whose
keyword arguments are its parameters, and is written with public names only: read one as an example
of how to write your own. Names are the targets of `presage check`; modules are imported only when
asked for.
"""

from __future__ import annotations

from presage.systems.simgrid import PROGRAMS

SHIPPED: dict[str, str] = {
    "abd": "presage.systems.abd",
    "chord": "presage.systems.chord",
    "counter": "presage.systems.counter",
    "mace_transport": "presage.systems.mace_transport",
    "pastry": "presage.systems.pastry",
    "paxos": "presage.systems.paxos",
    "ping_pong": "presage.systems.ping_pong",
    "randtree": "presage.systems.randtree",
    "single_copy": "presage.systems.single_copy",
    "two_phase_commit": "presage.systems.two_phase_commit",
}
SHIPPED |= {f"simgrid.{name}": f"presage.systems.simgrid.{name}" for name in PROGRAMS}
