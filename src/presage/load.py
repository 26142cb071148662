"""From a target on the command line to a `System`.

A target is a shipped system's name, `package.module:name` or `path/to/file.py:name`; the name is
that of a `System` or of a function that returns one, and may be left out where a file has only
one. Whatever is wrong with the user's code on the way becomes a `BadTarget` with its place.

A file is imported under a name made from its stem alone, so that its classes have the same
identity in `check` and in a later `replay`, from whatever folder.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from presage.errors import BadTarget, BadTrace, PresageError, explain
from presage.model.service import Service
from presage.model.source import place
from presage.model.system import System
from presage.parameters import (
    Parameter,
    did_you_mean,
    parameters_of,
    takes_any,
    write,
)
from presage.systems import SHIPPED
from presage.trace.trace import Trace

OURS = str(Path(__file__).parent)
FORMS = "a target is a shipped name, `package.module:name` or `path/to/file.py:name`"
LISTING = "`presage systems` lists the shipped ones"


@dataclass(frozen=True)
class Loaded:
    """A system, and what was said to get it: enough to get it again."""

    system: System
    target: str
    parameters: dict[str, Any] = field(default_factory=dict)  # as given, read to their types


@dataclass(frozen=True)
class Shipped:
    """What `presage systems` tells of one shipped system."""

    name: str
    summary: str
    parameters: list[Parameter]


def load(target: str, settings: Mapping[str, Any] | None = None) -> Loaded:
    """Resolve `target` and build its system with `settings`, given as text or as plain values."""
    thing = find(target)
    settings = settings or {}
    if isinstance(thing, System):
        if settings:
            raise BadTarget(
                explain(
                    f"`{target}` takes no parameters, so `{next(iter(settings))}` cannot be set",
                    "it is a `System`, not a function",
                    "make it a function with keyword parameters that returns a `System`",
                )
            )
        return Loaded(thing, target)
    values = _read(target, thing, settings)
    return Loaded(_build(target, thing, values), target, values)


def load_traced(
    trace: Trace, path: str | Path, target: str | None = None, command: str = "replay"
) -> Loaded:
    """The system of `trace`, read from `path`: the one it names, or `target` if that is given."""
    named = target or trace.target
    if named is None:
        raise BadTrace(
            explain(
                f"the trace `{path}` does not say which system it belongs to",
                "it was saved by `presage.check` called from Python",
                f"`presage {command} {path} --target TARGET`",
            )
        )
    return load(named, trace.parameters)


def find(target: str) -> System | Callable[..., Any]:
    """The `System`, or the factory of one, that `target` names."""
    if target in SHIPPED:
        return _checked(target, "system", importlib.import_module(SHIPPED[target]).system)
    if match := re.fullmatch(r"(.+\.py)(?::(.*))?", target, re.DOTALL):
        module = _import_file(target, Path(match[1]))
        return _pick(target, module, match[2] or "")
    module_name, colon, name = target.partition(":")
    if not colon:
        raise _unknown(target)
    module = _import_module(target, module_name)
    return _pick(target, module, name)


def shipped() -> list[Shipped]:
    """Every system that comes with presage, by name."""
    told = []
    for name, path in sorted(SHIPPED.items()):
        module = importlib.import_module(path)
        summary = (inspect.getdoc(module) or "").partition("\n")[0]
        told.append(Shipped(name, summary, list(parameters_of(module.system).values())))
    return told


def _unknown(target: str) -> BadTarget:
    path = Path(target)
    if path.is_file() or path.is_dir() or "/" in target:
        cause, remedy = "a path that is no Python file", "name a file that ends in `.py`"
    elif "." in target:
        cause, remedy = "a module without a name in it", f"add the name: `{target}:name`"
    else:
        cause, remedy = "a misspelt name", LISTING
    hint = did_you_mean(target, SHIPPED)
    return BadTarget(explain(f"there is no system `{target}`{hint}", cause, f"{remedy}; {FORMS}"))


def _import_file(target: str, path: Path) -> ModuleType:
    if not path.is_file():
        raise BadTarget(
            explain(
                f"`{path}` is not a file",
                "another current folder, or a misspelt path",
                f"give the path from the current folder; {FORMS}",
            )
        )
    name = "presage_target_" + re.sub(r"\W", "_", path.stem)
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    assert spec is not None and spec.loader is not None, path
    module = importlib.util.module_from_spec(spec)
    _reachable(path.resolve().parent)
    sys.modules[name] = module  # dataclasses and type hints look their module up here
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        sys.modules.pop(name, None)
        raise _broken_import(target, error) from error
    return module


def _import_module(target: str, name: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise _unknown(target)
    _reachable(Path.cwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _broken_import(target, error) from error
        raise BadTarget(
            explain(
                f"there is no module `{error.name}`{did_you_mean(target, SHIPPED)}",
                "it is not installed here, or lies below another folder than the current one",
                f"check the spelling of `{target}`, or name its file: `path/to/file.py:name`",
            )
        ) from error
    except BaseException as error:
        raise _broken_import(target, error) from error


def _reachable(folder: Path) -> None:
    """Let the target import its neighbours, as it could when run by itself."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _broken_import(target: str, error: BaseException) -> BaseException:
    """What to raise when the code of `target` raised `error` while it was imported."""
    if isinstance(error, PresageError | KeyboardInterrupt):
        return error
    if isinstance(error, SyntaxError):
        where = place(error.filename, error.lineno or 1) if error.filename else target
        line = f": `{error.text.strip()}`" if error.text else ""
        cause = "a missing bracket, quote or colon, here or on the line before"
        return BadTarget(explain(f"{where}: {error.msg}{line}", cause, "correct that line"))
    return BadTarget(
        explain(
            f"{_told(error)}, while `{target}` was imported",
            "a module that is not installed in this environment, or code that runs on import",
            "correct that line, and keep the rest below `if __name__ == '__main__':`",
        )
    )


def _pick(target: str, module: ModuleType, name: str) -> System | Callable[..., Any]:
    if not name:
        name = _only_name(target, module)
    thing: Any = module
    for part in name.split("."):
        if not hasattr(thing, part):
            names = [found for found in vars(module) if not found.startswith("_")]
            candidates = _candidates(module)
            known = f"it has {_listed(candidates)}" if candidates else "it has no system at all"
            raise BadTarget(
                explain(
                    f"`{target}`: there is no `{name}`{did_you_mean(name, candidates or names)}",
                    f"a misspelt name; {known}",
                    "name a `System`, or a function that returns one",
                )
            )
        thing = getattr(thing, part)
    return _checked(target, name, thing)


def _only_name(target: str, module: ModuleType) -> str:
    names = _candidates(module)
    if len(names) == 1:
        return names[0]
    path = target.rstrip(":")
    if not names:
        raise BadTarget(
            explain(
                f"`{path}` has no system",
                "it makes no `System`, or its factory is not annotated `-> System`",
                f"name it: `{path}:name`",
            )
        )
    raise BadTarget(
        explain(
            f"`{path}` has more than one system: {_listed(names)}",
            "the name was left out",
            f"name one: `{path}:{names[0]}`",
        )
    )


def _candidates(module: ModuleType) -> list[str]:
    """Public names of systems, and of functions of this module annotated to return one."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        if isinstance(value, System)
        or inspect.isfunction(value)
        and value.__module__ == module.__name__
        and _returns_system(value)
    ]


def _returns_system(function: Callable[..., Any]) -> bool:
    returned = function.__annotations__.get("return")
    return returned is System or returned in ("System", "presage.System")


def _checked(target: str, name: str, thing: Any) -> System | Callable[..., Any]:
    """`thing`, if it can be a system or make one."""
    if isinstance(thing, System):
        return thing
    if isinstance(thing, type) and issubclass(thing, Service) or isinstance(thing, Service):
        fact, cause = "is a service, not a system", "the class was named instead of the system"
    elif not callable(thing):
        fact = f"is a `{type(thing).__name__}`, not a `System`"
        cause = "another name was meant"
    else:
        return thing  # type: ignore[no-any-return]
    remedy = "name a `System(nodes={...})`, or a function that returns one"
    raise BadTarget(explain(f"`{name}` of `{target}` {fact}", cause, remedy))


def _read(target: str, factory: Callable[..., Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments that `settings` mean to `factory`."""
    try:
        known, open_ended = parameters_of(factory), takes_any(factory)
    except (TypeError, ValueError):  # a callable written in C tells nothing of its parameters
        known, open_ended = {}, True
    values: dict[str, Any] = {}
    for name, value in settings.items():
        if name not in known and not open_ended:
            raise _unknown_parameter(target, name, known)
        try:
            values[name] = known.get(name, Parameter(name)).read(write(value))
        except ValueError as error:
            raise _bad_value(target, name, str(error), known.get(name)) from error
    missing = [name for name in known if known[name].required and name not in values]
    if missing:
        raise BadTarget(
            explain(
                f"`{target}` needs a value for `{missing[0]}`",
                "that parameter has no default",
                f"`--set {missing[0]}=VALUE`; it takes {known[missing[0]].expects}",
            )
        )
    return values


def _bad_value(target: str, name: str, why: str, parameter: Parameter | None) -> BadTarget:
    cause, remedy = "a value of another type", f"`--set {name}=VALUE` with such a value"
    if parameter is not None and parameter.values:
        cause = "a misspelt value, or one that this version does not have"
        remedy = f"`--set {name}=VALUE` with one of these values"
    return BadTarget(explain(f"`{target}`: {why}", cause, remedy))


def _unknown_parameter(target: str, name: str, known: Mapping[str, Parameter]) -> BadTarget:
    has = f"it has {_listed(list(known))}" if known else "it has none"
    return BadTarget(
        explain(
            f"`{target}` has no parameter `{name}`{did_you_mean(name, known)}",
            f"a misspelt name; {has}",
            "`--set KEY=VALUE` sets keyword arguments of the function that makes the system",
        )
    )


def _build(target: str, factory: Callable[..., Any], values: dict[str, Any]) -> System:
    given = ", ".join(f"{name}={write(value)}" for name, value in values.items())
    try:
        system = factory(**values)
    except (PresageError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise BadTarget(
            explain(
                f"{_told(error)}, while `{target}` was built{f' with {given}' if given else ''}",
                "a parameter out of its range, or a slip in the function that makes the system",
                "give other parameters, or correct that line",
            )
        ) from error
    if isinstance(system, System):
        return system
    if inspect.iscoroutine(system):
        system.close()  # never awaited, on purpose: without this Python warns about it later
    raise BadTarget(
        explain(
            f"`{target}` returned a `{type(system).__name__}`, not a `System`",
            "a missing `return`, or another function was meant",
            "return a `System(nodes={...})`",
        )
    )


def _told(error: BaseException) -> str:
    """`place: Type: text` of an exception out of the user's code."""
    found = _innermost(error.__traceback__)
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    return f"{found}: {text}" if found else text


def _innermost(traceback: TracebackType | None) -> str:
    """The last place in a traceback that is neither ours nor the import machinery's."""
    found = ""
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith(("<frozen", OURS)):
            found = place(file, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
