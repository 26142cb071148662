"""The reference of public names, written from signatures and docstrings.

Of a class those members are shown that the documentation uses: others have no underscore because
another room of the package needs them. Docstrings are Markdown, as the pages are.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[2] / "docs"
MODULES = ("presage", "presage.real", "presage.mailbox", "presage.sockets")
USED = re.compile(r"\.([a-z]\w*)")
QUALIFIED = re.compile(r"\b(?:presage|typing|collections)\.(?:[a-z_]+\.)*(?=[A-Z])")
ABOUT = """\
# Public names

Written from the signatures and docstrings of the code. The other pages explain the same by topic;
`python -m pydoc presage.check` shows it in a terminal.
"""


class _Source:
    """Something that signatures show as it is written in the code."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def names_page() -> str:
    """All public names, module by module, in the order of the alphabet."""
    parts = [ABOUT]
    for name in MODULES:
        module = importlib.import_module(name)
        parts += [f"\n## `{name}`\n", _directive("py:module", name, "", [":no-index-entry:"])]
        for public in sorted(module.__all__, key=str.casefold):
            parts.append(_entry(public, getattr(module, public)))
    return "\n".join(parts)


def _entry(name: str, value: Any) -> str:
    if inspect.isclass(value):
        members = "\n".join(_members(value))
        return _directive("py:class", name + signature(value), f"{_doc(value)}\n\n{members}")
    if inspect.isroutine(value):
        return _directive("py:function", name + signature(value), _doc(value))
    kind = type(value)
    return _directive("py:data", name, _doc(value, kind), [f":type: {kind.__name__}"])


def _members(owner: type) -> Iterator[str]:
    """The documented methods and properties of a class that the pages use."""
    found: dict[str, str] = {}
    for base in inspect.getmro(owner):
        if not base.__module__.startswith("presage"):
            continue
        for name, value in vars(base).items():
            if name in found or name.startswith("_") or name not in used():
                continue
            function = getattr(value, "fget", None) or getattr(value, "__func__", value)
            # An override without a docstring of its own, of a view, refuses.
            if not inspect.isroutine(function) or not function.__doc__:
                continue
            is_property = isinstance(value, property)
            bound = value is not function  # a method of the class, or one without an object
            shown = "" if is_property else signature(getattr(owner, name), without=not bound)
            kind = "py:property" if is_property else "py:method"
            text = _doc(function)
            found[name] = _directive(kind, name + shown, text, [":no-contents-entry:"], "~~~")
    yield from (found[name] for name in sorted(found))


@functools.cache
def used() -> frozenset[str]:
    """What the pages write behind a dot."""
    pages = [page for page in DOCS.rglob("*.md") if page.parent.name != "decisions"]
    return frozenset(name for page in pages for name in USED.findall(page.read_text("utf-8")))


def signature(value: Any, *, without: bool = False) -> str:
    """The parameters of a function or class, as the code has them; `without` the first one."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    shown = [
        parameter.replace(annotation=_annotation(parameter), default=_default(parameter))
        for parameter in [*found.parameters.values()][without:]
    ]
    returns = "" if inspect.isclass(value) else _returns(found)
    return QUALIFIED.sub(
        "", str(found.replace(parameters=shown, return_annotation=found.empty)) + returns
    )


def _annotation(parameter: inspect.Parameter) -> Any:
    given = getattr(parameter.annotation, "__forward_arg__", parameter.annotation)
    return _Source(given) if isinstance(given, str) else given


def _default(parameter: inspect.Parameter) -> Any:
    given = parameter.default
    if given is parameter.empty or re.match(r"[\w\"'(\[{.-]", repr(given)):
        return given
    return _Source("...")  # an object that no literal makes


def _returns(found: inspect.Signature) -> str:
    given = found.return_annotation
    if given is found.empty:
        return ""
    return f" -> {given if isinstance(given, str) else inspect.formatannotation(given)}"


def _doc(value: Any, kind: type | None = None) -> str:
    text = inspect.getdoc(kind or value) or ""
    return "" if text.startswith(("str(object=", "Convert a string or number")) else text


def _directive(
    kind: str, argument: str, content: str, options: list[str] | None = None, fence: str = "````"
) -> str:
    lines = [f"{fence}{{{kind}}} {argument}", *(options or []), "", content.strip(), fence, ""]
    return "\n".join(lines)
