"""Parts of a sorted set: by rank, by score, by member."""

from itertools import dropwhile, takewhile

from presage.frontends.real.services.redis import errors
from presage.frontends.real.services.redis.commands.arguments import (
    floating,
    integer,
    option,
    span,
)
from presage.frontends.real.services.redis.errors import CommandError
from presage.records import record

Pairs = list[tuple[bytes, float]]

NOT_SCORE = "ERR min or max is not a float"
NOT_LEX = "ERR min or max not valid string range item"


@record(frozen=True)
class Bound:
    """One end of a range of scores."""

    score: float
    open: bool

    @staticmethod
    def read(text: bytes) -> "Bound":
        is_open = text[:1] == b"("
        return Bound(floating(text[1:] if is_open else text, NOT_SCORE), is_open)


def by_score(pairs: Pairs, low: bytes, high: bytes) -> Pairs:
    least, most = Bound.read(low), Bound.read(high)
    return [
        (member, score)
        for member, score in pairs
        if (least.score < score or (score == least.score and not least.open))
        and (score < most.score or (score == most.score and not most.open))
    ]


def check_lex(*bounds: bytes) -> None:
    for bound in bounds:
        if bound not in (b"-", b"+") and bound[:1] not in (b"[", b"("):
            raise CommandError(NOT_LEX)


def above(member: bytes, bound: bytes) -> bool:
    if bound in (b"-", b"+"):
        return bound == b"-"
    return member > bound[1:] or (member == bound[1:] and bound[:1] == b"[")


def below(member: bytes, bound: bytes) -> bool:
    if bound in (b"-", b"+"):
        return bound == b"+"
    return member < bound[1:] or (member == bound[1:] and bound[:1] == b"[")


def by_lex(pairs: Pairs, low: bytes, high: bytes, *, reverse: bool = False) -> Pairs:
    """Those from the first one above `low` while they are below `high`.

    That is all between them if the scores are equal; for others Redis promises nothing.
    """
    check_lex(low, high)
    if not pairs or not above(pairs[-1][0], low) or not below(pairs[0][0], high):
        return []
    if reverse:
        rest = dropwhile(lambda pair: not below(pair[0], high), pairs[::-1])
        return list(takewhile(lambda pair: above(pair[0], low), rest))
    rest = dropwhile(lambda pair: not above(pair[0], low), pairs)
    return list(takewhile(lambda pair: below(pair[0], high), rest))


def by_rank(pairs: Pairs, start: bytes, stop: bytes) -> Pairs:
    return pairs[span(integer(start), integer(stop), len(pairs))]


@record
class Range:
    """The arguments of ZRANGE and those that came before it."""

    start: bytes
    stop: bytes
    by: str = "RANK"
    reverse: bool = False
    scores: bool = False
    offset: int | None = None
    count: int = -1

    def read(self, args: list[bytes], allowed: set[str]) -> "Range":
        rest = iter(args)
        for text in rest:
            name = option(text)
            if name not in allowed:
                raise CommandError(errors.SYNTAX)
            if name == "LIMIT":
                numbers = next(rest, None), next(rest, None)
                if numbers[0] is None or numbers[1] is None:
                    raise CommandError(errors.SYNTAX)
                self.offset, self.count = integer(numbers[0]), integer(numbers[1])
            elif name == "WITHSCORES":
                self.scores = True
            elif name == "REV":
                self.reverse = True
            else:
                self.by = name.removeprefix("BY")
        self._check()
        return self

    def _check(self) -> None:
        if self.by == "RANK" and self.offset is not None:
            raise CommandError(
                "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or "
                "BYLEX"
            )
        if self.by == "LEX" and self.scores:
            raise CommandError(
                "ERR syntax error, WITHSCORES not supported in combination with BYLEX"
            )
        if self.by == "RANK":
            integer(self.start), integer(self.stop)
        elif self.by == "LEX":
            check_lex(self.start, self.stop)
        else:
            Bound.read(self.start), Bound.read(self.stop)

    def of(self, pairs: Pairs) -> Pairs:
        """The part of `pairs`, which are in order."""
        if self.by == "RANK":
            return by_rank(pairs[::-1] if self.reverse else pairs, self.start, self.stop)
        ends = (self.stop, self.start) if self.reverse else (self.start, self.stop)
        if self.by == "LEX":
            found = by_lex(pairs, *ends, reverse=self.reverse)
        else:
            found = by_score(pairs, *ends)[:: -1 if self.reverse else 1]
        if self.offset is None:
            return found
        if self.offset < 0:
            return []
        return found[self.offset :][: None if self.count < 0 else self.count]
