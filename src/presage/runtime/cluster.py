"""The cluster file: which nodes there are, where they listen, and how they are run.

A TOML file that all nodes of a cluster share. An error names file, line and field, the cause
and a way out. Relative paths in the file begin at its folder.

Without certificates nobody knows who is at the other end. So a node then listens on loopback
addresses only, unless the file says `insecure = true`.

Invariant: the nodes of a checked cluster are those of its system, each with an address of its own.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn
from urllib.parse import quote

from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError, convert, field, structs

from presage.errors import BadCluster, did_you_mean
from presage.runtime.frame import FRAME_MAX, HELLO_MAX
from presage.runtime.shaping import Shape
from presage.runtime.steer_options import ROUND_TRIP_MIN, Mode, SteerOptions

PORT_MAX = 65_535
NODES_MAX = 8  # of a snapshot
FIELD = re.compile(r" - at `\$\.?([^`]*)`$")  # the end of what msgspec says
TABLE = re.compile(r"\s*\[\s*([\w.-]+)\s*\]")
ADDRESS = re.compile(r"(?:\[([^\]]+)\]|([^:]+)):(\d+)")
KEY = r"\s*(?:{0}|\"{0}\"|'{0}')\s*="
Seconds = Annotated[float, Meta(gt=0, le=1e9)]


class Address(Struct, frozen=True):
    """Where a node listens, by TCP and by UDP."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        return ip_address(self.host).is_loopback


class Live(Struct, frozen=True, forbid_unknown_fields=True):
    """How each node is run."""

    data: str = "data"  # the folder of logs, durable state and control sockets
    frame_max: Annotated[int, Meta(ge=HELLO_MAX, le=1 << 30)] = FRAME_MAX
    inbox: Annotated[int, Meta(ge=1, le=1 << 20)] = 1024  # messages that wait, of one kind
    failure: Literal["stop", "restart"] = "stop"
    keep_alive: Seconds = 10.0  # a peer that is silent for three of these is gone
    handler_seconds: Seconds = 10.0  # after which a handler counts as endless
    steps: bool = True  # whether each node keeps a log of its steps
    insecure: bool = False


class Emulated(Struct, frozen=True, forbid_unknown_fields=True):
    """A network that is worse than the real one; in both directions between all nodes."""

    rtt_ms: Annotated[float, Meta(ge=0, le=1e6)] = 0.0
    jitter_ms: Annotated[float, Meta(ge=0, le=1e6)] = 0.0  # one way, at most that much more
    loss: Annotated[float, Meta(ge=0, lt=1)] = 0.0  # share of packets
    rate: Annotated[float, Meta(gt=0)] | None = None  # bytes a second
    seed: int = 0

    def shape(self) -> Shape:
        """What it does to one direction."""
        return Shape(self.rtt_ms / 2000, self.jitter_ms / 1000, self.loss, self.rate)


class Steer(Struct, frozen=True, forbid_unknown_fields=True):
    """How nodes look ahead, and what they do about it."""

    mode: Mode = "on"
    every: Seconds = 10.0  # between rounds
    deadline: Seconds = 1.0  # for a prediction
    hold: Seconds = 0.5  # for which a message of a stream is held back
    nodes_max: Annotated[int, Meta(ge=1, le=1000)] = NODES_MAX  # of a snapshot
    bytes_per_second: Annotated[float, Meta(gt=0)] | None = None  # of checkpoints; None: any number
    checks: bool = True  # whether steps are judged before they are committed
    predicts: bool = True

    def options(self, round_trip: float) -> SteerOptions:
        """The same as steering takes it."""
        return SteerOptions(
            mode=self.mode,
            every=self.every,
            deadline=self.deadline,
            hold=self.hold,
            round_trip=max(round_trip, ROUND_TRIP_MIN),
            checks=self.checks,
            predicts=self.predicts,
        )


class Tls(Struct, frozen=True, forbid_unknown_fields=True):
    """Files in PEM; `{node}` in a path is the node's name."""

    ca: str
    cert: str
    key: str

    def of(self, node: str, folder: Path) -> tuple[Path, Path, Path]:
        """Authority, certificate and key of one node."""
        ca, cert, key = (
            folder / each.replace("{node}", node) for each in (self.ca, self.cert, self.key)
        )
        return ca, cert, key


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    target: str
    nodes: dict[str, str]
    parameters: dict[str, Any] = {}
    timers: dict[str, Seconds] = {}
    live: Live = field(default_factory=Live)
    tls: Tls | UnsetType = UNSET
    shape: Emulated | UnsetType = UNSET
    steer: Steer | UnsetType = UNSET


class Cluster(Struct, frozen=True):
    """A cluster file that was read."""

    nodes: dict[str, Address]
    target: str = ""
    parameters: dict[str, Any] = {}
    timers: dict[str, float] = {}
    live: Live = field(default_factory=Live)
    tls: Tls | None = None
    shape: Emulated | None = None
    steer: Steer | None = None
    folder: str = "."  # where relative paths begin

    @property
    def data(self) -> Path:
        return Path(self.folder) / self.live.data

    def folder_of(self, node: str) -> Path:
        """Where a node keeps its files, whatever its name is made of."""
        return self.data / quote(node, safe="").replace(".", "%2E")

    def with_data(self, folder: str) -> Cluster:
        """The same cluster with another data folder, from the current folder on."""
        return structs.replace(
            self, live=structs.replace(self.live, data=str(Path(folder).absolute()))
        )


def read(path: str | Path) -> Cluster:
    """The cluster that a file describes; not yet compared with its system (`check`)."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise BadCluster(
            f"the cluster file `{path}` cannot be read: {reason}",
            "another current folder, or a misspelt path",
            "give the path of a TOML file, from the current folder",
        ) from error
    return _Reader(str(path), text).cluster()


class _Reader:
    """One file, and where its fields are."""

    def __init__(self, path: str, text: str) -> None:
        self._path, self._text = path, text

    def cluster(self) -> Cluster:
        try:
            tables = tomllib.loads(self._text)
        except (ValueError, RecursionError) as error:  # numbers and lists have their limits, too
            raise BadCluster(
                f"{self._path}: this is not TOML: {error}",
                "a text without quotes, or a table or key that is there twice",
                'correct that line; texts need quotes: n0 = "127.0.0.1:7100"',
            ) from error
        self._refuse_unknown(tables)
        try:
            file = convert(tables, _File)
        except ValidationError as error:
            self._refuse(str(error))
        nodes = {name: self._address(name, given) for name, given in file.nodes.items()}
        tls = None if isinstance(file.tls, UnsetType) else file.tls
        self._check_addresses(nodes, safe=tls is not None or file.live.insecure)
        return Cluster(
            nodes,
            file.target,
            file.parameters,
            file.timers,
            file.live,
            tls,
            None if isinstance(file.shape, UnsetType) else file.shape,
            None if isinstance(file.steer, UnsetType) else file.steer,
            str(Path(self._path).parent),
        )

    def _refuse_unknown(self, tables: Mapping[str, Any]) -> None:
        """Name the table or field that was meant."""
        self._known("", tables, _File)
        for name, kind in (("live", Live), ("tls", Tls), ("shape", Emulated), ("steer", Steer)):
            if isinstance(tables.get(name), dict):
                self._known(name, tables[name], kind)

    def _known(self, table: str, given: Mapping[str, Any], kind: type[Struct]) -> None:
        names = [each.encode_name for each in structs.fields(kind)]
        for key in given:
            if key not in names:
                raise BadCluster(
                    f"{self._at(table, key)}: there is no `{key}`{did_you_mean(key, names)}",
                    f"a misspelt name; known are {', '.join(names)}",
                    "correct it, or leave it out",
                )

    def _refuse(self, said: str) -> NoReturn:
        """Turn what msgspec says into file, line and field."""
        place = FIELD.search(said)
        table, _, key = (place[1] if place else "").rpartition(".")
        fact = said[: place.start()] if place else said
        if missing := re.search(r"missing required field `(\w+)`", fact):
            where = f"[{place[1]}]: " if place and place[1] else ""
            raise BadCluster(
                f"{self._path}: {where}`{missing[1]}` is missing",
                "a file that is not complete",
                'target = "randtree", and a table [nodes] with n0 = "127.0.0.1:7100"',
            )
        field_ = re.sub(r"\[\.\.\.\]", "", f"{table}.{key}".strip("."))
        raise BadCluster(
            f"{self._at(*_split(field_))}: `{field_}`: {fact}",
            "a value of another type, or out of its range",
            "docs/reference/live-commands.md lists the fields and what they take",
        )

    def _address(self, node: str, text: str) -> Address:
        match = ADDRESS.fullmatch(text)
        host = (match[1] or match[2]) if match else ""
        host = "127.0.0.1" if host == "localhost" else host
        try:
            if match is None or not 1 <= int(match[3]) <= PORT_MAX:
                raise ValueError
            ip_address(host)
        except ValueError:
            raise BadCluster(
                f"{self._at('nodes', node)}: {text!r} is not an address",
                "a host name, or a port that is missing or out of range",
                f'{node} = "127.0.0.1:7100": an IP address and a port',
            ) from None
        return Address(host, int(match[3]))

    def _check_addresses(self, nodes: Mapping[str, Address], *, safe: bool) -> None:
        taken: dict[Address, str] = {}
        for name, address in nodes.items():
            where = self._at("nodes", name)
            if address in taken:
                raise BadCluster(
                    f"{where}: `{name}` has the address {address}, and so has `{taken[address]}`",
                    "a line that was copied",
                    "give each node a port of its own",
                )
            taken[address] = name
            if not safe and not address.is_loopback:
                raise BadCluster(
                    f"{where}: `{name}` would listen on {address} without certificates",
                    "a table [tls] that is missing: anybody could send it messages",
                    "add [tls] with ca, cert and key; or `insecure = true` in [live]",
                )

    def _at(self, table: str, key: str) -> str:
        line = line_of(self._text, table, key)
        return f"{self._path}:{line}" if line else self._path


def _split(field_: str) -> tuple[str, str]:
    table, _, key = field_.rpartition(".")
    return table, key


def line_of(text: str, table: str, key: str) -> int | None:
    """The line, from 1, on which a key of a table stands; of the table if it is not found."""
    current, header = "", None
    sought = re.compile(KEY.format(re.escape(key)))
    for number, line in enumerate(text.splitlines(), 1):
        if found := TABLE.match(line):
            current = found[1]
            if current == table or (not table and current == key):
                header = number
        elif current == table and sought.match(line):
            return number
    return header


def check(cluster: Cluster, names: Iterable[str], timers: Iterable[str], path: str) -> None:
    """Refuse a cluster whose nodes or timers are not those of the system."""
    names, timers = tuple(names), sorted(timers)
    for node in cluster.nodes:
        if node not in names:
            raise BadCluster(
                f"{path}: [nodes]: the system has no node `{node}`{did_you_mean(node, names)}",
                f"other `parameters`; its nodes are {', '.join(names)}",
                "correct the name, or set the parameter that says how many nodes there are",
            )
    for node in names:
        if node not in cluster.nodes:
            raise BadCluster(
                f"{path}: [nodes]: node `{node}` of the system has no address",
                "other `parameters`, or a line that was forgotten",
                f'{node} = "127.0.0.1:7100"',
            )
    for timer in cluster.timers:
        if timer not in timers:
            known = f"its timers are {', '.join(timers)}" if timers else "it has none"
            raise BadCluster(
                f"{path}: [timers]: no node has a timer `{timer}`{did_you_mean(timer, timers)}",
                f"a misspelt name; {known}",
                "name a method that is marked `@timer`",
            )
