"""The systems in a folder: found without running anything, then named like any other target.

A file is imported only if its own text says that it has a system: it imports presage, and at its
top level calls `System`, `Program` or `RealSystem`, or has a function annotated to return one.
Files of tests are left to pytest; hidden folders and virtual environments are not entered.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

from presage.cli.target.importing import import_file
from presage.cli.target.load import candidates, find
from presage.cli.target.parameters import parameters_of
from presage.errors import BadTarget

MAKERS = {"System", "Program", "RealSystem"}
NOT_ENTERED = {"__pycache__", "node_modules", "build", "dist", "site-packages"}


def targets_in(folder: Path) -> list[str]:
    """Every system below `folder` that needs no parameter, as `file.py:name`."""
    found = [
        f"{path}:{name}"
        for path in sorted(_files(folder))
        if _may_have_systems(path)
        for name in candidates(import_file(str(path), path))
    ]
    found = [target for target in found if not _needs_values(target)]
    if found:
        return found
    raise BadTarget(
        f"there is no system in the folder `{folder}`",
        "no file there imports presage and makes a `System`, or has a function `-> System` whose"
        " parameters have defaults",
        "name a file, or begin with `presage new FOLDER`",
    )


def _files(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder):
        here = Path(where)
        folders[:] = [each for each in folders if _is_entered(here / each)]
        yield from (here / name for name in files if name.endswith(".py") and not _is_test(name))


def _is_entered(folder: Path) -> bool:
    hidden = folder.name.startswith(".") or folder.name in NOT_ENTERED
    return not hidden and not (folder / "pyvenv.cfg").exists()


def _is_test(name: str) -> bool:
    return name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"


def _may_have_systems(path: Path) -> bool:
    """Whether a file says that it makes a system."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return False
    return any(map(_is_presage, ast.walk(tree))) and any(map(_makes, tree.body))


def _is_presage(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.partition(".")[0] == "presage" for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] == "presage"
    return False


def _makes(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.FunctionDef):
        return statement.returns is not None and _last_name(statement.returns) in MAKERS
    value = getattr(statement, "value", None)
    assigns = isinstance(statement, ast.Assign | ast.AnnAssign)
    return assigns and isinstance(value, ast.Call) and _last_name(value.func) in MAKERS


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):  # a quoted annotation
        return node.value.rpartition(".")[2]
    return ast.unparse(node).rpartition(".")[2]


def _needs_values(target: str) -> bool:
    thing = find(target)
    return callable(thing) and any(each.required for each in parameters_of(thing).values())
