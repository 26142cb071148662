"""A file of violations that are known: they do not fail a check, and hide nothing.

Each entry names a property and a cause, see `execution/causes.py`, of one system. What is known is
forgiven while it is searched, so that the search goes on behind it. The file is text that is made
to be committed: an entry a line, in one order.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from presage.cli.target.load import COMMAND
from presage.errors import BadTarget
from presage.execution.causes import Known
from presage.search.sweep import Item

VERSION = 1


class Entry(msgspec.Struct, frozen=True, order=True):
    """A violation that is known."""

    target: str  # its file, seen from the folder of the baseline, or its name
    property: str
    cause: str


class File(msgspec.Struct, forbid_unknown_fields=True):
    """What the file holds."""

    presage_baseline: int
    violations: list[Entry]


class Baseline:
    """The entries of a file, and the file."""

    def __init__(self, path: str, entries: Iterable[Entry] = ()) -> None:
        self.path = Path(path)
        self.entries = set(entries)

    @classmethod
    def read(cls, path: str, *, may_be_new: bool) -> Baseline:
        """The baseline in a file; with `may_be_new` an empty one where there is no file."""
        try:
            content = Path(path).read_bytes()
        except FileNotFoundError:
            if may_be_new:
                return cls(path)
            raise BadTarget(
                f"there is no baseline `{path}`",
                "it was not written yet, or lies in another folder",
                f"`--baseline {path} --accept` writes what is found into it",
            ) from None
        except OSError as error:
            raise _unusable(path, "read", error) from error
        try:
            file = msgspec.json.decode(content, type=File)
        except msgspec.DecodeError as error:
            raise BadTarget(
                f"`{path}` is no baseline: {error}",
                "another file, or one that was edited or merged by hand",
                "mend it, or write it anew with `--accept`",
            ) from error
        if file.presage_baseline != VERSION:
            raise BadTarget(
                f"`{path}` is a baseline of version {file.presage_baseline}, not {VERSION}",
                "another version of presage wrote it",
                "write it anew with `--accept`",
            )
        return cls(path, file.violations)

    def known(self, target: str) -> Known:
        """What is known of a system: causes by property."""
        named, found = self._named(target), dict[str, frozenset[str]]()
        for entry in self.entries:
            if entry.target == named:
                causes = found.get(entry.property, frozenset())
                found[entry.property] = causes | {entry.cause}
        return found

    def gone(self, items: Sequence[Item]) -> list[Entry]:
        """What is known and was met nowhere, although every item it is of was searched whole."""

        def is_gone(entry: Entry) -> bool:
            own = [item for item in items if self._named(item.target) == entry.target]
            whole = (item.report is not None and item.report.exhausted for item in own)
            return bool(own) and all(whole) and not any(entry in self._met(item) for item in own)

        return sorted(filter(is_gone, self.entries))

    def accept(self, items: Sequence[Item]) -> None:
        """Write what `items` have, without what is gone."""
        met = {entry for item in items for entry in self._met(item)}
        self.entries = self.entries - set(self.gone(items)) | met
        entries = [msgspec.json.encode(each).decode() for each in sorted(self.entries)]
        body = "[\n  " + ",\n  ".join(entries) + "\n]" if entries else "[]"
        text = f'{{"presage_baseline": {VERSION}, "violations": {body}}}\n'
        try:
            self.path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise _unusable(str(self.path), "written", error) from error

    def _met(self, item: Item) -> set[Entry]:
        if item.report is None:
            return set()
        new = {(found.prop, found.cause) for found in item.report.violations}
        return {Entry(self._named(item.target), *each) for each in {*new, *item.report.known}}

    def _named(self, target: str) -> str:
        """A target as it is called wherever the command runs."""
        found = re.fullmatch(r"(.+\.py)(:.*)?", target, re.DOTALL)
        if found is None or re.match(COMMAND, target):
            return target
        folder = self.path.resolve().parent
        return Path(os.path.relpath(Path(found[1]).resolve(), folder)).as_posix()


def _unusable(path: str, done: str, error: OSError) -> BadTarget:
    return BadTarget(
        f"the baseline `{path}` cannot be {done}: {(error.strerror or 'unknown reason').lower()}",
        "a folder, or a file without permission",
        "name another file",
    )
