"""A platform out of a TOML file. Whatever is wrong there is told by file, table and field.

A name may hold a range, `"node-{0..3}"`: one host, or link, for each number; `{}` in the host's
`uplink` is that number.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from presage.errors import did_you_mean
from presage.simulate import units
from presage.simulate.platform import SHARED, SHARINGS, BadPlatform, Host, Link, Platform

RANGE = re.compile(r"\{(\d+)\.\.(\d+)\}")
HOSTS_MAX = 100_000
TABLES = ("hosts", "links", "routes", "default_route", "placement")


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
    except tomllib.TOMLDecodeError as error:
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
        for name, _, table in self._named("links", ("bandwidth", "latency", "sharing")):
            self._links[name] = self._link(name, table)
        for name, number, table in self._named("hosts", ("speed", "cores", "uplink")):
            self._hosts[name] = self._host(name, number, table)
        if not self._hosts:
            raise self._bad(
                "there are no hosts", "an empty file", '[hosts.alpha] with speed = "1Gf"'
            )
        default = self._table("default_route") if "default_route" in self._tables else None
        if default is not None:
            self._only("[default_route]", default, ("links",))
        return Platform(
            self._name,
            self._hosts,
            self._links,
            self._routes(),
            None if default is None else self._route("[default_route]", default),
            self._placement(),
        )

    def _link(self, name: str, table: Mapping[str, Any]) -> Link:
        where = f"[links.{name}]"
        sharing = table.get("sharing", SHARED)
        if sharing not in SHARINGS:
            raise self._field(where, "sharing", sharing, f"one of {', '.join(SHARINGS)} is wanted")
        return Link(
            name,
            self._quantity(where, table, "bandwidth", units.bandwidth),
            self._quantity(where, table, "latency", units.latency, 0.0),
            sharing,
        )

    def _host(self, name: str, number: str, table: Mapping[str, Any]) -> Host:
        where = f"[hosts.{name}]"
        cores = table.get("cores", 1)
        if isinstance(cores, bool) or not isinstance(cores, int) or cores < 1:
            raise self._field(where, "cores", cores, "a whole number, 1 or more, is wanted")
        uplink = table.get("uplink")
        if isinstance(uplink, str):
            uplink = uplink.replace("{}", number)
        if uplink is not None:
            self._declared(where, "uplink", uplink, self._links, "link")
        return Host(name, self._quantity(where, table, "speed", units.speed), cores, uplink)

    def _routes(self) -> dict[tuple[str, str], tuple[str, ...]]:
        given = self._tables.get("routes", [])
        if not isinstance(given, list):
            raise self._bad("`routes` is no list", "`[routes]`", "write `[[routes]]` for each")
        routes: dict[tuple[str, str], tuple[str, ...]] = {}
        for at, table in enumerate(given, 1):
            where = f"[[routes]] number {at}"
            if not isinstance(table, dict):
                raise self._bad(f"{where} is no table", "a list of texts", "write `[[routes]]`")
            self._only(where, table, ("from", "to", "links", "symmetrical"))
            ends = [self._end(where, table, key) for key in ("from", "to")]
            both = table.get("symmetrical", True)
            if not isinstance(both, bool):
                raise self._field(where, "symmetrical", both, "true or false is wanted")
            links = self._route(where, table)
            self._add(routes, where, (ends[0], ends[1]), links)
            if both and ends[0] != ends[1]:
                self._add(routes, where, (ends[1], ends[0]), links[::-1])
        return routes

    def _add(
        self,
        routes: dict[tuple[str, str], tuple[str, ...]],
        where: str,
        ends: tuple[str, str],
        links: tuple[str, ...],
    ) -> None:
        if ends in routes:
            raise self._bad(
                f"{where} is a second route from `{ends[0]}` to `{ends[1]}`",
                "routes count for both directions, unless they say `symmetrical = false`",
                "keep one of them",
            )
        routes[ends] = links

    def _end(self, where: str, table: Mapping[str, Any], key: str) -> str:
        host = table.get(key)
        self._declared(where, key, host, self._hosts, "host")
        return str(host)

    def _route(self, where: str, table: Mapping[str, Any]) -> tuple[str, ...]:
        links = self._list(where, "links", table.get("links"))
        for link in links:
            self._declared(where, "links", link, self._links, "link")
        if len(set(links)) < len(links):
            raise self._field(where, "links", links, "each link can be there once")
        return tuple(links)

    def _placement(self) -> dict[str, tuple[str, ...]]:
        placement = {}
        for pattern, given in self._table("placement").items():
            hosts = [given] if isinstance(given, str) else given
            for host in self._list("[placement]", pattern, hosts, least=1):
                self._declared("[placement]", pattern, host, self._hosts, "host")
            placement[pattern] = tuple(hosts)
        return placement

    def _table(self, name: str) -> Mapping[str, Any]:
        table = self._tables.get(name, {})
        if not isinstance(table, dict):
            raise self._bad(f"`{name}` is no table", f"`{name} = ...`", f"write `[{name}]`")
        return table

    def _named(
        self, kind: str, fields: tuple[str, ...]
    ) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Each host or link with its name, its number in a range, and its table."""
        taken: set[str] = set()
        for written, table in self._table(kind).items():
            where = f"[{kind}.{written}]"
            if not isinstance(table, dict):
                raise self._bad(f"{where} is no table", f"`{written} = ...`", f"write `{where}`")
            self._only(where, table, fields)
            for name, number in self._expanded(where, written):
                if name in taken:
                    raise self._bad(f"{where} declares `{name}` again", "a range", "keep one")
                taken.add(name)
                yield name, number, table

    def _expanded(self, where: str, written: str) -> Iterator[tuple[str, str]]:
        match = RANGE.search(written)
        if match is None:
            yield written, ""
            return
        first, last = int(match[1]), int(match[2])
        if not first <= last < first + HOSTS_MAX:
            raise self._bad(
                f"{where}: `{match[0]}` is no range",
                "the larger number first, or a slip in its digits",
                f'as in "node-{{0..3}}"; at most {HOSTS_MAX:,} at once',
            )
        for number in range(first, last + 1):
            yield written.replace(match[0], str(number), 1), str(number)

    def _quantity(
        self,
        where: str,
        table: Mapping[str, Any],
        name: str,
        unit: Callable[[object], float],
        default: float | None = None,
    ) -> float:
        if name not in table and default is not None:
            return default
        if name not in table:
            raise self._bad(f"{where} lacks `{name}`", "a forgotten line", f"add `{name} = ...`")
        try:
            return unit(table[name])
        except ValueError as error:
            raise self._field(where, name, table[name], str(error)) from error

    def _list(self, where: str, name: str, given: object, least: int = 0) -> list[str]:
        is_list = isinstance(given, list) and all(isinstance(each, str) for each in given)
        if not is_list or len(given) < least:  # type: ignore[arg-type]
            raise self._field(where, name, given, "a list of names is wanted")
        return given  # type: ignore[return-value]

    def _declared(
        self, where: str, field: str, name: object, known: Mapping[str, object], kind: str
    ) -> None:
        if not isinstance(name, str) or name not in known:
            hint = did_you_mean(name, known) if isinstance(name, str) else ""
            raise self._bad(
                f"{where} {field}: there is no {kind} {name!r}{hint}",
                "a misspelt name, or a forgotten table",
                f"declare it as `[{kind}s.NAME]`, or use a name that is declared",
            )

    def _only(
        self, where: str, table: Mapping[str, Any], known: tuple[str, ...], what: str = "field"
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
