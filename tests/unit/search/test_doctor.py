"""The doctor's walk and its comparison: what is examined, what is found, how it is named."""

import pytest

from presage import Faults, Service, System, action, on
from presage.errors import NotState, UnknownNode
from presage.search.doctor import Entry, Transcript, compare, transcribe
from presage.systems import paxos, two_phase_commit

RUNS: list[int] = []


class Sound(Service):
    n: int = 0
    heard: frozenset[str] = frozenset()

    def start(self):
        self.n = self.choose([0, 1])

    @action(when=lambda self: self.n < 3)
    def go(self):
        self.n += 1
        self.send("b", f"at {self.n}")
        self.record(self.n)

    @on(str)
    def hear(self, text):
        self.heard |= {text}


def pair(service=Sound, **arguments):
    return System({"a": service(), "b": service()}, **arguments)


def test_a_sound_system_gives_the_same_transcript_again():
    one, other = transcribe(pair()), transcribe(pair())
    assert one == other
    assert one.findings == ()
    assert len(one.entries) > 20
    assert compare({1: one, 2: other}).findings == ()


@pytest.mark.parametrize("system", [paxos.system, two_phase_commit.system])
def test_shipped_systems_are_sound(system):
    assert transcribe(system(), steps=60).findings == ()


def test_faults_are_walked_through():
    faulty = transcribe(pair(faults=Faults(crash=1, restart=1, drop=1)), steps=80)
    steps = {entry.step for entry in faulty.entries}
    assert {"a: Sound, crash", "a: Sound, restart", "b: Sound, restart"} <= steps
    assert not any("crash" in entry.step for entry in transcribe(pair(), steps=80).entries)


def test_the_number_of_steps_is_limited_and_said():
    few = transcribe(pair(), steps=5)
    assert 5 <= len(few.entries) < 10
    assert not few.exhausted
    examined = compare({1: few, 2: few})
    assert (examined.steps, examined.exhausted) == (len(few.entries), False)


def test_all_steps_were_looked_at_if_that_is_said():
    class Small(Service):
        n: int = 0

        @action(when=lambda self: self.n < 4)
        def go(self):
            self.n += 1

    transcript = transcribe(System({"a": Small()}))
    assert [entry.step for entry in transcript.entries] == ["a: Small, start"] + [
        "a: Small, action go"
    ] * 4
    assert transcript.exhausted


EFFECTS = {
    "a field": (lambda self, runs: setattr(self, "n", runs), "differed in `n`: "),
    "a message": (lambda self, runs: self.send("b", f"{runs}"), "differed in what it sent: "),
    "a record": (lambda self, runs: self.record(runs), "differed in what it recorded: "),
    "a failure": (
        lambda self, runs: runs % 2 and self.no_such_field,
        "differed in timers or status",
    ),
}


@pytest.mark.parametrize(("effect", "said"), EFFECTS.values(), ids=EFFECTS.keys())
def test_what_differs_between_two_runs_of_a_step_is_named(effect, said):
    class Unsound(Sound):
        @action(when=lambda self: self.n < 3)
        def go(self):
            RUNS.append(1)
            effect(self, len(RUNS))

    [finding] = transcribe(pair(Unsound)).findings
    assert finding.startswith("a: Unsound, action go, run twice from the same state, ")
    assert said in finding


def test_a_step_that_asks_for_other_choices_is_found():
    class Unsound(Sound):
        @action(when=lambda self: self.n < 3)
        def go(self):
            RUNS.append(1)
            self.n = self.choose(range(len(RUNS) + 1))

    [finding] = transcribe(pair(Unsound)).findings
    assert "a handler of `Unsound` once asked for other choices than before" in finding


def test_a_guard_that_changes_its_mind_is_found():
    class Unsound(Sound):
        @on(str, when=lambda self, text: RUNS.append(1) or len(RUNS) % 3 == 0)
        def hear(self, text):
            self.heard |= {text}

    assert transcribe(pair(Unsound)).findings != ()


def test_an_impure_call_is_a_finding():
    class Impure(Sound):
        @action(when=lambda self: self.n < 3)
        def go(self):
            import random

            self.n = random.randint(1, 3)

    [finding] = transcribe(pair(Impure)).findings
    assert "a handler calls `random.randint`" in finding


def test_a_system_that_cannot_be_checked_is_an_error_not_a_finding():
    class Lost(Sound):
        @action
        def go(self):
            self.send("nobody", "hello")

    class Locked(Sound):
        @action
        def go(self):
            import threading

            self.heard = threading.Lock()

    with pytest.raises(UnknownNode, match="nobody"):
        transcribe(pair(Lost))
    with pytest.raises(NotState, match="Locked.heard"):
        transcribe(pair(Locked))


def entry(step="a: Node, start", **did):
    return Entry(step, tuple((name, hash(text), text) for name, text in did.items()))


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (entry(n="1"), entry(n="2"), "a: Node, start: differed in n: 1 and 2"),
        (entry("x"), entry("y"), "different things could happen: `x` and `y`"),
        (entry(n="1"), entry(m="1"), "did `n` once and `m` once"),
        (entry(n="1"), entry(n="1", m="2"), "another number of effects"),
    ],
)
def test_the_first_difference_between_two_processes_is_told(one, other, said):
    same = entry("same", n="1")
    transcripts = {1: Transcript((same, one)), 2: Transcript((same, other))}
    [finding] = compare(transcripts).findings
    assert finding.startswith("under hash seeds 1 and 2, ")
    assert said in finding


def test_another_number_of_steps_is_a_difference():
    transcripts = {1: Transcript((entry(),)), 2: Transcript((entry(), entry()))}
    assert compare(transcripts).findings == (
        "under hash seeds 1 and 2, 1 and 2 steps were possible",
    )


def test_one_finding_of_both_processes_is_told_once():
    told = Transcript(findings=("a handler calls `time.time`",))
    examined = compare({1: told, 2: told})
    assert examined.findings == ("a handler calls `time.time`",)
    assert examined.to_json() == {
        "steps": 0,
        "exhausted": False,
        "hash_seeds": [1, 2],
        "assumes": [],
        "findings": ["a handler calls `time.time`"],
        "idle": [],
    }
