"""`Node`: what a user says about one process of real code. `here`: what that code may ask.

A node is a program and its bounds. The program is a function, an `async def`, or a script with its
arguments; it is not changed, and needs to know nothing of presage. A script that wants to know its
name or its peers asks `here`, which answers for the process that runs.
"""

from __future__ import annotations

import inspect
import runpy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from presage.errors import BadSystem, did_you_mean
from presage.model.keywords import named_arguments
from presage.model.source import place_of

MERGES = ("history", "view")
DISKS = ("process", "fsync")
CHANCES = ("seeded", "branch")
GRAINS = ("step", "iteration")
EXCEPTIONS = ("fail", "log")


class LiveNode(Protocol):
    """What a `view` is given: the live process, to be read and never changed."""

    name: str

    def module(self, name: str) -> Any: ...
    def get(self, name: str, default: Any = None) -> Any: ...


View = Callable[[Any], Mapping[str, Any]]


@named_arguments
class Node:
    """One process of real code: its program, what is shown of it, and its bounds."""

    def __init__(
        self,
        program: Callable[..., Any] | Script,
        *args: Any,
        view: View | None = None,
        timers: int | None = None,
        lives: int | None = None,
        merge: str = "history",
        exact: bool = True,
        strict: bool = False,
        exceptions: str = "fail",
        disk: str = "process",
        torn: bool = False,
        random: str = "seeded",
        granularity: str = "step",
        preemptions: int = 1,
        files: Mapping[str, bytes | str] | None = None,
        environ: Mapping[str, str] | None = None,
        path: Sequence[str | Path] = (),
        isolate: Sequence[str] | None = None,
        clock: float = 1_000_000.0,
        split: int = 1,
        coalesce: bool = False,
        record: Callable[..., Any] | None = None,
        argv: Sequence[str] | None = None,
    ) -> None:
        self.main: Any = _checked_program(program)
        self.args = args
        self.view = _checked_view(view, merge)
        self.timers = _checked_bound("timers", timers)
        self.lives = _checked_bound("lives", lives)
        self.merge = _one_of("merge", merge, MERGES)
        self.exact = bool(exact)
        self.strict = bool(strict)
        self.exceptions = _one_of("exceptions", exceptions, EXCEPTIONS)
        self.disk = _one_of("disk", disk, DISKS)
        self.torn = bool(torn)
        self.random = _one_of("random", random, CHANCES)
        self.granularity = _one_of("granularity", granularity, GRAINS)
        self.preemptions = _checked_bound("preemptions", preemptions) or 0
        self.files = {str(name): _bytes(text) for name, text in (files or {}).items()}
        self.environ = dict(environ or {})
        self.path = tuple(str(each) for each in path)
        self.isolate = None if isolate is None else tuple(isolate)
        self.clock = float(clock)
        self.split = int(split)
        self.coalesce = bool(coalesce)
        self.record = record
        self.argv = [getattr(program, "__name__", "program")] if argv is None else list(argv)

    @classmethod
    def program(cls, script: str | Path, *args: Any, **options: Any) -> Node:
        """A script and its arguments, as on a command line: `Node.program("kv.py", "-p", 1)`."""
        script = Path(script)
        if not script.is_file():
            raise BadSystem(
                f"there is no script `{script}`",
                "a path that is relative to another folder, or a misspelt name",
                "give the path of a `.py` file; `Node.module` runs a module by its name",
            )
        texts = [str(each) for each in args]
        return cls(
            Script(str(script.resolve())),
            argv=[str(script), *texts],
            path=(script.resolve().parent, *options.pop("path", ())),
            **options,
        )

    @classmethod
    def module(cls, name: str, *args: Any, **options: Any) -> Node:
        """A module run as a program, as by `python -m`."""
        return cls(Module(name), argv=[name, *(str(each) for each in args)], **options)

    @property
    def title(self) -> str:
        """What the program is called: the name of its function or script."""
        return str(getattr(self.main, "__name__", type(self.main).__name__))

    @property
    def home(self) -> str | None:
        """The folder that the program stands in; it is the current folder of the process."""
        code = getattr(self.main, "__code__", None)
        file = getattr(self.main, "file", None) or getattr(code, "co_filename", "")
        return str(Path(file).resolve().parent) if file and Path(file).is_file() else None

    @property
    def place(self) -> str:
        """Where the program stands, as `file:line`."""
        return place_of(self.main) if inspect.isfunction(self.main) else self.title

    def __repr__(self) -> str:
        return f"Node({self.title})"


class Script:
    """Runs a file as `__main__`."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.code = compile(Path(file).read_bytes(), file, "exec")
        self.__name__ = Path(file).stem


class Module:
    """Runs a module as `__main__`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__name__ = name

    def __call__(self) -> None:
        runpy.run_module(self.name, run_name="__main__", alter_sys=True)


def _bytes(text: bytes | str) -> bytes:
    return text.encode() if isinstance(text, str) else bytes(text)


def _checked_program(program: Any) -> Any:
    if isinstance(program, Script) or callable(program) and not inspect.iscoroutine(program):
        return program
    called = inspect.iscoroutine(program)
    if called:
        program.close()
    raise BadSystem(
        f"`Node({program!r})` is not a program",
        "`main()` called where `main` is meant" if called else "a text or an object given for it",
        "give a function or an `async def`; `Node.program('kv.py')` runs a script",
    )


def _checked_view(view: View | None, merge: str) -> View | None:
    if view is None and merge == "view":
        raise BadSystem(
            "`Node(merge='view')` has no view",
            "states are one where their views are equal, so there must be one",
            "`Node(main, view=view, merge='view')`, or leave `merge` out",
        )
    if view is None or callable(view):
        return view
    raise BadSystem(
        f"`Node(view={view!r})` cannot be called",
        "the names of fields given for it",
        "give a function from the live node to a dict of plain values",
    )


def _checked_bound(name: str, bound: Any) -> int | None:
    if bound is None or (isinstance(bound, int) and not isinstance(bound, bool) and bound >= 0):
        return bound
    raise BadSystem(
        f"`Node({name}={bound!r})` is not a number of times",
        "a negative number, a fraction or a text",
        f"`{name}=3`, or leave it out",
    )


def _one_of(name: str, given: Any, known: tuple[str, ...]) -> str:
    if given in known:
        return str(given)
    raise BadSystem(
        f"`Node({name}={given!r})` is unknown{did_you_mean(given, known)}",
        "a misspelt name",
        f"one of {', '.join(map(repr, known))}",
    )
