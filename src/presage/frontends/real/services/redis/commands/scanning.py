"""Cursors without memory: SCAN and its kin.

Elements are visited in the order of a checksum, and a cursor is the checksum to go on with. So an
element that is there from the first call to the last one is returned, whatever else comes or
goes, and the server remembers nothing.
"""

import zlib
from collections.abc import Iterable

from presage.frontends.real.services.redis import errors
from presage.frontends.real.services.redis.commands.arguments import integer, option
from presage.frontends.real.services.redis.commands.table import ONE, command
from presage.frontends.real.services.redis.database import Hash, Scores, Set, type_name
from presage.frontends.real.services.redis.errors import CommandError
from presage.frontends.real.services.redis.globs import matches
from presage.frontends.real.services.redis.resp import Reply, double
from presage.frontends.real.services.redis.session import Session

SMALL = 128  # collections of at most so many elements come at once


class Scan:
    """The arguments of one call."""

    def __init__(self, cursor: bytes, args: list[bytes], *, types: bool = False) -> None:
        if not cursor.isdigit() or len(cursor) > 20:
            raise CommandError("ERR invalid cursor")
        self.cursor = int(cursor)
        self.count, self.pattern, self.type = 10, b"*", ""
        if len(args) % 2:
            raise CommandError(errors.SYNTAX)
        for name, value in zip(args[::2], args[1::2], strict=True):
            if option(name) == "COUNT":
                self.count = integer(value)
                if self.count < 1:
                    raise CommandError(errors.SYNTAX)
            elif option(name) == "MATCH":
                self.pattern = value
            elif option(name) == "TYPE" and types:
                self.type = value.decode("latin-1").lower()
            else:
                raise CommandError(errors.SYNTAX)

    def page(self, elements: Iterable[bytes]) -> tuple[bytes, list[bytes]]:
        """The next cursor, and the elements of this page that match."""
        places = sorted((zlib.crc32(each) + 1, each) for each in elements)
        left = [pair for pair in places if pair[0] >= self.cursor]
        end = min(self.count, len(left))
        while 0 < end < len(left) and left[end][0] == left[end - 1][0]:
            end += 1
        following = left[end][0] if end < len(left) else 0
        found = [each for _place, each in left[:end] if matches(self.pattern, each)]
        return b"%d" % following, found

    def whole(self, elements: list[bytes]) -> tuple[bytes, list[bytes]]:
        """As `page`; a small collection comes at once and in its own order."""
        if len(elements) > SMALL:
            return self.page(elements)
        return b"0", [each for each in elements if matches(self.pattern, each)]


@command("scan", -2)
def scan(session: Session, args: list[bytes]) -> Reply:
    request = Scan(args[0], args[1:], types=True)
    cursor, keys = request.page(session.database.values)
    if request.type:
        values = session.database.values
        keys = [key for key in keys if type_name(values[key]) == request.type]
    return [cursor, keys]


@command("sscan", -3, ONE)
def sscan(session: Session, args: list[bytes]) -> Reply:
    members = session.database.read(args[0], Set)
    request = Scan(args[1], args[2:] if members is not None else [])
    if members is None:
        return [b"0", []]
    return list(request.whole(sorted(members)))


@command("hscan", -3, ONE)
def hscan(session: Session, args: list[bytes]) -> Reply:
    fields = session.database.read(args[0], Hash)
    request = Scan(args[1], args[2:] if fields is not None else [])
    if fields is None:
        return [b"0", []]
    cursor, names = request.whole(list(fields))
    return [cursor, [part for name in names for part in (name, fields[name])]]


@command("zscan", -3, ONE)
def zscan(session: Session, args: list[bytes]) -> Reply:
    scores = session.database.read(args[0], Scores)
    request = Scan(args[1], args[2:] if scores is not None else [])
    if scores is None:
        return [b"0", []]
    cursor, names = request.whole([member for member, _score in scores.ordered()])
    return [cursor, [part for name in names for part in (name, double(scores[name]))]]
