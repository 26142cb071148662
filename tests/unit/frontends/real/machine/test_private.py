"""The table of private names: this version has them, and the machine uses no others."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from presage.frontends.real.machine import private

FOLDER = Path(private.__file__).parent
# Names of presage itself, and texts that are no names.
OWN = {"_local__made", "_ns", "_out", "_weakrefset"}


def test_this_version_of_python_has_every_private_name() -> None:
    assert private.missing() == []


def test_an_unknown_name_would_be_missed() -> None:
    before, private.TABLE = private.TABLE, private.TABLE + "threading _no_such_name 3.11 3.99\n"
    try:
        assert "threading._no_such_name" in private.missing()
    finally:
        private.TABLE = before


def names_of(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    """Private names in some code, and whether they are defined there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, True
        elif isinstance(node, ast.Name):
            yield node.id, isinstance(node.ctx, ast.Store)
        elif isinstance(node, ast.Attribute):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            yield node.attr, own and isinstance(node.ctx, ast.Store)
        elif isinstance(node, ast.alias):
            yield node.name, False
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, False


def test_the_machine_uses_no_private_name_that_the_table_lacks() -> None:
    used: set[str] = set()
    defined: set[str] = set()
    for path in FOLDER.glob("*.py"):
        if path.name != "private.py":
            for name, is_defined in names_of(ast.parse(path.read_text(encoding="utf-8"))):
                if re.fullmatch(r"_[A-Za-z]\w*", name):
                    (defined if is_defined else used).add(name)
    listed = {name.rpartition(".")[2] for _, name, _, _ in private.entries()}
    modules = {"_thread"}
    assert used - defined - listed - modules - OWN == set()
