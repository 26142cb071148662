"""Random scripts of file operations, run on any file system: results and error numbers."""

from __future__ import annotations

import os
import pathlib
import random
import shutil
import stat
from collections.abc import Callable
from typing import Any

NAMES = ("a", "b", "d", "d/x", "d/y", "d/e", "d/e/z", "l", "l/x", "a/q", "d/", "d/.", "d/../a", ".")
MODES = ("r", "w", "a", "x", "r+", "w+", "a+", "rb", "wb", "ab", "r+b", "w+b", "x+")
ACCESS = (os.O_RDONLY, os.O_WRONLY, os.O_RDWR)
MORE = (os.O_CREAT, os.O_EXCL, os.O_TRUNC, os.O_APPEND, os.O_DIRECTORY, os.O_NOFOLLOW)

Step = tuple[Any, ...]


def script(seed: int, length: int = 60) -> list[Step]:
    """A list of operations; each is a name and plain arguments."""
    chance = random.Random(seed)
    steps: list[Step] = [("mkdir", "d")]
    for _ in range(length):
        name = chance.choice(tuple(OPERATIONS))
        steps.append((name, *(draw(chance) for draw in OPERATIONS[name][1])))
    return steps


def run(root: str, steps: list[Step]) -> list[Any]:
    """What each operation gave, and what the tree holds at the end."""
    machine = Runner(root)
    results = [machine.step(each) for each in steps]
    machine.close()
    return [*results, tree(root)]


def tree(root: str) -> list[Any]:
    found: list[Any] = []
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(files + folders):
            path = os.path.join(folder, name)
            shown = os.path.relpath(path, root)
            if os.path.islink(path):
                found.append((shown, "link", os.readlink(path)))
            elif os.path.isdir(path):
                found.append((shown, "folder", ""))
            else:
                found.append((shown, "file", pathlib.Path(path).read_bytes()))
    return found


class Runner:
    """Keeps the descriptors that a script opened."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.open: list[int] = []

    def step(self, step: Step) -> Any:
        name, *args = step
        try:
            result = OPERATIONS[name][0](self, *args)
        except OSError as error:
            shown = [self._relative(each) for each in (error.filename, error.filename2)]
            return "error", error.errno, type(error).__name__, *shown
        except (ValueError, TypeError) as error:
            return "refused", type(error).__name__, str(error)
        return "done", result

    def _relative(self, name: Any) -> Any:
        return name.replace(self.root, "") if isinstance(name, str) else name

    def path(self, name: str) -> str:
        return f"{self.root}/{name}"

    def number(self, at: int) -> int:
        return self.open[at % len(self.open)] if self.open else -1

    def close(self) -> None:
        for each in self.open:
            os.close(each)

    def opened(self, name: str, flags: int) -> str:
        self.open.append(os.open(self.path(name), flags))
        return "opened"

    def closed(self, at: int) -> None:
        number = self.number(at)
        if number in self.open:
            self.open.remove(number)
        os.close(number)

    def dup(self, at: int) -> None:
        self.open.append(os.dup(self.number(at)))

    def seek(self, at: int, offset: int, whence: int) -> Any:
        number = self.number(at)
        if whence == os.SEEK_END and number >= 0 and stat.S_ISDIR(os.fstat(number).st_mode):
            return None  # where a folder ends is for each file system to say
        return os.lseek(number, offset, whence)

    def at_folder(self, what: str, at: int, name: str) -> Any:
        if what == "stat":
            return _shown(os.stat(name, dir_fd=self.number(at)))
        return getattr(os, what)(name, dir_fd=self.number(at))

    def text(self, name: str, mode: str, text: str) -> Any:
        with open(self.path(name), mode) as file:
            done: list[Any] = [file.mode, file.readable(), file.writable(), file.tell()]
            if file.writable():
                done.append(file.write(text if "b" not in mode else text.encode()))
            if file.readable():
                file.seek(0)
                done.append(file.read())
            return done

    def scan(self, name: str) -> Any:
        with os.scandir(self.path(name)) as entries:
            return sorted(
                (e.name, e.is_dir(), e.is_file(), e.is_symlink(), self._relative(e.path))
                for e in sorted(entries, key=lambda entry: entry.name)
            )

    def questions(self, name: str) -> Any:
        path = pathlib.Path(self.path(name))
        return [
            *(f(path) for f in (os.path.exists, os.path.lexists, os.path.isfile, os.path.isdir)),
            os.path.islink(path),
            path.is_dir(),
            os.access(path, os.F_OK),
        ]

    def copy(self, one: str, two: str) -> Any:
        return self._relative(shutil.copyfile(self.path(one), self.path(two)))


def _shown(found: os.stat_result) -> Any:
    is_file = stat.S_ISREG(found.st_mode)
    return stat.S_IFMT(found.st_mode), found.st_size if is_file else 0, is_file and found.st_nlink


def _name(chance: random.Random) -> str:
    return chance.choice(NAMES)


def _flags(chance: random.Random) -> int:
    flags = chance.choice(ACCESS)
    for each in chance.sample(MORE, chance.choice((0, 1, 1, 2))):
        flags |= each
    return flags


def _few(chance: random.Random) -> int:
    return chance.randrange(-2, 12)


def _small(chance: random.Random) -> int:
    return chance.randrange(0, 12)


def _data(chance: random.Random) -> bytes:
    return chance.randbytes(chance.randrange(0, 9))


def _text(chance: random.Random) -> str:
    return "".join(chance.choices("ab\n", k=chance.randrange(0, 9)))


def _mode(chance: random.Random) -> str:
    return chance.choice(MODES)


def _whence(chance: random.Random) -> int:
    return chance.choice((os.SEEK_SET, os.SEEK_CUR, os.SEEK_END, 99))


def _at(what: str) -> Callable[..., Any]:
    return lambda runner, at, name: runner.at_folder(what, at, name)


def _path(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda runner, name, *more: function(runner.path(name), *more)


def _two(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda runner, one, two: function(runner.path(one), runner.path(two))


def _fd(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda runner, at, *more: function(runner.number(at), *more)


Draw = Callable[[random.Random], Any]
OPERATIONS: dict[str, tuple[Callable[..., Any], tuple[Draw, ...]]] = {
    "open": (Runner.opened, (_name, _flags)),
    "create": (lambda r, n: r.opened(n, os.O_RDWR | os.O_CREAT), (_name,)),
    "close": (Runner.closed, (_small,)),
    "dup": (Runner.dup, (_small,)),
    "read": (_fd(lambda n, size: os.read(n, size)), (_small, _small)),
    "write": (_fd(lambda n, data: os.write(n, data)), (_small, _data)),
    "pread": (_fd(lambda n, size, at: os.pread(n, size, at)), (_small, _small, _few)),
    "pwrite": (_fd(lambda n, data, at: os.pwrite(n, data, at)), (_small, _data, _few)),
    "lseek": (Runner.seek, (_small, _few, _whence)),
    "ftruncate": (_fd(lambda n, size: os.ftruncate(n, size)), (_small, _few)),
    "fsync": (_fd(lambda n: os.fsync(n)), (_small,)),
    "fstat": (_fd(lambda n: _shown(os.fstat(n))), (_small,)),
    "stat at": (_at("stat"), (_small, _name)),
    "unlink at": (_at("unlink"), (_small, _name)),
    "mkdir at": (_at("mkdir"), (_small, _name)),
    "mkdir": (_path(lambda p: os.mkdir(p)), (_name,)),
    "makedirs": (_path(lambda p: os.makedirs(p, exist_ok=True)), (_name,)),
    "rmdir": (_path(lambda p: os.rmdir(p)), (_name,)),
    "remove": (_path(lambda p: os.remove(p)), (_name,)),
    "stat": (_path(lambda p: _shown(os.stat(p))), (_name,)),
    "lstat": (_path(lambda p: _shown(os.lstat(p))), (_name,)),
    "listdir": (_path(lambda p: sorted(os.listdir(p))), (_name,)),
    "truncate": (_path(lambda p, size: os.truncate(p, size)), (_name, _few)),
    "readlink": (_path(lambda p: os.readlink(p)), (_name,)),
    "symlink": (lambda r, to, n: os.symlink(to, r.path(n)), (_name, _name)),
    "rename": (_two(lambda a, b: os.rename(a, b)), (_name, _name)),
    "replace": (_two(lambda a, b: os.replace(a, b)), (_name, _name)),
    "link": (_two(lambda a, b: os.link(a, b)), (_name, _name)),
    "rmtree": (_path(lambda p: shutil.rmtree(p, ignore_errors=True)), (_name,)),
    "scandir": (Runner.scan, (_name,)),
    "questions": (Runner.questions, (_name,)),
    "text": (Runner.text, (_name, _mode, _text)),
    "copyfile": (Runner.copy, (_name, _name)),
}
