"""Modules of presage are found and read as Python would."""

import importlib.util
import os
import py_compile
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

import presage
from presage.supervise.finder import Finder, Loader

FOLDER = os.path.dirname(presage.__file__)


def modules() -> list[tuple[str, str]]:
    """Every module of presage, and the folder it lies in."""
    found = []
    for file in sorted(Path(FOLDER).rglob("*.py")):
        parts = ["presage", *file.relative_to(FOLDER).with_suffix("").parts]
        folder = file.parent
        if parts[-1] == "__init__":
            parts, folder = parts[:-1], folder.parent
        if len(parts) > 1 and all(part.isidentifier() for part in parts):
            found.append((".".join(parts), str(folder)))
    return found


@pytest.mark.parametrize("prefix", [None, "/elsewhere"])
def test_every_module_is_found_where_python_finds_it(
    prefix: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", prefix)
    finder = Finder(FOLDER)
    for name, folder in modules():
        made, wanted = finder.find_spec(name, [folder]), PathFinder.find_spec(name, [folder])
        assert made is not None and wanted is not None, name
        for of in ("name", "origin", "cached", "has_location", "submodule_search_locations"):
            assert getattr(made, of) == getattr(wanted, of), (name, of)
        assert made.parent == wanted.parent


def test_what_is_no_module_of_ours_is_left_to_python() -> None:
    finder = Finder(FOLDER)
    assert finder.find_spec("presage._core", [FOLDER]) is None
    assert finder.find_spec("presage.cli", ["/elsewhere"]) is None
    assert finder.find_spec("presage_more.cli", [FOLDER]) is None
    assert finder.find_spec("presage.no_such_module", [FOLDER]) is None


def code_of(file: Path) -> object:
    cached = importlib.util.cache_from_source(str(file))
    loader = Loader("module", str(file), cached, os.stat(file))
    code = loader.get_code("module")
    assert code is not None
    space: dict[str, object] = {}
    exec(code, space)
    return space["value"], code.co_filename


def test_byte_code_is_used_only_if_it_is_of_this_source(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text("value = 1\n")
    assert code_of(file) == (1, str(file))  # there is none
    cached = Path(py_compile.compile(str(file)))  # type: ignore[arg-type]
    os.utime(file, (1, 1))
    file.write_text("value = 2\n")
    os.utime(file, (5, 5))
    assert code_of(file) == (2, str(file))  # of another time
    py_compile.compile(str(file), invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
    file.write_text("value = 3\n")
    assert code_of(file) == (3, str(file))  # compared by its content
    py_compile.compile(str(file))
    stat = file.stat()
    file.write_text("value = 4\n")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert code_of(file) == (3, str(file))  # as Python would: the time and the size are the same
    cached.write_bytes(cached.read_bytes()[:10])
    assert code_of(file) == (4, str(file))  # cut off


def test_a_moved_file_is_named_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    file = tmp_path / "a" / "module.py"
    file.write_text("value = 1\n")
    py_compile.compile(str(file))
    (tmp_path / "a").rename(tmp_path / "b")
    moved = tmp_path / "b" / "module.py"
    assert code_of(moved) == (1, str(moved))


def test_python_that_names_byte_code_otherwise_finds_by_itself() -> None:
    program = (
        "import sys; from presage.supervise import finder; finder.shorten('/x');"
        "print(any(isinstance(each, finder.Finder) for each in sys.meta_path))"
    )
    for flags, wanted in (((), "True"), (("-O",), "False")):
        made = [sys.executable, "-B", *flags, "-c", program]
        ran = subprocess.run(made, capture_output=True, text=True, check=True)
        assert ran.stdout.strip() == wanted
