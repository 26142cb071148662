"""mpi4py without MPI: unmodified scripts, run and checked on presage's own processes.

launch        a script as a program of ranks; one plain run; the module that scripts import
threads       threads that ranks start
report        how reports name messages, waiting ranks and races
io, rma       files; windows
communicator  what scripts hold
inter         calls between two groups; ranks that start others
collective    calls of all members
point         messages and requests
data          datatypes, buffers, objects, operations
core          ranks, communicators, mistakes
"""

from presage.frontends.mpi.launch.program import BUFFERINGS, script
from presage.frontends.mpi.report.waiting import describe, unmatched, waits_for, who_waits

__all__ = [
    "BUFFERINGS",
    "describe",
    "script",
    "unmatched",
    "waits_for",
    "who_waits",
]
