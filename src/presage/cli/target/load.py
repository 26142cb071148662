"""From a target on the command line to a `System` or a `Program`.

A target is a shipped system's name, `package.module:name` or `path/to/file.py:name`; the name is
that of a system, or of a function that returns one, and may be left out where a file has only
one. Where nothing else is said, a program is a system too. Whatever is wrong with the user's code
on the way becomes a `BadTarget` with its place.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import CoroutineType, FunctionType, ModuleType
from typing import Any, TypeAlias

from msgspec import Struct, field

from presage.cli.target.factory import is_function_of, returns_system
from presage.cli.target.importing import error_text, import_file, import_module, mpi, unknown
from presage.cli.target.parameters import Parameter, parameters_of, taken_by, takes_any, write
from presage.errors import BadTarget, PresageError, did_you_mean
from presage.lifeline import is_interrupt
from presage.model.service.service import Service
from presage.model.world.system import System
from presage.process.program import Program
from presage.systems import SHIPPED
from presage.ui.origin import SCRIPT

Checkable: TypeAlias = System | Program
COMMAND = r"(\S*/)?python[0-9.]*\s+\S"  # a command line, of which nodes are made


class Loaded(Struct, frozen=True):
    """A system, and what was said to get it: enough to get it again."""

    system: Checkable
    target: str
    parameters: dict[str, Any] = field(default_factory=dict)  # as given, read to their types


class Shipped(Struct, frozen=True):
    """What `presage systems` tells of one shipped system."""

    name: str
    summary: str
    parameters: list[Parameter]


def load(
    target: str,
    settings: Mapping[str, Any] | None = None,
    folder: Path | None = None,
    *,
    typed: bool = True,
) -> Loaded:
    """Resolve `target` and build its system with `settings`, given as text or as plain values.

    `folder` is where modules are looked for first; left out, the current one. `typed`: the user
    named it, so that a function without annotation may be called if it is of the file named.
    """
    if SCRIPT in target:
        return Loaded(_script(target), target)
    thing = find(target, folder)
    if not isinstance(thing, Checkable):
        _check_callable(target, thing, typed)
    settings = settings or {}
    if isinstance(thing, Checkable):
        if settings:
            raise BadTarget(
                f"`{target}` takes no parameters, so `{next(iter(settings))}` cannot be set",
                f"it is a `{type(thing).__name__}`, not a function",
                "make it a function with keyword parameters that returns one",
            )
        return Loaded(thing, target)
    values = _read(target, thing, settings)
    return Loaded(_build(target, thing, values), target, values)


def load_named(
    target: str,
    settings: Mapping[str, Any] | None = None,
    ranks: int | None = None,
    args: Sequence[str] = (),
    buffering: str = "zero",
) -> Loaded:
    """What `target` names, and what its traces are to name; with `ranks`, an mpi4py script."""
    if ranks is None:
        return load(target, settings)
    from presage.frontends.mpi.launch.program import script
    from presage.search.scripts import target_of

    system = script(target, ranks, args, buffering)
    return Loaded(system, target_of(target, ranks, args, buffering))


def load_program(target: str, *how: Any) -> Program:
    """What `target` names, which has to be a program of processes; `how` as for `load_named`."""
    loaded = load_named(target, *how).system
    if not isinstance(loaded, Program):
        raise BadTarget(
            f"`{target}` is a `{type(loaded).__name__}`, and cannot be simulated",
            "services have no durations; only processes can be simulated",
            "name a `Program`, or a function that returns one",
        )
    return loaded


def _script(target: str) -> Program:
    from presage.search.scripts import program_of

    try:
        return program_of(target)
    except ValueError as error:
        raise BadTarget(
            f"there is no system `{target}`",
            "options in the same word as the target",
            "`SCRIPT --mpi N` are three words on a command line; a trace names a script as"
            " `SCRIPT --mpi N --buffering zero`",
        ) from error


def find(target: str, folder: Path | None = None) -> Checkable | Callable[..., Any]:
    """The `System`, or the factory of one, that `target` names."""
    if re.match(COMMAND, target):
        from presage.frontends.real.command import command_system

        return functools.partial(command_system, target)
    if "\0" in target:
        raise unknown(target.replace("\0", "\\0"))
    if target in SHIPPED:
        return _checked(target, "system", _factory(SHIPPED[target]))
    if match := re.fullmatch(r"(.+\.py)(?::(.*))?", target, re.DOTALL):
        module = import_file(target, Path(match[1]))
        return _pick(target, module, match[2] or "")
    module_name, colon, name = target.partition(":")
    if not colon:
        raise unknown(target)
    module = import_module(target, module_name, folder)
    return _pick(target, module, name)


def shipped() -> list[Shipped]:
    """Every system that comes with presage, by name."""
    import inspect

    found = []
    for name, path in sorted(SHIPPED.items()):
        summary = (inspect.getdoc(importlib.import_module(path)) or "").partition("\n")[0]
        found.append(Shipped(name, summary, list(parameters_of(_factory(path)).values())))
    return found


def _factory(path: str) -> Callable[..., Any]:
    """What makes a shipped system, or program of processes."""
    made = vars(importlib.import_module(path))
    return made.get("system") or made["program"]  # type: ignore[no-any-return]


def _pick(target: str, module: ModuleType, name: str) -> Checkable | Callable[..., Any]:
    if not name:
        name = _only_name(target, module)
    thing: Any = module
    for part in name.split("."):
        if not hasattr(thing, part):
            names = [found for found in vars(module) if not found.startswith("_")]
            systems = candidates(module)
            known = f"it has {_listed(systems)}" if systems else "it has no system at all"
            raise BadTarget(
                f"`{target}`: there is no `{name}`{did_you_mean(name, systems or names)}",
                f"a misspelt name; {known}",
                "name a `System`, a `Program`, or a function that returns one",
            )
        thing = getattr(thing, part)
    return _checked(target, name, thing)


def _is_mpi(thing: Any) -> bool:
    """Whether a name of a module stands for mpi4py or a part of it."""
    return isinstance(thing, ModuleType) and thing.__name__.partition(".")[0] == "mpi4py"


def _only_name(target: str, module: ModuleType) -> str:
    names = candidates(module)
    if len(names) == 1:
        return names[0]
    path = target.rstrip(":")
    if not names and any(_is_mpi(each) for each in vars(module).values()):
        raise BadTarget(f"`{path}` has no system", *mpi(target))
    if not names:
        raise BadTarget(
            f"`{path}` has no system",
            "it makes no `System` or `Program`, or the function that does is not annotated"
            " `-> System` or `-> Program`",
            f"name it: `{path}:name`",
        )
    raise BadTarget(
        f"`{path}` has more than one system: {_listed(names)}",
        "the name was left out",
        f"name one: `{path}:{names[0]}`",
    )


def candidates(module: ModuleType) -> list[str]:
    """Public names of systems, and of functions of this module annotated to return one."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        if isinstance(value, Checkable)
        or isinstance(value, FunctionType)
        and value.__module__ == module.__name__
        and returns_system(value)
    ]


def _checked(target: str, name: str, thing: Any) -> Checkable | Callable[..., Any]:
    """`thing`, if it can be a system or make one."""
    if isinstance(thing, Checkable):
        return thing
    if isinstance(thing, type) and issubclass(thing, Service) or isinstance(thing, Service):
        fact, cause = "is a service, not a system", "the class was named instead of the system"
    elif not callable(thing):
        fact = f"is a `{type(thing).__name__}`, not a `System` or `Program`"
        cause = "another name was meant"
    else:
        return thing  # type: ignore[no-any-return]
    remedy = "name a `System(nodes={...})`, a `Program({...})`, or a function that returns one"
    raise BadTarget(f"`{name}` of `{target}` {fact}", cause, remedy)


def _check_callable(target: str, thing: Callable[..., Any], typed: bool) -> None:
    """Refuse what is not said to return a system: a call can do anything."""
    if returns_system(thing) or typed and is_function_of(target, thing):
        return
    name = getattr(thing, "__name__", type(thing).__name__)
    raise BadTarget(
        f"`{target}` is not said to return a `System` or `Program`, so it is not called",
        "another name was meant, or its result is not annotated",
        f"annotate it: `def {name}(...) -> System`",
    )


def _read(target: str, factory: Callable[..., Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments that `settings` mean to `factory`."""
    try:
        known, open_ended = taken_by(factory), takes_any(factory)
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
            f"`{target}` needs a value for `{missing[0]}`",
            "that parameter has no default",
            f"`--set {missing[0]}=VALUE`; it takes {known[missing[0]].expects}",
        )
    return values


def _bad_value(target: str, name: str, why: str, parameter: Parameter | None) -> BadTarget:
    cause, remedy = "a value of another type", f"`--set {name}=VALUE` with such a value"
    if parameter is not None and parameter.values:
        cause = "a misspelt value, or one that this version does not have"
        remedy = f"`--set {name}=VALUE` with one of these values"
    return BadTarget(f"`{target}`: {why}", cause, remedy)


def _unknown_parameter(target: str, name: str, known: Mapping[str, Parameter]) -> BadTarget:
    has = f"it has {_listed(list(known))}" if known else "it has none"
    return BadTarget(
        f"`{target}` has no parameter `{name}`{did_you_mean(name, known)}",
        f"a misspelt name; {has}",
        "`--set KEY=VALUE` sets keyword arguments of the function that makes the system",
    )


def _build(target: str, factory: Callable[..., Any], values: dict[str, Any]) -> Checkable:
    given = ", ".join(f"{name}={write(value)}" for name, value in values.items())
    try:
        system = factory(**values)
    except PresageError:
        raise
    except BaseException as error:
        if is_interrupt(error):
            raise
        raise BadTarget(
            f"{error_text(error)}, while `{target}` was built{f' with {given}' if given else ''}",
            "a parameter out of its range, or a slip in the function that makes the system",
            "give other parameters, or correct that line",
        ) from error
    if isinstance(system, Checkable):
        return system
    if isinstance(system, CoroutineType):
        system.close()  # never awaited, on purpose: without this Python warns about it later
    raise BadTarget(
        f"`{target}` returned a `{type(system).__name__}`, not a `System` or `Program`",
        "a missing `return`, or another function was meant",
        "return a `System(nodes={...})` or a `Program({...})`",
    )


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
