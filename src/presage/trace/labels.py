"""The text of an event in the room there is: in full, or shortened where that hides least.

A trace holds messages as text, in Python's spelling. `parse` reads such a text as a tree of
brackets; `fitted` closes the innermost ones first (`[3 items]`, `Proposal(…)`) and cuts long
strings, so that the names of a message and what it holds at the top survive longest.

Invariant: `told_apart` gives different texts to different events, whatever the room. Where the
room is too small for that, it is the room that is exceeded.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from msgspec import Struct

from presage.trace.trace import TraceStep

PAIRS = {"(": ")", "[": "]", "{": "}"}
# A string in quotes, or a word so long that nobody reads it to its end.
STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\w{25,}")
STRING_MIN = 10  # characters of a string that are left
BEGUN_MIN = 6  # characters of an item that are worth showing
WORD = re.compile(r"\w+")
DEPTH_MAX = 80  # brackets deeper than half of this are left as they are
MARK = "…"
PARSED_MAX = 4_096  # texts that are remembered
REOPENED_MAX = 40  # parts that are tried

Path = tuple[int, ...]


class Group(Struct, frozen=True):
    """Brackets, and what stands between the commas in them."""

    path: Path
    bracket: str
    items: tuple[Item, ...]
    gaps: tuple[str, ...]  # behind each item
    close: str  # "" if the text ends before the bracket is closed
    named: bool  # whether a name stands before the bracket


class String(Struct, frozen=True):
    path: Path
    text: str


Part = str | Group | String
Item = tuple[Part, ...]


@lru_cache(PARSED_MAX)
def parse(text: str) -> Item:
    """`text` as a tree. Any text has one; what is no Python value is left as it is."""
    item, _ = _item(text, 0, (), "")
    return item


def body_and_ends(step: TraceStep) -> tuple[str, str]:
    """The event of `step` in full, and behind it who sent it to whom, if it is a message."""
    if step.label == step.kind:  # a crash is a crash
        return "", ""
    ends = "" if step.source is None else f" {step.source} -> {step.node}"
    if not ends or not step.detail:
        return step.label, ""
    if step.detail.endswith("()") and step.label.endswith(ends):
        return step.label.removesuffix(ends), ends
    return step.detail, ends


def fitted(text: str, room: int, keep: Collection[Path] = (), *, mark: str = MARK) -> str:
    """`text` in `room` characters if that can be; the parts at the paths in `keep` stay.

    `mark` stands for what is left out.
    """
    return text if len(text) <= room else _Short(parse(text), mark).fit(room, keep)


def told_apart(texts: Iterable[str], room: int, *, mark: str = MARK) -> dict[str, str]:
    """Each text, fitted into `room` where that leaves it different from all the others."""
    short = {text: fitted(text, room, mark=mark) for text in texts}
    for alike in _alike(short):
        keep = _differences(alike)
        short |= {text: fitted(text, room, keep, mark=mark) for text in alike}
    while groups := _alike(short):
        short |= {text: text for alike in groups for text in alike}
    return short


def _alike(short: dict[str, str]) -> list[list[str]]:
    groups: dict[str, list[str]] = {}
    for text, shown in short.items():
        groups.setdefault(shown, []).append(text)
    return [group for group in groups.values() if len(group) > 1]


def _item(text: str, at: int, path: Path, end: str) -> tuple[Item, int]:
    """What stands from `at` to the next comma or to `end`; at the top (no `end`), everything."""
    parts: list[Part] = []
    since = at
    while at < len(text):
        character = text[at]
        if end and character in ",)]}":
            break
        literal = STRING.match(text, at)
        if literal is None and (character not in PAIRS or len(path) > DEPTH_MAX):
            word = WORD.match(text, at)
            at = word.end() if word else at + 1
            continue
        parts += [text[since:at]] if since < at else []
        inside = (*path, len(parts))
        if literal is not None:
            part: Part = String(inside, literal[0])
            at = literal.end()
        else:
            part, at = _group(text, at, inside)
        parts.append(part)
        since = at
    return tuple([*parts, text[since:at]] if since < at else parts), at


def _group(text: str, at: int, path: Path) -> tuple[Group, int]:
    named = at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_")
    bracket, items, gaps = text[at], list[Item](), list[str]()
    at += 1
    while at < len(text) and text[at] not in ")]}":
        item, at = _item(text, at, (*path, len(items)), bracket)
        gap = ", " if text.startswith(", ", at) else "," if text.startswith(",", at) else ""
        items.append(item)
        gaps.append(gap)
        at += len(gap)
    close = text[at : at + 1]
    return Group(path, bracket, tuple(items), tuple(gaps), close, named), at + 1


class _Short:
    """A tree, some of whose parts are shortened."""

    def __init__(self, whole: Item, mark: str) -> None:
        self._whole = whole
        self._mark = mark
        self._left: dict[Path, int] = {}  # of what is shortened: how many items, or characters
        self._hidden: set[Path] = set()  # items that are left out between others
        self._begun: dict[Path, int] = {}  # characters of the first item of what has no whole one

    def fit(self, room: int, keep: Collection[Path]) -> str:
        """The text, shortened until it fits into `room`, or nothing more can be."""
        length = len(self._shown(self._whole))
        for part in self._inner_first():
            if length <= room:
                break
            if not any(kept[: len(part.path)] == part.path for kept in keep):
                length -= self._shorten(part, length - room)
        self._hide(room, keep)
        # What was closed on the way to a larger bracket may have room again.
        for path in sorted(self._left, key=lambda path: (len(path), path))[:REOPENED_MAX]:
            count = self._left.pop(path)
            if len(self._shown(self._whole)) > room:
                self._left[path] = count
        return self._shown(self._whole)

    def _shorten(self, part: Group | String, surplus: int) -> int:
        """Leave out as much of `part` as is too much, or all that can be; how much that saves."""
        before = len(self._part(part))
        if isinstance(part, String):
            left = len(part.text) - surplus - len(self._mark) - 1
            self._left[part.path] = max(left, STRING_MIN)
            return before - len(self._part(part))
        at_top = len(part.path) == 1
        for count in range(len(part.items) - 1 if at_top else 0, -1, -1):
            self._left[part.path] = count
            saved = before - len(self._part(part))
            if saved >= surplus:
                break
        begins = at_top and part.named and count == 0 and set(map(type, part.items[0])) == {str}
        if begins and saved - surplus >= BEGUN_MIN:
            self._begun[part.path] = saved - surplus
            saved = surplus
        return saved

    def _hide(self, room: int, keep: Collection[Path]) -> None:
        """Of brackets that hold what is kept, leave out items that are not, the last first."""
        inside = {kept[:at] for kept in keep for at in range(1, len(kept), 2)} - set(keep)
        groups = [part for part in self._parts() if isinstance(part, Group) and part.path in inside]
        for group in sorted(groups, key=lambda group: len(group.path)):
            for index in reversed(range(len(group.items))):
                if len(self._shown(self._whole)) <= room:
                    return
                if not any(kept[: len(group.path) + 1] == (*group.path, index) for kept in keep):
                    self._hidden.add((*group.path, index))

    def _inner_first(self) -> Iterator[Group | String]:
        """Everything that can be shortened, the innermost first, of two the longer first."""
        found: list[tuple[int, int, Group | String]] = []
        for part in self._parts():
            saved = len(self._part(part)) - len(self._closed(part))
            if saved > 0:
                found.append((-len(part.path), -saved, part))
        return (part for *_, part in sorted(found, key=lambda each: each[:2]))

    def _parts(self) -> Iterator[Group | String]:
        waiting = list(self._whole)
        while waiting:
            part = waiting.pop()
            if isinstance(part, Group):
                waiting += [inner for item in part.items for inner in item]
            if not isinstance(part, str):
                yield part

    def _shown(self, item: Item) -> str:
        return "".join(part if isinstance(part, str) else self._part(part) for part in item)

    def _part(self, part: Group | String) -> str:
        count = self._left.get(part.path)
        if isinstance(part, String):
            return part.text if count is None else self._closed(part)
        if count == 0:
            return self._closed(part)
        items = part.items[:count]
        inside = "".join(
            self._hiding(part, index, len(items))
            if (*part.path, index) in self._hidden
            else self._shown(item) + part.gaps[index]
            for index, item in enumerate(items)
        )
        return f"{part.bracket}{inside}{'' if count is None else self._mark}{part.close}"

    def _hiding(self, group: Group, index: int, count: int) -> str:
        """One mark for all items in a row that are left out, with what stands behind the last."""
        more = index + 1 < count and (*group.path, index + 1) in self._hidden
        return "" if more else self._mark + group.gaps[index]

    def _closed(self, part: Group | String) -> str:
        if isinstance(part, String):
            quote = part.text[0] if part.text[0] in "'\"" else ""
            return part.text[: self._left.get(part.path, STRING_MIN)] + self._mark + quote
        count = len(part.items)
        inside = self._mark if part.named else f"{count} item{'' if count == 1 else 's'}"
        if part.path in self._begun:
            inside = self._shown(part.items[0])[: self._begun[part.path]] + inside
        return f"{part.bracket}{inside}{PAIRS[part.bracket]}"


def _differences(texts: list[str]) -> set[Path]:
    """The paths of the smallest parts in which some of `texts` differ from the first."""
    first, *others = map(parse, texts)
    return {path for other in others for path in _differing(first, other)}


def _differing(one: Item, other: Item) -> Iterator[Path]:
    for mine, yours in zip(one, other, strict=False):
        if mine == yours or isinstance(mine, str) or isinstance(yours, str):
            continue
        if not isinstance(mine, Group) or not isinstance(yours, Group):
            yield mine.path
            continue
        pairs = enumerate(zip(mine.items, yours.items, strict=False))
        changed = [(index, pair) for index, pair in pairs if pair[0] != pair[1]]
        if len(mine.items) != len(yours.items) or not changed:
            yield mine.path
        for index, pair in changed:
            if _reworded(pair):
                yield (*mine.path, index)
            yield from _differing(*pair)


def _reworded(pair: tuple[Item, Item]) -> bool:
    """Whether two items differ in more than what is in their brackets and strings."""
    one, other = ([part for part in item if isinstance(part, str)] for item in pair)
    return one != other or len(pair[0]) != len(pair[1])
