"""A platform out of a TOML file. Whatever is wrong there is told by file, table and field.

A name may hold a range, `"node-{0..3}"`: one host, or link, for each number; `{}` in the host's
`uplink` is that number.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct, ValidationError, convert, field, structs

from presage.errors import did_you_mean
from presage.simulate.platform import BadPlatform, Host, Link, Platform

DIGITS_MAX = 18  # of a number in a range
LINE_MAX = 80  # of what a message quotes
RANGE = re.compile(r"\{(\d+)\.\.(\d+)\}")
HOSTS_MAX = 100_000
TABLES = ("hosts", "links", "routes", "default_route", "placement")
FIELD = re.compile(r"`(?:\$\.)?(\w+)[^`]*`$")  # the one that an error of msgspec ends with
WANTED = {
    "cores": "a whole number, 1 or more, is wanted",
    "sharing": "one of shared, fatpipe is wanted",
    "symmetrical": "true or false is wanted",
    "links": "a list of names is wanted",
    "uplink": "the name of a link is wanted",
    "from": "the name of a host is wanted",
    "to": "the name of a host is wanted",
}

_Table = TypeVar("_Table", bound=Struct)


class Via(Struct, frozen=True):
    """A default route."""

    links: tuple[str, ...]


class Route(Via, frozen=True):
    """A route from one host to another, and back."""

    source: str = field(name="from")
    to: str
    symmetrical: bool = True


def read(path: str | Path) -> Platform:
    """The platform that a file describes."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise BadPlatform(
            f"the platform file `{path}` cannot be read: {reason}",
            "another current folder, or a misspelt path",
            "give the path of a TOML file, from the current folder",
        ) from error
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # numbers and lists have their limits, too
        raise BadPlatform(
            f"{path}: this is not TOML: {error}",
            "a text without quotes, or a table or key that is there twice",
            'correct that line; texts need quotes: speed = "1Gf"',
        ) from error
    return build(tables, str(path))


def build(tables: Mapping[str, Any], name: str = "platform") -> Platform:
    """The platform that tables describe, as `tomllib` reads them."""
    return Reader(name, tables).platform()


class Reader:
    """The tables of one file."""

    def __init__(self, name: str, tables: Mapping[str, Any]) -> None:
        self._name = name
        self._tables = tables
        self._links: dict[str, Link] = {}
        self._hosts: dict[str, Host] = {}

    def platform(self) -> Platform:
        self._only("the file", self._tables, TABLES, "table")
        for name, _, link in self._named("links", Link):
            self._links[name] = structs.replace(link, name=name)
        for name, number, host in self._named("hosts", Host):
            uplink = host.uplink and host.uplink.replace("{}", number)
            if uplink is not None:
                self._declared(f"[hosts.{name}]", "uplink", uplink, self._links, "link")
            self._hosts[name] = structs.replace(host, name=name, uplink=uplink)
        if not self._hosts:
            raise self._bad(
                "there are no hosts", "an empty file", '[hosts.alpha] with speed = "1Gf"'
            )
        where, default = "[default_route]", self._tables.get("default_route")
        return Platform(
            self._name,
            self._hosts,
            self._links,
            self._routes(),
            None if default is None else self._route(where, self._read(where, default, Via)),
            self._placement(),
        )

    def _routes(self) -> dict[tuple[str, str], tuple[str, ...]]:
        tables = self._tables.get("routes", [])
        if not isinstance(tables, list):
            raise self._bad("`routes` is no list", "`[routes]`", "write `[[routes]]` for each")
        routes: dict[tuple[str, str], tuple[str, ...]] = {}
        for at, table in enumerate(tables, 1):
            where = f"[[routes]] number {at}"
            route = self._read(where, table, Route)
            self._declared(where, "from", route.source, self._hosts, "host")
            self._declared(where, "to", route.to, self._hosts, "host")
            links = self._route(where, route)
            ways = {(route.source, route.to): links}
            if route.symmetrical:
                ways.setdefault((route.to, route.source), links[::-1])
            for source, to in (ends for ends in ways if ends in routes):
                raise self._bad(
                    f"{where} is a second route from `{source}` to `{to}`",
                    "routes count for both directions, unless they say `symmetrical = false`",
                    "keep one of them",
                )
            routes |= ways
        return routes

    def _route(self, where: str, route: Via) -> tuple[str, ...]:
        for link in route.links:
            self._declared(where, "links", link, self._links, "link")
        if len(set(route.links)) < len(route.links):
            raise self._field(where, "links", list(route.links), "each link can be there once")
        return route.links

    def _placement(self) -> dict[str, tuple[str, ...]]:
        placement = {}
        for pattern, hosts in self._table("placement").items():
            names = [hosts] if isinstance(hosts, str) else hosts
            try:
                placement[pattern] = convert(names, Annotated[tuple[str, ...], Meta(min_length=1)])
            except ValidationError as error:
                raise self._field("[placement]", pattern, hosts, WANTED["links"]) from error
            for host in placement[pattern]:
                self._declared("[placement]", pattern, host, self._hosts, "host")
        return placement

    def _read(self, where: str, table: Any, kind: type[_Table], name: str = "") -> _Table:
        """A table as its type; `name` is what it is called in the file."""
        if not isinstance(table, dict):
            header = where.partition(" ")[0]
            raise self._bad(f"{where} is no table", "`NAME = ...`, or a list", f"write `{header}`")
        known = [each for each in kind.__struct_encode_fields__ if each != "name"]
        self._only(where, table, known)
        try:
            return convert(
                {**table, "name": name}, kind, dec_hook=lambda kind, given: kind.read(given)
            )
        except ValidationError as error:
            field = FIELD.findall(str(error))[0]
            wanted = WANTED.get(field, str(error).partition(" - at `")[0])
            if field in table:
                raise self._field(where, field, table[field], wanted) from error
            fact = f"{where} lacks `{field}`{f': {wanted}' * (field in WANTED)}"
            raise self._bad(fact, "a forgotten line", f"add `{field} = ...`") from error

    def _table(self, name: str) -> Mapping[str, Any]:
        table = self._tables.get(name, {})
        if not isinstance(table, dict):
            raise self._bad(f"`{name}` is no table", f"`{name} = ...`", f"write `[{name}]`")
        return table

    def _named(self, kind: str, form: type[_Table]) -> Iterator[tuple[str, str, _Table]]:
        """Each name of a host or link, its number in a range, and its table."""
        taken: set[str] = set()
        for written, table in self._table(kind).items():
            where = f"[{kind}.{written}]"
            read = self._read(where, table, form, written)
            for name, number in self._expanded(where, written):
                if name in taken:
                    raise self._bad(f"{where} declares `{name}` again", "a range", "keep one")
                taken.add(name)
                yield name, number, read

    def _expanded(self, where: str, written: str) -> Iterator[tuple[str, str]]:
        match = RANGE.search(written)
        if match is None:
            yield written, ""
            return
        longest = max(len(match[1]), len(match[2]))
        first, last = (int(match[1]), int(match[2])) if longest <= DIGITS_MAX else (1, 0)
        if not first <= last < first + HOSTS_MAX:
            raise self._bad(
                f"{where[:LINE_MAX]}: `{match[0][:LINE_MAX]}` is no range",
                "the larger number first, or a slip in its digits",
                f'as in "node-{{0..3}}"; at most {HOSTS_MAX:,} at once',
            )
        for number in range(first, last + 1):
            yield written.replace(match[0], str(number), 1), str(number)

    def _declared(
        self, where: str, field: str, name: str, known: Mapping[str, object], kind: str
    ) -> None:
        if name not in known:
            raise self._bad(
                f"{where} {field}: there is no {kind} {name!r}{did_you_mean(name, known)}",
                "a misspelt name, or a forgotten table",
                f"declare it as `[{kind}s.NAME]`, or use a name that is declared",
            )

    def _only(
        self, where: str, table: Mapping[str, Any], known: Sequence[str], what: str = "field"
    ) -> None:
        for name in table:
            if name not in known:
                raise self._bad(
                    f"{where} has a {what} `{name}`{did_you_mean(name, known)}",
                    "a misspelt name, or one of another kind of platform file",
                    f"it can have {', '.join(known)}",
                )

    def _field(self, where: str, field: str, given: object, wanted: str) -> BadPlatform:
        return self._bad(
            f"{where} {field} = {given!r}: {wanted}",
            "a unit that presage does not know, or a slip",
            "docs/reference/simulate.md lists fields and units",
        )

    def _bad(self, fact: str, cause: str, remedy: str) -> BadPlatform:
        return BadPlatform(f"{self._name}: {fact}", cause, remedy)
