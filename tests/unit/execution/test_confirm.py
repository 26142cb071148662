"""Nothing is reported on the word of tables: live code must agree, state by state."""

import pytest

from presage import Service, System, action, always, check, no_deadlock, sometimes, step
from presage._core import Finding, KernelEvent
from presage.errors import Impure, Nondeterminism
from presage.execution.confirm import confirm
from presage.execution.sandbox import Sandbox
from presage.model.world.world import World

RUNS: list[int] = []


@pytest.fixture(autouse=True)
def nothing_ran_yet():
    RUNS.clear()


class Fickle(Service):
    """Does the same in its first runs, and something else ever after."""

    n: int = 0
    patience: int = 2

    @action(when=lambda self: self.n == 0)
    def go(self):
        RUNS.append(1)
        self.n = 1 if len(RUNS) <= self.patience else 2


@always
def zero(world):
    return world["a"].n == 0


def test_a_handler_that_changes_its_mind_after_the_search_is_caught():
    with pytest.raises(Nondeterminism, match=r"step 1 \(`go` at a\) gave another state") as caught:
        check(System({"a": Fickle()}, properties=[zero]), traces=None)
    assert caught.value.exit_status == 3


def test_a_goal_that_live_code_does_not_reach_is_no_goal_reached():
    @sometimes
    def one(world):
        return world["a"].n == 1

    with pytest.raises(Nondeterminism):
        check(System({"a": Fickle()}, properties=[one]), traces=None)


def test_a_handler_that_changes_its_mind_at_once_is_caught_in_the_search():
    class Restless(Fickle):
        @action(when=lambda self: self.n == 0)
        def go(self):
            RUNS.append(1)
            self.n = len(RUNS)

    with pytest.raises(Nondeterminism, match=r"run twice from the same state, differed in `n`: \d"):
        check(System({"a": Restless()}, properties=[zero]), traces=None)


def test_a_handler_that_asks_for_other_choices_is_caught():
    class Unsure(Service):
        n: int = 0

        @action(when=lambda self: self.n == 0)
        def go(self):
            RUNS.append(1)
            self.n = 1 + self.choose(range(2 + len(RUNS) % 2))

    with pytest.raises(Nondeterminism):
        check(System({"a": Unsure()}), traces=None)


def test_a_predicate_that_says_no_once_and_then_yes_is_caught():
    said = []

    @always
    def moody(world):
        said.append(world["a"].n)
        return len(said) > 1

    with pytest.raises(Nondeterminism, match="`moody`"):
        check(System({"a": Fickle(patience=99)}, properties=[moody]), traces=None)


def test_a_predicate_that_reads_other_things_each_time_is_caught():
    said = []

    class Two(Service):
        n: int = 0
        m: int = 0

        @action(when=lambda self: self.n < 3)
        def go(self):
            self.n += 1

    @always
    def curious(world):
        said.append(1)
        return world["a"].n >= 0 if len(said) % 2 else world["a"].m >= 0

    with pytest.raises(Nondeterminism, match="`curious` read different things"):
        check(System({"a": Two()}, properties=[curious]), traces=None)


class Plain(Service):
    n: int = 0

    @action(when=lambda self: self.n < 2)
    def go(self):
        self.n += 1


@step
def grows(before, after):
    return after.n < 2


PLAIN = System({"a": Plain()}, properties=[zero, grows, no_deadlock])


def finding(at, steps):
    world = World.initial(PLAIN)
    initial = world.fingerprint
    events = []
    for _ in range(steps):
        [event] = world.enabled()
        taken = world.apply(event)
        events.append(KernelEvent("internal", 0, ("action", "go"), [], taken.fingerprint))
    return Finding(at, (), initial, tuple(events))


@pytest.mark.parametrize(("at", "steps"), [(1, 1), (2, 2), (3, 2)], ids=["always", "step", "rest"])
def test_a_finding_that_is_true_is_confirmed(at, steps):
    with Sandbox() as sandbox:
        confirmed = confirm(PLAIN, sandbox, finding(at, steps))
    assert confirmed.prop is PLAIN.properties[at - 1]
    assert (len(confirmed.steps), bool(confirmed.why)) == (steps, True)


@pytest.mark.parametrize(("at", "steps"), [(0, 1), (1, 0), (2, 1), (3, 1)])
def test_a_finding_that_is_not_true_is_refused(at, steps):
    with (
        Sandbox() as sandbox,
        pytest.raises(Nondeterminism, match="a replay on live code says otherwise"),
    ):
        confirm(PLAIN, sandbox, finding(at, steps))


def test_a_state_that_is_not_the_one_claimed_is_refused():
    true = finding(1, 1)
    with Sandbox() as sandbox:
        with pytest.raises(Nondeterminism, match="the initial state gave another state"):
            confirm(PLAIN, sandbox, Finding(1, (), true.initial ^ 1, true.events))
        true_event = true.events[0]
        origin, fingerprint = true_event.origin, true_event.fingerprint ^ 1
        wrong = (KernelEvent(true_event.kind, 0, origin, [], fingerprint),)
        with pytest.raises(Nondeterminism, match=r"step 1 \(`go` at a\)"):
            confirm(PLAIN, sandbox, Finding(1, (), true.initial, wrong))


def test_an_impure_call_that_only_a_replay_meets_is_told_as_such():
    class Late(Service):
        n: int = 0

        @action(when=lambda self: self.n == 0)
        def go(self):
            import time

            RUNS.append(1)
            self.n = 1
            if len(RUNS) > 2:
                time.time()

    with pytest.raises(Impure):
        check(System({"a": Late()}, properties=[zero]), traces=None)
