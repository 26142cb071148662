"""NumPy's global stream of numbers: a process has its own, a handler none.

The functions of `numpy.random` are replaced as soon as that module is loaded: before a
check, by the checked code at its top, or inside of a handler. Generators and states
that code makes itself take their seeds from `os.urandom`, which is a leaf.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib.machinery import ModuleSpec, PathFinder
from threading import get_ident
from types import ModuleType
from typing import Any

from presage.process.context import current, running
from presage.process.leaves import HANDLERS, TABLE, refuse

NAME = "numpy.random"
PLACES = (NAME, "numpy.random.mtrand")
# Functions of the module that are no methods of its state, and the methods that do the same.
OTHERS = {"seed": "seed", "sample": "random_sample", "ranf": "random_sample"}


class Finder:
    """Lets `numpy.random` be loaded as always, and then takes it."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The usual way to load it; None for all other modules."""
        spec = PathFinder.find_spec(name, path, target) if name == NAME else None
        if spec is None or spec.loader is None:
            return None
        loads = spec.loader.exec_module

        def load(module: ModuleType) -> None:
            # It seeds its own stream meanwhile: not out of that of a process, which would then
            # have other numbers if it is the first to load this.
            stack, running.stack = running.stack, []
            try:
                loads(module)
            finally:
                running.stack = stack
            take_numpy()

        spec.loader.exec_module = load  # type: ignore[method-assign]
        return spec


def take_numpy() -> None:
    """Take what of it is loaded; what is loaded later is taken then."""
    module: Any = sys.modules.get(NAME)
    state_class = getattr(module, "RandomState", None)
    if state_class is None:  # not there, or not all of it yet
        return
    for place in PLACES:
        owner = sys.modules.get(place)
        for name in dir(owner):
            value = getattr(owner, name)
            drawn = name in OTHERS or isinstance(getattr(value, "__self__", None), state_class)
            if type(value) is state_class:
                setattr(owner, name, _shared_state(value, state_class))
            elif drawn and not hasattr(value, "__wrapped__"):
                setattr(owner, name, _dispatch(OTHERS.get(name, name), value, state_class))


def _shared_state(state: Any, state_class: Any) -> Any:
    """The module's own state, which libraries take for the default one; its methods dispatch."""
    names = [name for name in dir(state_class) if not name.startswith("_")]
    methods = {name: _dispatch(name, getattr(state, name), state_class) for name in names}
    statics = {name: staticmethod(method) for name, method in methods.items()}
    return type(state_class.__name__, (state_class,), statics)(state._bit_generator)


def _dispatch(name: str, original: Callable[..., Any], state_class: Any) -> Callable[..., Any]:
    @wraps(original)
    def drawn(*args: Any, **named: Any) -> Any:
        if running.stack:
            notes = current().notes
            if "numpy" not in notes:
                notes["numpy"] = state_class(current().random.getrandbits(32))
            return getattr(notes["numpy"], name)(*args, **named)
        if get_ident() in HANDLERS:
            refuse("chance", f"{NAME}.{name}", sys._getframe(1))
        return original(*args, **named)

    return drawn


TABLE.finders.append(Finder)
