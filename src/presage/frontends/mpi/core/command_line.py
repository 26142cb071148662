"""What a command line runs: a script by itself, or `python -m mpi4py.futures script.py`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from presage.errors import BadTarget
from presage.records import NamedTuple

PYTHON = re.compile(r"(?:\S*/)?python[0-9.]*")
LINE = re.compile(rf"{PYTHON.pattern}\s+\S")  # of a command, all in one word
HARMLESS = ("-u", "-B", "-E", "-s")  # options of Python that make no difference here
RUNNERS = ("mpi4py", "mpi4py.run")  # modules that run a script as it is
FUTURES = "mpi4py.futures"  # gives it to the first rank; the others execute its tasks


class CommandLine(NamedTuple):
    """A script and its arguments."""

    path: Path
    args: tuple[str, ...] = ()
    is_shared: bool = False  # whether the first rank runs it, with the others as its workers


def runs_python(program: str) -> bool:
    return PYTHON.fullmatch(program) is not None


def command_of(path: str | Path, args: Sequence[str] = ()) -> CommandLine:
    """What is to be run: a script, or a command of Python, in one word or in several."""
    text = str(path)
    words = [*(shlex.split(text) if LINE.match(text) else [text]), *args]
    if not runs_python(words[0]) or (len(words) == 1 and Path(text).is_file()):
        return CommandLine(Path(path), tuple(args))
    found = of_python(words[1:])
    if found is None:
        raise BadTarget(
            f"`{shlex.join(words)}` is no command that ranks can run",
            "a module, or code, or an option of Python, where a script has to be",
            "`python SCRIPT ARGS...` or `python -m mpi4py.futures SCRIPT ARGS...`",
        )
    return found


def of_python(words: Sequence[str]) -> CommandLine | None:
    """What Python runs with these words; None if that is no script."""
    rest = list(words)
    while rest and rest[0] in HARMLESS:
        rest.pop(0)
    module = rest[1] if len(rest) > 1 and rest[0] == "-m" else None
    if module in (*RUNNERS, FUTURES):
        del rest[:2]
    if not rest or rest[0].startswith("-"):
        return None
    return CommandLine(Path(rest[0]), tuple(rest[1:]), module == FUTURES)
