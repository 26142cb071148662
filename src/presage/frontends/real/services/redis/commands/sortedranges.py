"""Commands that read parts of sorted sets, and those that combine sorted sets."""

from collections.abc import Callable

from presage.frontends.real.services.redis import errors
from presage.frontends.real.services.redis.commands.arguments import floating, integer, option
from presage.frontends.real.services.redis.commands.ranges import Pairs, Range
from presage.frontends.real.services.redis.commands.sortedsets import pairs_of
from presage.frontends.real.services.redis.commands.table import ONE, TWO, command
from presage.frontends.real.services.redis.database import Scores, Set
from presage.frontends.real.services.redis.errors import WRONG_TYPE, CommandError
from presage.frontends.real.services.redis.resp import Reply, Scored
from presage.frontends.real.services.redis.session import Session
from presage.records import record

ALL_OPTIONS = {"BYSCORE", "BYLEX", "REV", "LIMIT", "WITHSCORES"}
AGGREGATES: dict[str, Callable[[float, float], float]] = {
    "SUM": lambda left, right: 0.0 if left + right != left + right else left + right,
    "MIN": min,
    "MAX": max,
}


def shown(pairs: Pairs, *, scores: bool) -> Reply:
    return Scored(list(pairs)) if scores else [member for member, _score in pairs]


def ranged(session: Session, args: list[bytes], base: Range, allowed: set[str]) -> Reply:
    base.read(args[3:], allowed)
    return shown(base.of(pairs_of(session, args[0])), scores=base.scores)


@command("zrange", -4, ONE)
def zrange(session: Session, args: list[bytes]) -> Reply:
    return ranged(session, args, Range(args[1], args[2]), ALL_OPTIONS)


@command("zrevrange", -4, ONE)
def zrevrange(session: Session, args: list[bytes]) -> Reply:
    return ranged(session, args, Range(args[1], args[2], reverse=True), {"WITHSCORES"})


@command("zrangebyscore", -4, ONE)
def zrangebyscore(session: Session, args: list[bytes]) -> Reply:
    return ranged(session, args, Range(args[1], args[2], "SCORE"), {"WITHSCORES", "LIMIT"})


@command("zrevrangebyscore", -4, ONE)
def zrevrangebyscore(session: Session, args: list[bytes]) -> Reply:
    base = Range(args[1], args[2], "SCORE", reverse=True)
    return ranged(session, args, base, {"WITHSCORES", "LIMIT"})


@command("zrangebylex", -4, ONE)
def zrangebylex(session: Session, args: list[bytes]) -> Reply:
    return ranged(session, args, Range(args[1], args[2], "LEX"), {"LIMIT"})


@command("zrevrangebylex", -4, ONE)
def zrevrangebylex(session: Session, args: list[bytes]) -> Reply:
    return ranged(session, args, Range(args[1], args[2], "LEX", reverse=True), {"LIMIT"})


def stored(session: Session, key: bytes, pairs: Pairs) -> int:
    if pairs:
        session.database.put(key, Scores(pairs))
    else:
        session.database.drop(key)
    return len(pairs)


@command("zrangestore", -5, TWO)
def zrangestore(session: Session, args: list[bytes]) -> Reply:
    base = Range(args[2], args[3]).read(args[4:], ALL_OPTIONS - {"WITHSCORES"})
    return stored(session, args[0], base.of(pairs_of(session, args[1])))


@record
class Inputs:
    """The sorted sets that are combined, with their weights."""

    sets: list[dict[bytes, float]]
    aggregate: Callable[[float, float], float]
    scores: bool


def members_with_scores(session: Session, key: bytes) -> dict[bytes, float]:
    value = session.database.values.get(key)
    if value is None or isinstance(value, Scores):
        return dict(value or {})
    if isinstance(value, Set):
        return dict.fromkeys(value, 1.0)
    raise CommandError(WRONG_TYPE)


def inputs(session: Session, name: str, args: list[bytes], allowed: set[str]) -> Inputs:
    count = integer(args[0])
    if count < 1:
        raise CommandError(f"ERR at least 1 input key is needed for '{name}' command")
    if count > len(args) - 1:
        raise CommandError(errors.SYNTAX)
    sets = [members_with_scores(session, key) for key in args[1 : 1 + count]]
    weights, aggregate, scores = [1.0] * count, AGGREGATES["SUM"], False
    rest = args[1 + count :]
    while rest:
        word = option(rest[0])
        if word not in allowed:
            raise CommandError(errors.SYNTAX)
        if word == "WEIGHTS" and len(rest) > count:
            complaint = "ERR weight value is not a float"
            weights = [floating(text, complaint) for text in rest[1 : 1 + count]]
            rest = rest[1 + count :]
        elif word == "AGGREGATE" and len(rest) > 1 and option(rest[1]) in AGGREGATES:
            aggregate, rest = AGGREGATES[option(rest[1])], rest[2:]
        elif word == "WITHSCORES":
            scores, rest = True, rest[1:]
        else:
            raise CommandError(errors.SYNTAX)
    weighed = [
        {member: weigh(score, weight) for member, score in each.items()}
        for each, weight in zip(sets, weights, strict=True)
    ]
    return Inputs(weighed, aggregate, scores)


def weigh(score: float, weight: float) -> float:
    value = score * weight
    return 0.0 if value != value else value


def union(given: Inputs) -> Pairs:
    total: dict[bytes, float] = {}
    for each in given.sets:
        for member, score in each.items():
            old = total.get(member)
            total[member] = score if old is None else given.aggregate(old, score)
    return Scores(total).ordered()


def intersection(given: Inputs) -> Pairs:
    common = set(given.sets[0]).intersection(*given.sets[1:])
    parts = [{member: each[member] for member in common} for each in given.sets]
    return union(Inputs(parts, given.aggregate, given.scores))


def difference(given: Inputs) -> Pairs:
    gone = {member for each in given.sets[1:] for member in each}
    first = given.sets[0]
    return Scores({each: first[each] for each in first if each not in gone}).ordered()


COMBINE = {"zunion": union, "zinter": intersection, "zdiff": difference}


def combine(session: Session, name: str, args: list[bytes]) -> Reply:
    allowed = {"WITHSCORES"} | (set() if name == "zdiff" else {"WEIGHTS", "AGGREGATE"})
    given = inputs(session, name, args, allowed)
    return shown(COMBINE[name](given), scores=given.scores)


def combine_into(session: Session, name: str, args: list[bytes]) -> Reply:
    allowed = set() if name == "zdiff" else {"WEIGHTS", "AGGREGATE"}
    given = inputs(session, f"{name}store", args[1:], allowed)
    return stored(session, args[0], COMBINE[name](given))


@command("zunion", -3)
def zunion(session: Session, args: list[bytes]) -> Reply:
    return combine(session, "zunion", args)


@command("zinter", -3)
def zinter(session: Session, args: list[bytes]) -> Reply:
    return combine(session, "zinter", args)


@command("zdiff", -3)
def zdiff(session: Session, args: list[bytes]) -> Reply:
    return combine(session, "zdiff", args)


@command("zunionstore", -4, ONE)
def zunionstore(session: Session, args: list[bytes]) -> Reply:
    return combine_into(session, "zunion", args)


@command("zinterstore", -4, ONE)
def zinterstore(session: Session, args: list[bytes]) -> Reply:
    return combine_into(session, "zinter", args)


@command("zdiffstore", -4, ONE)
def zdiffstore(session: Session, args: list[bytes]) -> Reply:
    return combine_into(session, "zdiff", args)
