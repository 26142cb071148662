"""mpi4py without MPI: unmodified scripts, run and checked on presage's own processes.

launch        a script as a program of ranks; run, one plain run
rank          what a rank knows
mistakes      what scripts do wrong
module        the module that scripts import; extras; environment, what a rank finds around it
comm, cart    communicators; group; intercomm, those of two groups; sides, who is where in them
spawn         ranks that start others
point         messages of objects; point_buffers of buffers; post, what both are made of
gather_...    collective calls of objects and buffers; together, how they travel; results
inter_...     the same between two groups; across, how they travel
request       what is under way; persistent, many; hazards, buffers in use; message
window        memory that others access: accesses, syncs (fences, locks); epochs, when accesses are
              made; memory, what is kept in mailboxes; access, what one does
files         transfers, reading and writing; views; fileserver, the processes that hold files
datatype, op, status, buffers, objects, dtlib
finish        the end of a rank; races, waiting: what reports say
"""

from presage.mpi.launch import BUFFERINGS, script
from presage.mpi.waiting import describe, unmatched, waits_for, who_waits

__all__ = [
    "BUFFERINGS",
    "describe",
    "script",
    "unmatched",
    "waits_for",
    "who_waits",
]
