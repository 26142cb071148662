"""Causes of violations, a search for each, against one walk that notes what breaks in any world."""

from itertools import count

import pytest
from reference.batches import batches, portion
from reference.explorer import Explorer, TooLarge
from reference.random_systems import random_system

from presage import Verdict, always, check
from presage.execution.causes import cause_of, forgiving
from presage.execution.conjuncts import because

STATES_MAX = 200
SYSTEMS = 40
WORDS = ("", "odd", "even", "late", "early")
KINDS = ("always", "step", "deadlock")


class Causes(Explorer):
    """Notes every cause, and the shortest way to it."""

    def judge(self, length, kinds, *seen, service=object):
        for prop in self.system.properties:
            if prop.kind in kinds and prop.kind in KINDS and issubclass(service, prop.of or object):
                verdict = prop.judge(*seen)
                if not verdict.holds:
                    why = verdict.why or ("" if prop.kind == "step" else because(prop, *seen))
                    self.note(prop.name, why, length)

    def judge_step(self, length, node, before, outcome, fault):
        if outcome.failure:
            self.note("no_exception", outcome.failure, length)
        super().judge_step(length, node, before, outcome._replace(failure=None), fault)

    def note(self, prop, why, length):
        key = (prop, cause_of(prop, why, self.system.names))
        self.decided.setdefault(key, length)  # breadth first: shortest first


def talkative(world) -> Verdict:
    """Breaks in several ways, and says in which."""
    word = WORDS[sum(node.a for node in world.up()) % len(WORDS)]
    return Verdict(not word, f"{word} by n0, {len(world.messages())} on their way")


def lettered(seed):
    system = random_system(seed)
    system.properties = (*system.properties, always(talkative))
    return system


def compare(seed) -> bool:
    """Whether there was something to compare: the system is small, and breaks in some way."""
    system = lettered(seed)
    try:
        expected = Causes(system).explore(STATES_MAX).decided
    except TooLarge:
        return False
    expected = {key: length for key, length in expected.items() if isinstance(key, tuple)}
    report = check(system, causes=1_000, liveness="rest", traces=None)
    told = [found for found in report.violations if found.kind not in ("liveness", "unreached")]
    found = {(each.prop, each.cause): each.steps for each in told}
    assert len(found) == len(told)
    started = [key for key in found if key[0] == "no_exception" and key not in expected]
    assert all(found.pop(key) == 0 for key in started)  # which the reference does not tell apart
    assert found == expected
    known = {prop: frozenset(c for p, c in found if p == prop) for prop, _ in found}
    again = check(system, known=known, liveness="rest", traces=None)
    left = {each.kind for each in again.violations}
    assert left <= {"liveness", "unreached"} | ({"exception"} if started else set())
    assert set(again.known) == set(found)
    assert all(again.properties[prop] == "violated" for prop, _ in found)
    return bool(found)


@pytest.mark.parametrize("batch", batches(1, 5))
def test_every_cause_is_found_once_and_by_the_shortest_way(batch: int) -> None:
    compared = 0
    for seed in count(batch * 10_000):
        try:
            compared += compare(seed)
        except AssertionError as error:
            raise AssertionError(f"lettered({seed}): {error}") from error
        if compared == portion(batch, SYSTEMS):
            return


def test_a_system_that_forgives_nothing_is_itself() -> None:
    system = random_system(1)
    assert forgiving(system, {}) is system
