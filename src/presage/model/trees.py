"""The functions of a file as trees of its source, which several ask for: read once."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Sequence

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

# Per file its lines, as `linecache` has them, and its functions by their first line.
_read: dict[str, tuple[Sequence[str] | None, dict[int, list[Function]]]] = {}


def functions(file: str) -> dict[int, list[Function]]:
    """By their first line, be it that of a decorator. Raises `SyntaxError` and the like."""
    lines = linecache.getlines(file)
    known, found = _read.get(file, (None, {}))
    if known is not lines:
        found = {}
        inside: list[ast.AST] = [ast.parse("".join(lines))]
        for node in inside:  # grows meanwhile
            inside += children(node)
            if isinstance(node, Function):
                marks = [each.lineno for each in getattr(node, "decorator_list", ())]
                found.setdefault(min([node.lineno, *marks]), []).append(node)
        _read[file] = (lines, found)
    return found


def children(node: ast.AST) -> list[ast.AST]:
    """As `ast.iter_child_nodes` in less time, without the marks of what is read and written."""
    found: list[ast.AST] = []
    for name in node._fields:
        part = getattr(node, name, None)
        if type(part) is list:
            found += [each for each in part if isinstance(each, ast.AST)]
        elif isinstance(part, ast.AST) and name != "ctx":
            found.append(part)
    return found
