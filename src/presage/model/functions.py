"""What `inspect` says of plain functions and classes, in less time and without loading it.

Every class, handler and property is looked at when it is made. Nearly all are plain functions, of
which the code object says everything; whatever is something else goes to `inspect`.

Invariant: the answers are those of `inspect`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType, MethodType
from typing import Any

ABSENT: Any = type("Absent", (), {"__repr__": lambda _: "<absent>"})()
MARKS = "_presage_marks"  # the attribute of a method under which its marks are kept
OURS = {MARKS}
ANY = 1_000_000  # arguments that `*args` takes
# Of a class, whatever its metaclass makes of questions.
_bases: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_attributes: Callable[[type], Mapping[str, Any]] = type.__dict__["__dict__"].__get__
VARARGS, VARKEYWORDS, GENERATOR, COROUTINE = 0x04, 0x08, 0x20, 0x80  # of a code object's flags


def is_plain(function: Any) -> bool:
    """Whether a call of it runs its body: it makes neither a coroutine nor a generator."""
    if _is_simple(function):
        return not function.__code__.co_flags & (GENERATOR | COROUTINE)
    import inspect

    return not (inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function))


def is_coroutine(function: Any) -> bool:
    """Whether a call of it makes a coroutine."""
    if _is_simple(function):
        return bool(function.__code__.co_flags & COROUTINE)
    import inspect

    return inspect.iscoroutinefunction(function)


def check_call(function: Any, *args: Any) -> None:
    """Raise TypeError if it cannot be called with these; ValueError if nobody can tell."""
    bound, count = function, len(args)
    if type(function) is MethodType:
        bound, count = function.__func__, count + 1
    takes = takes_of(bound)
    if takes is not None and takes[0] <= count <= takes[1]:
        return
    import inspect

    inspect.signature(function).bind(*args)


def arguments_of(function: Any, *args: Any) -> dict[str, Any]:
    """The parameters of a call by name, those left out included; TypeError if it cannot be."""
    takes = takes_of(function)
    if takes is not None and takes[0] <= len(args) <= takes[1] < ANY:
        code, defaults = function.__code__, function.__defaults__ or ()
        if not code.co_kwonlyargcount and not code.co_flags & VARKEYWORDS:
            rest = (
                defaults[len(defaults) - (takes[1] - len(args)) :] if len(args) < takes[1] else ()
            )
            return dict(zip(code.co_varnames, (*args, *rest), strict=False))
    import inspect

    bound = inspect.signature(function).bind(*args)
    bound.apply_defaults()
    return bound.arguments


def takes_of(function: Any) -> tuple[int, int] | None:
    """How many positional arguments it takes: at least, at most; None: it is no simple function.

    None as well if it needs an argument by its name.
    """
    if not _is_simple(function):
        return None
    code, defaults = function.__code__, function.__defaults__ or ()
    if code.co_kwonlyargcount > len(function.__kwdefaults__ or ()):
        return None
    most = ANY if code.co_flags & VARARGS else code.co_argcount
    return code.co_argcount - len(defaults), most


def names_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of all its parameters; raises TypeError or ValueError if nobody can tell."""
    if not _is_simple(function):
        import inspect

        return tuple(inspect.signature(function).parameters)
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    names, more = code.co_varnames[:count], list(code.co_varnames[count : count + 2])
    rest = (more.pop(0),) if code.co_flags & VARARGS else ()
    last = (more[0],) if code.co_flags & VARKEYWORDS else ()
    return (*names[: code.co_argcount], *rest, *names[code.co_argcount :], *last)


def keywords_of(function: Callable[..., Any]) -> tuple[dict[str, Any], bool]:
    """What can be given by name, with its default or `ABSENT`; and whether any other name can."""
    if not _is_simple(function):
        return _inspected_keywords(function)
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    by_name = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    defaults = function.__defaults__ or ()
    given = dict(zip(reversed(positional), reversed(defaults), strict=False))
    given |= function.__kwdefaults__ or {}
    named = (*positional[code.co_posonlyargcount :], *by_name)
    found = {name: given.get(name, ABSENT) for name in named}
    return found, bool(code.co_flags & VARKEYWORDS)


def _inspected_keywords(function: Callable[..., Any]) -> tuple[dict[str, Any], bool]:
    import inspect

    found, any_name = {}, False
    for name, each in inspect.signature(function).parameters.items():
        any_name = any_name or each.kind is each.VAR_KEYWORD
        if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            found[name] = ABSENT if each.default is each.empty else each.default
    return found, any_name


def closed_over(function: Any) -> dict[str, Any]:
    """What it takes from the functions around it; raises ValueError where that is not made yet."""
    function = function.__func__ if isinstance(function, MethodType) else function
    if not isinstance(function, FunctionType):
        raise TypeError(f"{function!r} is not a Python function")
    cells = function.__closure__ or ()
    names = function.__code__.co_freevars
    return {name: cell.cell_contents for name, cell in zip(names, cells, strict=True)}


def static_attribute(cls: type, name: str, default: Any = None) -> Any:
    """An attribute of a class as it was written: no code of it is called."""
    meta: type = type(cls)
    for base in _bases(cls) + _bases(meta):
        own = _attributes(base)
        if name in own:
            return own[name]
    return default


def _is_simple(function: Any) -> bool:
    """Whether it is a function about which nothing is said that its code does not say."""
    return type(function) is FunctionType and function.__dict__.keys() <= OURS
