"""What the names in encoded values mean here: `module:qualname` to a class or function."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from presage.model.functions import ABSENT, static_attribute


def named(name: str, met: Mapping[str, list[type]], *, imports: bool) -> Any:
    """What `name` stands for; raises `LookupError` if that cannot be said.

    `met`: classes of the system by name; `imports`: whether a module may be imported for it.
    """
    module, _, path = name.partition(":")
    classes = met.get(name, [])
    if len(classes) == 1:
        return classes[0]
    if "<locals>" not in path:
        try:
            if not imports and module not in sys.modules:
                raise ImportError
            found: Any = importlib.import_module(module)
            for part in path.split("."):
                found = _attribute(found, part)
            return found.__func__ if isinstance(found, staticmethod) else found
        except (ImportError, AttributeError):
            pass
    living = [cls for cls in _classes(object) if f"{cls.__module__}:{cls.__qualname__}" == name]
    if len(living) == 1:
        return living[0]
    raise LookupError(name)


def _attribute(holder: Any, name: str) -> Any:
    """An attribute as it was written: no code of the module is called."""
    if isinstance(holder, ModuleType):
        found = vars(holder).get(name, ABSENT)
    elif isinstance(holder, type):
        found = static_attribute(holder, name, ABSENT)
    else:
        found = ABSENT
    if found is ABSENT:
        raise AttributeError(name)
    return found


def _classes(root: type) -> Iterator[type]:
    met = {root}
    waiting = [root]
    while waiting:
        cls = waiting.pop()
        yield cls
        below: list[type] = type.__subclasses__(cls)
        for derived in below:
            if derived not in met:
                met.add(derived)
                waiting.append(derived)
