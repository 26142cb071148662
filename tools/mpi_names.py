"""The names of mpi4py that presage's mpi4py has, by class: docs/reference/mpi-names.md.

python tools/mpi_names.py          writes the page
python tools/mpi_names.py MPI.pyi  prints the names of mpi4py's stub that are not there
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from presage.frontends.mpi.launch.module import MODULES

PAGE = Path(__file__).parents[1] / "docs/reference/mpi-names.md"
MPI = MODULES["mpi4py.MPI"]
# Of this package: no script of mpi4py has them.
INTERNAL = (
    "family named codes of label number view check fold fold_data complete_with set_up is_freed"
    " started arrive is_active is_open has_arrived joined look got open_slots next_slot watch"
    " watched call waits_for members freed hints what between learned complain take layout sign"
    " basic settle Is_predefined kind lasting peek"
)
HEAD = """# mpi4py's names

The names of mpi4py 4 that presage's `mpi4py` has, by class; `tools/mpi_names.py` writes this page.
What they do is in [mpi4py](mpi.md). Some are there only to say that presage does not do it.

| class | | names |
|---|---|---|
"""


def public(owner: object) -> list[str]:
    """Names that scripts may use."""
    return sorted(name for name in dir(owner) if not name.startswith("_"))


def classes() -> dict[str, type]:
    return {
        name: value
        for name, value in sorted(vars(MPI).items())
        if isinstance(value, type) and not name.startswith("_")
    }


def own(name: str) -> list[str]:
    """The names of a class that no class of MPI above it has."""
    kind = classes()[name]
    above = [other for other in classes().values() if other is not kind and issubclass(kind, other)]
    plain = {*dir(Exception), *dir(object), *INTERNAL.split()}
    inherited = {each for other in above for each in dir(other)}
    return [each for each in public(kind) if each not in inherited | plain]


def page() -> str:
    rows = []
    functions = [
        name for name in public(MPI) if callable(getattr(MPI, name)) and name not in classes()
    ]
    constants = [name for name in public(MPI) if name not in classes() and name not in functions]
    handles = [name for name in functions if not hasattr(getattr(MPI, name), "__code__")]
    functions = [name for name in functions if name not in handles]
    for title, names in (("functions", functions), ("constants", sorted({*constants, *handles}))):
        rows.append((title, names))
    rows += [(f"`{name}`", own(name)) for name in classes()]
    for module, found in sorted(MODULES.items()):
        if module not in ("mpi4py", "mpi4py.MPI", "mpi4py.util"):
            rows.append((f"`{module}`", public(found)))
    body = (
        f"| {title} | {len(names)} | {' '.join(f'`{name}`' for name in names)} |"
        for title, names in rows
    )
    return HEAD + "\n".join(body) + "\n"


def missing(stub: str) -> list[str]:
    """Names that mpi4py's stub has and the module has not: `Win.Attach`."""
    found = []
    for node in ast.parse(stub).body:
        if isinstance(node, ast.ClassDef):
            kind = getattr(MPI, node.name, None)
            for each in ast.walk(node):
                name = _name(each)
                if name and not hasattr(kind, name):
                    found.append(f"{node.name}.{name}")
        elif (name := _name(node)) and name not in vars(MPI):
            found.append(name)
    return sorted({each for each in found if "._" not in each and not each.startswith("_")})


def _name(node: ast.AST) -> str | None:
    if isinstance(node, ast.FunctionDef):
        return node.name
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    return None


def main() -> None:
    if sys.argv[1:]:
        print("\n".join(missing(Path(sys.argv[1]).read_text())))
    else:
        PAGE.write_text(page())


if __name__ == "__main__":
    main()
