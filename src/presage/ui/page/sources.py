"""The code that a page shows, and places in it that say nothing of the machine it was made on.

A place is `file:line`. In a page it is told relative to the folder of the target, to the package
presage, or to where Python finds modules; what is elsewhere keeps its file's name alone.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from textwrap import dedent
from typing import Any

from presage.execution.frames import Frame
from presage.execution.process_state import AT
from presage.execution.state import STATUS, State

REMARKS = (AT, STATUS)
LINES_MAX = 40  # of one function
AROUND = 2  # lines before and after it
LINE_MAX = 200  # characters
ROOT_PARTS_MIN = 3  # the topmost folders are no place to begin at
PLACE = re.compile(
    r"(?<![\w.~-])/(?:[^/\s:'\"]+/)+([^/\s:'\"]+\.pyi?)\b"
)  # an absolute path of a Python file


class Places:
    """Tells places of code without what is particular to this machine."""

    def __init__(self, target: str | None) -> None:
        folders = [Path.cwd(), Path(__file__).resolve().parents[3]]
        if target is not None and (file := target.split(" ")[0].rpartition(":")[0] or target):
            folders.append(Path(file).resolve().parent)
        folders += [Path(entry) for entry in sys.path if entry]
        roots = {f"{folder}/" for folder in folders if len(folder.parts) >= ROOT_PARTS_MIN}
        self._roots = sorted(roots, key=len, reverse=True)

    def text(self, text: str) -> str:
        """`text`, with the paths in it made short."""
        if "/" not in text:
            return text
        for root in self._roots:
            text = text.replace(root, "")
        return PLACE.sub(r"\1", text)

    def place(self, place: str) -> str:
        """A `file:line`, made short."""
        return self.text(str(Path(place).absolute())) if place else ""

    def in_remarks(self, scenes: Sequence[Frame]) -> Sequence[Frame]:
        """`scenes`, with the paths made short in what presage remarks on nodes: how one failed."""
        return [replace(scene, state=self._remarked(scene.state)) for scene in scenes]

    def _remarked(self, state: State) -> State:
        short: State = {}
        for node, part in state.items():
            known = part if isinstance(part, dict) else {}
            texts = {name: known[name] for name in REMARKS if isinstance(known.get(name), str)}
            told: State = {name: self.text(str(text)) for name, text in texts.items()}
            short[node] = part if told == texts else {**known, **told}
        return short

    def excerpts(self, places: Iterable[str]) -> dict[str, Any]:
        """The code at each of `places`, by the text of the place; none where no file is found.

        Ask it of live code only: a place that a trace names may be any file of its reader's.
        """
        found = {self.place(place): excerpt(place) for place in dict.fromkeys(places) if place}
        return {place: code for place, code in found.items() if code is not None}


def excerpt(place: str) -> dict[str, Any] | None:
    """The function at `place`: its lines, the number of the first, and the line that is meant."""
    file, _, number = place.rpartition(":")
    if (
        not number.isdecimal()
        or len(number) > 9
        or (lines := _lines(file)) is None
        or int(number) > len(lines)
    ):
        return None
    line = int(number)
    first, last = next((f for f in _functions(file) if f[0] <= line <= f[1]), (line, line))
    last = min(last, max(first + LINES_MAX - 1, line))
    first, last = max(1, first - AROUND), min(len(lines), last + AROUND)
    return {
        "first": first,
        "line": line,
        "lines": dedent("\n".join(text[:LINE_MAX] for text in lines[first - 1 : last])).split("\n"),
    }


@lru_cache(64)
def _lines(file: str) -> list[str] | None:
    try:
        return Path(file).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):  # no file, no text, no path
        return None


@lru_cache(64)
def _functions(file: str) -> list[tuple[int, int]]:
    """First and last line of every function of a file, the innermost first."""
    try:
        tree = ast.parse("\n".join(_lines(file) or ()))
    except (SyntaxError, ValueError, RecursionError):
        return []
    found = [
        (min([node.lineno, *(each.lineno for each in node.decorator_list)]), node.end_lineno or 0)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return sorted(found, key=lambda lines: lines[1] - lines[0])
