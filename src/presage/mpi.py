"""mpi4py scripts as programs: `from presage.mpi import script`."""

from presage.frontends.mpi import BUFFERINGS, script

__all__ = ["BUFFERINGS", "script"]
