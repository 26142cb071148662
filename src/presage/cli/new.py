"""`presage new`: a small project to begin with, which holds, and one line that breaks it.

Nothing that exists is written over: the folder is new, or empty.
"""

from __future__ import annotations

import argparse
import keyword
import shlex
from importlib.util import find_spec
from pathlib import Path
from string import Template

from presage.cli.common import EXIT_HELD
from presage.cli.project import FILES
from presage.errors import BadTarget
from presage.ui.output import write


def add_new(parser: argparse.ArgumentParser) -> None:
    """The options of `presage new`."""
    parser.add_argument("folder", metavar="FOLDER", help="what to make; its name names the module")


def run_new(args: argparse.Namespace) -> int:
    """Write the files of a project, and say what to type next."""
    folder = Path(args.folder)
    _check_free(folder)
    name = _module_name(folder)
    written = []
    for pattern, text in FILES.items():
        path = folder / Template(pattern).substitute(name=name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(Template(text).substitute(name=name), encoding="utf-8")
        except OSError as error:
            raise BadTarget(
                f"`{path}` cannot be written: {error.strerror}",
                "a folder without permission to write, or a full disk",
                "make the project in another folder",
            ) from error
        written.append(f"  {path}")
    steps = [f"cd {shlex.quote(str(folder))}", f"presage check {name}.py", "pytest"]
    write("\n".join(["written:", *written, "next:", *(f"  {step}" for step in steps)]))
    return EXIT_HELD


def _module_name(folder: Path) -> str:
    name = folder.resolve().name.replace("-", "_").lower()
    if name.isidentifier() and not keyword.iskeyword(name):
        if find_spec(name) is None:
            return name
        raise BadTarget(
            f"`{name}` is the name of a module that is installed here",
            "the new one would hide it from code that imports it",
            "`presage new my_" + name + "`",
        )
    raise BadTarget(
        f"`{folder}` names no module: `{name}` is not a name in Python",
        "it begins with a digit, has other signs than letters and digits, or is a keyword",
        "`presage new election`",
    )


def _check_free(folder: Path) -> None:
    if not folder.exists() or folder.is_dir() and not any(folder.iterdir()):
        return
    raise BadTarget(
        f"`{folder}` exists already",
        "a project of this name, or a file",
        "give another name; presage writes over nothing",
    )
