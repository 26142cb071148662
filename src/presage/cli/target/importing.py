"""From a target on the command line to the module it names.

A file is imported under a name made from its stem alone, so that its classes have the same
identity in `check` and in a later `replay`, from whatever folder. Whatever is wrong with the user's
code on the way becomes a `BadTarget` with its place.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType, TracebackType

from presage.errors import BadTarget, PresageError, did_you_mean
from presage.lifeline import is_interrupt
from presage.model.source import place
from presage.systems import SHIPPED

OURS = str(Path(__file__).parents[2])
LISTING = "`presage systems` lists the shipped ones"
FORMS = "a target is a shipped name, `package.module:name` or `path/to/file.py:name`"


def unknown(target: str) -> BadTarget:
    path = Path(target)
    if path.is_file() or path.is_dir() or "/" in target:
        cause, remedy = "a path that is no Python file", "name a file that ends in `.py`"
    elif "." in target:
        cause, remedy = "a module without a name in it", f"add the name: `{target}:name`"
    else:
        cause, remedy = "a misspelt name", LISTING
    file = Path(f"{target}.py")
    hint = f"; did you mean `{file}`?" if file.is_file() else did_you_mean(target, SHIPPED)
    return BadTarget(f"there is no system `{target}`{hint}", cause, f"{remedy}; {FORMS}")


def import_file(target: str, path: Path) -> ModuleType:
    if not path.is_file():
        raise BadTarget(
            f"`{path}` is not a file",
            "another current folder, or a misspelt path",
            f"give the path from the current folder; {FORMS}",
        )
    name = "presage_target_" + re.sub(r"\W", "_", path.stem)
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    assert spec is not None and spec.loader is not None, path
    module = importlib.util.module_from_spec(spec)
    _reachable(path.resolve().parent)
    sys.modules[name] = module  # dataclasses and type hints look their module up here
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        # Compiled code is found by time in seconds and by size: an edit could be overlooked.
        spec.loader.exec_module(module)
    except BaseException as error:
        sys.modules.pop(name, None)
        if _is_not_theirs(error):
            raise
        raise _broken_import(target, error) from error
    finally:
        sys.dont_write_bytecode = writes
    return module


def import_module(target: str, name: str, folder: Path | None = None) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise unknown(target)
    _reachable(folder or Path.cwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _broken_import(target, error) from error
        raise BadTarget(
            f"there is no module `{error.name}`{did_you_mean(target, SHIPPED)}",
            "it is not installed here, or lies below another folder than the current one",
            f"check the spelling of `{target}`, or name its file: `path/to/file.py:name`",
        ) from error
    except BaseException as error:
        if _is_not_theirs(error):
            raise
        raise _broken_import(target, error) from error


def _is_not_theirs(error: BaseException) -> bool:
    """Whether `error` is not that of the code that was imported."""
    return isinstance(error, PresageError) or is_interrupt(error)


def _reachable(folder: Path) -> None:
    """Let the target import its neighbours, as it could when run by itself."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _broken_import(target: str, error: BaseException) -> BaseException:
    """What to raise when the code of `target` raised `error` while it was imported."""
    if isinstance(error, SyntaxError):
        where = place(error.filename, error.lineno or 1) if error.filename else target
        line = f": `{error.text.strip()}`" if error.text else ""
        cause = "a missing bracket, quote or colon, here or on the line before"
        return BadTarget(f"{where}: {error.msg}{line}", cause, "correct that line")
    fact = f"{error_text(error)}, while `{target}` was imported"
    if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("mpi4py"):
        return BadTarget(fact, *mpi(target))
    cause = "code that runs when the file is imported raises"
    remedy = "correct that line; what is no definition belongs below `if __name__ == '__main__':`"
    if isinstance(error, ImportError):
        cause = "a module, or a name in it, that is not there in this environment"
        remedy = "install it beside presage, or correct the name"
    return BadTarget(fact, cause, remedy)


def mpi(target: str) -> tuple[str, str]:
    """Cause and remedy where an mpi4py script is taken for a module with a system."""
    path = target.partition(":")[0]
    return (
        "an mpi4py script, which is run by several ranks and makes no `System`",
        f"say how many ranks: `presage check {path} --mpi 4`",
    )


def error_text(error: BaseException) -> str:
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
