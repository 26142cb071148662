"""The package `mpi4py` around its module: its names, and the modules beside `MPI`."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from presage.frontends.mpi.futures import names as futures
from presage.frontends.mpi.util import bench, dtlib, pkl5, pool, runner, sync

VERSION = "4.0.0"  # of mpi4py, whose names these are


def get_include() -> str:
    """There are no headers."""
    return ""


def get_config() -> dict[str, str]:
    """Nothing was configured."""
    return {}


def profile(name: str, *, path: str | None = None) -> None:
    """No profiler can be loaded."""
    raise ValueError(f"profiler {name!r} not found")


NAMES: dict[str, Any] = {
    "__doc__": "MPI for Python, simulated by presage.",
    "__version__": VERSION,
    "__file__": __file__,
    "__all__": ["MPI"],
    "get_include": get_include,
    "get_config": get_config,
    "profile": profile,
}


def modules(mpi: ModuleType) -> dict[str, ModuleType]:
    """The modules that all ranks share, by name."""
    found: dict[str, ModuleType] = {"mpi4py.MPI": mpi}

    def module(name: str, names: dict[str, Any], is_package: bool = False) -> ModuleType:
        made = found[name] = ModuleType(name, names.pop("__doc__", None))
        made.__dict__.update(names)
        if is_package:
            made.__dict__["__path__"] = []
        return made

    util = module("mpi4py.util", {"__doc__": "Miscellaneous utilities."}, is_package=True)
    for name, source in (("pkl5", pkl5), ("dtlib", dtlib), ("sync", sync), ("pool", pool)):
        util.__dict__[name] = module(f"mpi4py.util.{name}", source.names(mpi))
    for name, source in (("run", runner), ("bench", bench), ("futures", futures)):
        module(f"mpi4py.{name}", source.names(mpi))
    return found


def own_modules(shared: dict[str, ModuleType]) -> dict[str, ModuleType]:
    """The modules that one rank has to itself, since a script may set what they hold."""
    util = ModuleType("mpi4py.util", shared["mpi4py.util"].__doc__)
    own = pkl5.own(shared[pkl5.NAME])
    util.__dict__.update(vars(shared["mpi4py.util"]), pkl5=own)
    return {"mpi4py.util": util, pkl5.NAME: own}
