"""The checked code with a mark at each line, and the file that `--coverage` writes."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import msgspec
from msgspec.structs import replace

from presage.errors import BadSystem, explain
from presage.model.service.service import Service
from presage.model.world.system import System
from presage.process.program import Program
from presage.search.coverage.lines import Lines, Source, executable, nested
from presage.search.coverage.report import Coverage
from presage.search.report import Report, with_notes


def watched(system: System | Program) -> Lines:
    """What notes the lines of the code that `system` is made of."""
    if isinstance(system, Program):
        files = [_file(process.body) for process in system.processes.values()]
    else:
        files = [_file(function) for cls in _classes(system) for function in _functions(cls)]
    return Lines(file for file in files if file)


def annotated(system: System | Program, lines: Lines) -> list[Source]:
    """Every class of a system, or the functions of a program's files, with marks."""
    if isinstance(system, Program):
        return [source for file in sorted(lines.files) for source in _file_source(file, lines)]
    found = []
    for cls in _classes(system):
        codes = [code for function in _functions(cls) for code in nested(function.__code__)]
        guards = [code for guard in _guards(cls) for code in nested(guard.__code__)]
        try:
            text, first = inspect.getsourcelines(cls)
        except (OSError, TypeError):
            continue
        file = inspect.getsourcefile(cls) or ""
        found.append(lines.source(file, first, len(text), [*codes, *guards]))
    return found


def written(path: str | Path | None, report: Report) -> Report:
    """Write the coverage to a file: as JSON if its name says so, else as text.

    Gives the report, with a note if that could not be done.
    """
    coverage = report.coverage
    if path is None or coverage is None:
        return report
    path = Path(path)
    if path.suffix == ".json":
        content = msgspec.json.format(msgspec.json.encode(coverage.to_json()), indent=1) + b"\n"
    else:
        content = ("\n".join(coverage.text()) + "\n").encode()
    try:
        path.write_bytes(content)
    except OSError as error:
        # What was found is worth more than this file.
        reason = (error.strerror or "unknown reason").lower()
        return with_notes(report, [_unwritable(path, reason)])
    return report


def check_path(path: str | Path | None) -> None:
    """Refuse now what could not be written when the search is over."""
    if path is not None and (Path(path).is_dir() or not Path(path).absolute().parent.is_dir()):
        raise BadSystem(_unwritable(Path(path), "there is no such folder, or a folder is there"))


def with_lines(coverage: Coverage, system: System | Program, lines: Lines | None) -> Coverage:
    """`coverage` together with the lines that ran, if they were noted."""
    if lines is None:
        return coverage
    return replace(coverage, sources=annotated(system, lines))


def _unwritable(path: Path, why: str) -> str:
    return explain(
        f"the coverage cannot be written to `{path}`: {why}",
        "a folder that does not exist or may not be written to",
        "name another file: `--coverage FILE`",
    )


def _classes(system: System) -> list[type]:
    """The classes that users wrote for the nodes, base classes included, each once."""
    every = [cls for automaton in system.automata for cls in automaton.service.__mro__]
    own = [cls for cls in every if issubclass(cls, Service) and "_presage_base" not in vars(cls)]
    return list(dict.fromkeys(own))


def _functions(cls: type) -> Iterator[FunctionType]:
    for value in vars(cls).values():
        plain: Any = value
        if isinstance(value, property):
            plain = value.fget
        elif isinstance(value, staticmethod | classmethod):
            plain = value.__func__
        if isinstance(plain, FunctionType) and plain.__module__ == cls.__module__:
            yield plain


def _guards(cls: Any) -> Iterator[FunctionType]:
    shape = cls._presage_shape
    every: Iterable[Any] = [*shape.handlers.values(), *shape.actions.values()]
    for each in every:
        if each.name in vars(cls):
            for function in (each.guard, getattr(each, "over", None)):
                if isinstance(function, FunctionType):
                    yield function


def _file(function: Any) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None)
    if isinstance(code, CodeType):
        return code.co_filename
    return str(getattr(function, "file", ""))  # of a script: it has no function of its own


def _file_source(file: str, lines: Lines) -> Iterator[Source]:
    """The functions of a file; its top level, too, if that ran as a process."""
    try:
        text = Path(file).read_text(encoding="utf-8")
        module = compile(text, file, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError):
        return
    top = any((file, line) in lines.ran for line in executable(module))
    codes = list(nested(module))
    yield lines.source(file, 1, len(text.splitlines()), codes if top else codes[1:])
