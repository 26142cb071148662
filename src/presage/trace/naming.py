"""What the names in encoded values mean here: `module:qualname` to a class or function."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any


def named(name: str, met: Mapping[str, list[type]], *, imports: bool) -> Any:
    """What `name` stands for; raises `LookupError` if that cannot be said.

    `met`: classes of the system by name; `imports`: whether a module may be imported for it.
    """
    module, _, path = name.partition(":")
    classes = met.get(name, [])
    if len(classes) == 1:
        return classes[0]
    if "<locals>" not in path:
        import inspect

        try:
            if not imports and module not in sys.modules:
                raise ImportError
            found: Any = importlib.import_module(module)
            for part in path.split("."):
                found = inspect.getattr_static(found, part)  # calls no code of the module
            return found.__func__ if isinstance(found, staticmethod) else found
        except (ImportError, AttributeError):
            pass
    living = [cls for cls in _classes(object) if f"{cls.__module__}:{cls.__qualname__}" == name]
    if len(living) == 1:
        return living[0]
    raise LookupError(name)


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
