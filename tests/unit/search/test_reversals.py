"""`--reversals`: in which order races are reversed, what is claimed then, and what is refused."""

from dataclasses import dataclass
from math import factorial

import pytest

from presage import Faults, Process, Program, Service, System, action, always, check, on
from presage.errors import BadSystem
from presage.systems.samc import gossip, hints, yarn


@dataclass(frozen=True)
class Word:
    n: int


class Talker(Service):
    n: int
    said: bool = False

    @action(when=lambda self: not self.said)
    def say(self):
        self.said = True
        self.send("listener", Word(self.n))


class Listener(Service):
    heard: tuple[int, ...] = ()

    @on(Word)
    def hear(self, word):
        self.heard += (word.n,)


def many_to_one(talkers, **more):
    nodes = {f"t{n}": Talker(n=n) for n in range(talkers)}
    return System(nodes={"listener": Listener(), **nodes}, **more)


def explored(system, reversals, **more):
    given = {"search": "tree", "reduction": "dpor", "reversals": reversals, "traces": None}
    return check(system, **given, **more)


def test_a_queue_meets_every_order_and_says_so():
    report = explored(many_to_one(4), "queue")
    assert report.traces == factorial(4)
    assert report.executions >= report.traces
    assert report.exhausted


def test_a_queue_that_is_cut_short_claims_nothing():
    report = explored(many_to_one(4), "queue", walks=5)
    assert (report.executions, report.stopped_by, report.exhausted) == (5, "runs", False)


def test_a_queue_moves_faults_first():
    """In the first execution the crash is last; the next has it as early as it can be."""

    @always
    def is_heard(world):
        return world["t0"].up or len(world["listener"].heard) > 3

    system = many_to_one(4, faults=Faults(crash=1), properties=[is_heard])
    found = explored(system, "queue")
    assert found.violations
    assert found.executions <= 10


@pytest.mark.parametrize(
    ("system", "most"), [(yarn.system(bug="MR-5489"), 73), (gossip.system(bug="CASS-3626"), 4)]
)
def test_a_queue_finds_deep_bugs_early(system, most):
    report = explored(system, "queue", walks=most)
    assert report.violations
    assert report.executions <= most


def test_random_reversals_never_claim_to_be_all():
    report = explored(many_to_one(1), "random")
    assert (report.executions, report.exhausted) == (1_000, False)
    assert "a sample" in report.notes[0]


def test_random_reversals_follow_their_seed():
    def until(seed):
        report = explored(yarn.system(bug="MR-5489"), "random", seed=seed)
        assert report.violations
        return report.executions

    counts = [until(seed) for seed in range(6)]
    assert counts == [until(seed) for seed in range(6)]
    assert len(set(counts)) > 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"search": "bfs", "reversals": "queue"}, "for the search `bfs`"),
        ({"search": "tree", "reversals": "queue"}, "with no reduction"),
        ({"reduction": "odpor", "reversals": "random"}, "with the reduction `odpor`"),
        ({"search": "tree", "reduction": "none", "reversals": "queue"}, "the reduction `none`"),
        ({"reduction": "dpor", "reversals": "heap"}, "there is no reversals `heap`"),
    ],
)
def test_reversals_are_for_dpor(given, said):
    with pytest.raises(BadSystem, match=said):
        check(many_to_one(1), traces=None, **given)


def test_reversals_are_for_systems():
    with pytest.raises(BadSystem, match="was given for a program"):
        check(Program({"a": Process(print)}), reduction="dpor", reversals="queue", traces=None)


def test_a_queue_takes_no_streams():
    with pytest.raises(BadSystem, match="reversals in a queue for a system with streams"):
        check(hints.system(), reduction="dpor", reversals="queue", traces=None)
