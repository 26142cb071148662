"""Commands on sorted sets that add, remove, count and take."""

import math

from presage.frontends.real.services.redis import errors
from presage.frontends.real.services.redis.commands.arguments import (
    floating,
    integer,
    option,
    positive,
)
from presage.frontends.real.services.redis.commands.hashes import some
from presage.frontends.real.services.redis.commands.ranges import (
    Pairs,
    by_lex,
    by_rank,
    by_score,
)
from presage.frontends.real.services.redis.commands.table import ONE, command
from presage.frontends.real.services.redis.database import Scores
from presage.frontends.real.services.redis.errors import CommandError
from presage.frontends.real.services.redis.resp import Reply, Scored
from presage.frontends.real.services.redis.session import Session


def scores_of(session: Session, key: bytes) -> Scores:
    return session.database.read(key, Scores) or Scores()


def pairs_of(session: Session, key: bytes) -> Pairs:
    return scores_of(session, key).ordered()


def zadd_options(args: list[bytes]) -> tuple[set[str], list[tuple[float, bytes]]]:
    found: set[str] = set()
    while args and option(args[0]) in {"NX", "XX", "GT", "LT", "CH", "INCR"}:
        found.add(option(args[0]))
        args = args[1:]
    if not args or len(args) % 2:
        raise CommandError(errors.SYNTAX)
    if {"NX", "XX"} <= found:
        raise CommandError("ERR XX and NX options at the same time are not compatible")
    if len(found & {"NX", "GT", "LT"}) > 1:
        raise CommandError("ERR GT, LT, and/or NX options at the same time are not compatible")
    if "INCR" in found and len(args) > 2:
        raise CommandError("ERR INCR option supports a single increment-element pair")
    return found, [
        (floating(score), member) for score, member in zip(args[::2], args[1::2], strict=True)
    ]


def wanted(found: set[str], old: float | None, new: float) -> bool:
    """Whether the options let a score be set."""
    if old is None:
        return "XX" not in found
    return not ("NX" in found or ("GT" in found and new <= old) or ("LT" in found and new >= old))


@command("zadd", -4, ONE)
def zadd(session: Session, args: list[bytes]) -> Reply:
    found, additions = zadd_options(args[1:])
    scores = scores_of(session, args[0])
    added = changed = 0
    result: float | None = None
    for score, member in additions:
        old = scores.get(member)
        if "INCR" in found and old is not None:
            score += old
            if math.isnan(score):
                raise CommandError("ERR resulting score is not a number (NaN)")
        if not wanted(found, old, score):
            continue
        result = score
        added += old is None
        changed += old is not None and old != score
        scores[member] = score
    if added or changed:
        session.database.values[args[0]] = scores
        session.database.changed(args[0])
    if "INCR" in found:
        return result
    return added + changed if "CH" in found else added


@command("zincrby", 4, ONE)
def zincrby(session: Session, args: list[bytes]) -> Reply:
    return zadd(session, [args[0], b"INCR", args[1], args[2]])


@command("zrem", -3, ONE)
def zrem(session: Session, args: list[bytes]) -> Reply:
    return remove(session, args[0], args[1:])


def remove(session: Session, key: bytes, members: list[bytes]) -> int:
    scores = scores_of(session, key)
    count = sum(scores.pop(member, None) is not None for member in members)
    if count:
        session.database.changed(key)
    return count


@command("zscore", 3, ONE)
def zscore(session: Session, args: list[bytes]) -> Reply:
    return scores_of(session, args[0]).get(args[1])


@command("zmscore", -3, ONE)
def zmscore(session: Session, args: list[bytes]) -> Reply:
    scores = scores_of(session, args[0])
    return [scores.get(member) for member in args[1:]]


@command("zcard", 2, ONE)
def zcard(session: Session, args: list[bytes]) -> Reply:
    return len(scores_of(session, args[0]))


@command("zcount", 4, ONE)
def zcount(session: Session, args: list[bytes]) -> Reply:
    by_score([], args[1], args[2])
    return len(by_score(pairs_of(session, args[0]), args[1], args[2]))


@command("zlexcount", 4, ONE)
def zlexcount(session: Session, args: list[bytes]) -> Reply:
    by_lex([], args[1], args[2])
    return len(by_lex(pairs_of(session, args[0]), args[1], args[2]))


def rank(session: Session, args: list[bytes], *, reverse: bool) -> Reply:
    members = [member for member, _score in pairs_of(session, args[0])]
    if args[1] not in members:
        return None
    place = members.index(args[1])
    return len(members) - 1 - place if reverse else place


@command("zrank", 3, ONE)
def zrank(session: Session, args: list[bytes]) -> Reply:
    return rank(session, args, reverse=False)


@command("zrevrank", 3, ONE)
def zrevrank(session: Session, args: list[bytes]) -> Reply:
    return rank(session, args, reverse=True)


@command("zremrangebyrank", 4, ONE)
def zremrangebyrank(session: Session, args: list[bytes]) -> Reply:
    by_rank([], args[1], args[2])
    pairs = by_rank(pairs_of(session, args[0]), args[1], args[2])
    return remove(session, args[0], [member for member, _score in pairs])


@command("zremrangebyscore", 4, ONE)
def zremrangebyscore(session: Session, args: list[bytes]) -> Reply:
    by_score([], args[1], args[2])
    pairs = by_score(pairs_of(session, args[0]), args[1], args[2])
    return remove(session, args[0], [member for member, _score in pairs])


@command("zremrangebylex", 4, ONE)
def zremrangebylex(session: Session, args: list[bytes]) -> Reply:
    by_lex([], args[1], args[2])
    pairs = by_lex(pairs_of(session, args[0]), args[1], args[2])
    return remove(session, args[0], [member for member, _score in pairs])


def take_extreme(session: Session, key: bytes, *, least: bool) -> tuple[bytes, float] | None:
    """The member with the least score or the greatest one, which then is gone."""
    pairs = pairs_of(session, key)
    if not pairs:
        return None
    pair = pairs[0 if least else -1]
    remove(session, key, [pair[0]])
    return pair


def pop(session: Session, name: str, args: list[bytes], *, least: bool) -> Reply:
    if len(args) > 2:
        raise CommandError(errors.SYNTAX)
    count = positive(args[1]) if len(args) == 2 else 1
    size = min(count, len(scores_of(session, args[0])))
    pairs = [take_extreme(session, args[0], least=least) for _ in range(size)]
    taken = [pair for pair in pairs if pair is not None]
    if len(args) == 1:
        return [part for pair in taken for part in pair]
    return Scored(list(taken))


@command("zpopmin", -2, ONE)
def zpopmin(session: Session, args: list[bytes]) -> Reply:
    return pop(session, "zpopmin", args, least=True)


@command("zpopmax", -2, ONE)
def zpopmax(session: Session, args: list[bytes]) -> Reply:
    return pop(session, "zpopmax", args, least=False)


@command("zrandmember", -2, ONE)
def zrandmember(session: Session, args: list[bytes]) -> Reply:
    scores = scores_of(session, args[0])
    members = [member for member, _score in scores.ordered()]
    if len(args) == 1:
        return some(members, 1)[0] if members else None
    with_scores = len(args) == 3 and option(args[2]) == "WITHSCORES"
    if len(args) > 2 and not with_scores:
        raise CommandError(errors.SYNTAX)
    chosen = some(members, integer(args[1]))
    return Scored([(member, scores[member]) for member in chosen]) if with_scores else chosen
