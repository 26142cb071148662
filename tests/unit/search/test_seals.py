"""Sealed systems in every search, on live code, and in what is said of them."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from presage import (
    Delay,
    Faults,
    Program,
    Seal,
    Service,
    System,
    Timed,
    World,
    action,
    always,
    check,
    eventually,
    on,
    replay,
    timer,
)
from presage.cli.target.load import load
from presage.debug.explore import Explorer, texts
from presage.errors import BadSeal, BadSystem, BadTrace, NotEnabled, NotSymmetric, PresageError
from presage.execution.frames import frames
from presage.execution.sandbox import Sandbox
from presage.search.checkpoint.code_digest import Definition
from presage.search.doctor import compare, transcribe
from presage.search.once import run_once
from presage.search.settings import Settings
from presage.systems import two_phase_commit
from presage.trace.codec import read
from presage.ui import doctor, once, violation
from presage.ui.page.data import page_data
from presage.ui.page.page import render
from presage.ui.theme import Theme

PLAIN = Theme(colour=False, width=200)
ROOT = Path(__file__).parents[3]
SEARCHES = {
    "bfs": {},
    "dfs": {"search": "dfs"},
    "delay": {"search": "delay", "delay": Delay("rr")},
    "cycles": {"search": "cycles"},
    "walk": {"search": "walk", "walks": 60},
    "hunt": {"search": "hunt", "walks": 60},
    "tree": {"search": "tree", "reduction": "none"},
}


@dataclass(frozen=True)
class Write:
    value: int


@dataclass(frozen=True)
class Other:
    pass


class Writer(Service):
    left: int = 1

    @action(when=lambda self: self.left)
    def write(self):
        self.left -= 1
        for replica in ("one", "two"):
            self.send(replica, Write(1))


class Replica(Service):
    value: int = 0
    done: bool = False
    ticks: int = 0

    def start(self):
        self.arm("tick")

    @on(Write)
    def store(self, message):
        self.value = message.value

    @on(Other)
    def ignore(self, message):
        pass

    @action(when=lambda self: self.value and not self.done)
    def confirm(self):
        self.done = True

    @timer
    def tick(self):
        self.ticks += 1


@always
def atomic(world):
    one, two = world["one"], world["two"]
    return not one.done or bool(two.value) or not two.up


@eventually
def settles(world):
    return world["one"].done


def writing(world):
    return bool(world.messages(Write))


def system(*seals, properties=(atomic, settles), **more):
    nodes = {"writer": Writer(), "one": Replica(), "two": Replica()}
    return System(nodes, properties=properties, seals=seals, **more)


BROADCAST = Seal(when=writing, only=Write)
STUCK = Seal(when=lambda world: world["writer"].left == 0, only="writer", name="spent")


@pytest.mark.parametrize("how", SEARCHES.values(), ids=SEARCHES)
def test_what_breaks_without_the_seal_holds_under_it_in_every_search(how):
    assert [found.prop for found in check(system(), traces=None, **how).violations] == ["atomic"]
    report = check(system(BROADCAST), traces=None, **how)
    assert (report.violations, report.properties["atomic"]) == ((), "held")
    assert report.assumes == ("while writing: only Write",)


@pytest.mark.parametrize("how", SEARCHES.values(), ids=SEARCHES)
def test_a_seal_that_is_never_lifted_is_an_error_with_the_steps_in_every_search(how):
    with pytest.raises(BadSeal) as refused:
        check(system(STUCK), traces=None, **how)
    assert "`while spent: only writer` is never lifted" in str(refused.value)
    assert "writer action write" in str(refused.value)


def test_no_fault_happens_in_a_sealed_state():
    faults = Faults(drop=1, crash=1)
    free = check(system(faults=faults, properties=()), traces=None)
    report = check(system(BROADCAST, faults=faults, properties=()), traces=None)
    assert free.faults["drop"] > 0
    assert report.faults["drop"] == 0 and 0 < report.faults["crash"] < free.faults["crash"]
    assert report.exhausted


def test_what_only_names_is_let_happen_and_nothing_else():
    seals = {
        "mail": {"deliver"},
        Write: {"deliver"},
        "timer": {"timer"},
        "one": {"deliver", "timer"},
        ("timer", "writer"): {"timer", "action"},
    }
    for only, kinds in seals.items():
        world = World.initial(
            System(
                {"writer": Writer(left=2), "one": Replica(), "two": Replica()},
                seals=[Seal(when=writing, only=only)],
            )
        )
        world.apply(world.enabled()[-1])  # the writer writes
        enabled = world.enabled()
        assert {event.kind for event in enabled} == kinds, only
        if only == "one":
            assert {event.node for event in enabled} == {"one"}


def test_the_first_event_of_several_is_the_only_one():
    report = check(system(Seal(when=writing, only="mail", first=True)), traces=None)
    world = World.initial(system(Seal(when=writing, only=("timer", "mail"), first=True)))
    world.apply(next(event for event in world.enabled() if event.kind == "action"))
    [only] = world.enabled()
    assert (only.kind, only.node) == ("deliver", "one")
    assert report.unique < check(system(BROADCAST), traces=None).unique


def test_of_several_seals_the_first_that_holds_is_in_force():
    first = Seal(when=writing, only="timer", name="first")
    world = World.initial(system(first, BROADCAST))
    assert world.seal() is None
    world.apply(next(event for event in world.enabled() if event.kind == "action"))
    assert world.seal() is first
    assert {event.kind for event in world.enabled()} == {"timer"}


def test_a_world_refuses_what_is_sealed_off():
    world = World.initial(system(BROADCAST))
    tick, write = (
        next(event for event in world.enabled() if event.kind == kind)
        for kind in ("timer", "action")
    )
    world.apply(write)
    with pytest.raises(NotEnabled, match="sealed .while writing: only Write"):
        world.apply(tick)
    first = World.initial(system(Seal(when=writing, only=Write, first=True)))
    first.apply(write)
    with pytest.raises(NotEnabled, match="another event is the first"):
        first.apply(next(event for event in world.enabled() if event.node == "two"))


def test_a_world_that_is_sealed_for_ever_is_no_rest():
    world = World.initial(system(STUCK))
    world.apply(next(event for event in world.enabled() if event.kind == "action"))
    for question in (world.enabled, world.at_rest):
        with pytest.raises(BadSeal, match="never lifted"):
            question()


def test_a_trace_of_a_sealed_system_replays_and_one_of_the_free_system_does_not():
    claim = always(lambda world: world["two"].ticks < 1, name="still")
    [found] = check(system(BROADCAST, properties=[claim]), traces=None, search="dfs").violations
    assert replay(system(BROADCAST, properties=[claim]), found.trace).message
    [torn] = check(system(), traces=None).violations
    with pytest.raises(BadTrace, match="not possible any more"):
        replay(system(BROADCAST), torn.trace)


def test_clocks_wait_while_a_state_is_sealed():
    timed = check(system(BROADCAST, clock=Timed()), traces=None)
    assert timed.exhausted and not timed.violations
    assert check(system(clock=Timed()), traces=None).violations


def test_fairness_owes_nothing_to_what_is_sealed_off():
    """The ping goes on for ever; the timer that would end it is never possible meanwhile."""

    class Ping(Service):
        on_way: bool = True
        over: bool = False

        def start(self):
            self.arm("stop")
            if self.name == "a":
                self.send("b", 1)

        @on(int)
        def back(self, message, source):
            if not self.over:
                self.send(source, 1)

        @timer
        def stop(self):
            self.over = True

    def pinging(world):
        return bool(world.messages(int))

    over = eventually(lambda world: any(node.over for node in world.nodes), name="over")
    nodes = {"a": Ping(), "b": Ping()}
    assert not check(System(nodes, properties=[over]), traces=None).violations
    sealed = System(nodes, properties=[over], seals=[Seal(when=pinging, only="mail")])
    for search in ("bfs", "cycles"):
        [found] = check(sealed, traces=None, search=search).violations
        assert (found.prop, found.fairness) == ("over", "weak")
        assert replay(sealed, found.trace).message


def test_checkpoints_belong_to_their_seals(tmp_path):
    folder = str(tmp_path / "kept")
    how = {"traces": None, "checkpoint": folder, "keep_going": True}
    cut = check(system(BROADCAST), states=6, **how)
    assert cut.is_partial
    whole = check(system(BROADCAST), resume=True, **how)
    plain = check(system(BROADCAST), traces=None)
    assert (whole.unique, whole.exhausted) == (plain.unique, True)
    assert not any("never sealed" in text for text in whole.coverage.warnings())
    with pytest.raises(PresageError, match="belongs to another version"):
        check(system(Seal(when=writing, only="mail")), resume=True, **how)
    other = Seal(when=lambda world: bool(world.messages(Write)), only=Write, name="writing")
    digests = {Definition(system(*seals)).digest for seals in ((), (BROADCAST,), (other,))}
    assert len(digests) == 3


def test_reports_say_what_is_assumed_and_what_was_never_sealed():
    never = Seal(when=lambda world: world["one"].value == 7, only="mail", name="seven")
    report = check(system(BROADCAST, never), traces=None)
    text = str(report)
    assert "2 properties held, exhaustively, under 2 assumptions" in text
    assert "assumes: while writing: only Write" in text
    assert "never sealed: the condition of seal `seven` was not true here" in text
    assert "seal `writing`" not in text
    assert report.to_json()["assumes"] == ["while writing: only Write", "while seven: only mail"]
    assert check(system(), traces=None).to_json()["assumes"] == []


def test_events_that_are_always_sealed_off_count_as_never_run():
    busy = Seal(when=lambda world: not world["one"].done, only=("mail", "action"), name="busy")
    report = check(system(busy, properties=()), traces=None)
    assert "`Replica.tick`" not in report.coverage.never_ran()
    early = check(system(busy, properties=()), traces=None, depth=3)
    assert "`Replica.tick` (armed, and never fired)" in early.coverage.never_ran()


def test_one_run_the_doctor_and_the_explorer_obey():
    sealed = system(BROADCAST)
    for seed in range(12):
        done = run_once(sealed, Settings(seed=seed), steps=20)
        assert not done.is_broken
        assert replay(sealed, done.trace).message is not None
    assert done.to_json()["assumes"] == ["while writing: only Write"]
    shown = once.render(done, "presage check x", "x.json", PLAIN)
    assert "assumes: while writing: only Write" in shown
    examined = compare({1: transcribe(sealed), 2: transcribe(sealed)})
    assert (examined.findings, examined.assumes) == ((), ("while writing: only Write",))
    assert "assumes: while writing: only Write" in doctor.render(examined, "x", PLAIN)
    with Sandbox() as sandbox:
        explorer = Explorer(sealed, sandbox)
        explorer.take(texts(explorer.options).index("writer action write"))
        assert [option.split()[1] for option in texts(explorer.options)] == ["deliver"] * 2


def test_traces_and_their_texts_say_what_is_assumed(tmp_path):
    claim = always(lambda world: world["two"].ticks < 1, name="still")
    sealed = system(BROADCAST, properties=[claim])
    [found] = check(sealed, traces=tmp_path).violations
    assert ("assumes", "while writing: only Write") in read(found.trace_path).remarks
    assert "   = assumes: while writing: only Write" in violation.render(found, PLAIN)
    page = render(page_data((found.trace, frames(sealed, found.trace))))
    assert "<b>assumes</b> while writing: only Write" in page


def test_a_condition_that_raises_or_does_not_answer_is_named():
    def raises(world):
        return world["one"].missing

    with pytest.raises(BadSeal, match="condition of seal `raises` raised AttributeError"):
        check(system(Seal(when=raises, only="mail")), traces=None)
    with pytest.raises(BadSeal, match="condition of seal `raises` raised AttributeError"):
        World.initial(system(Seal(when=raises, only="mail"))).enabled()
    with pytest.raises(PresageError, match="`count` returned a `int`"):
        check(system(Seal(when=lambda world: 3, only="mail", name="count")), traces=None)


def test_what_would_not_be_sound_is_refused():
    for reduction in ("sleep", "dpor", "sdpor", "odpor"):
        search = "bfs" if reduction == "sleep" else "tree"
        with pytest.raises(BadSystem, match=f"the reduction `{reduction}` for a system with seals"):
            check(system(BROADCAST), search=search, reduction=reduction)
    with pytest.raises(BadSystem, match="lost or repeated"):
        check(system(BROADCAST, faults=Faults(drop=1)), search="tree", reduction="none")
    twins = {name: Replica() for name in ("a", "b")}
    alike = System(twins, symmetric=[["a", "b"]], seals=[BROADCAST])
    with pytest.raises(NotSymmetric, match="symmetry for a system with seals"):
        check(alike, symmetry=True)
    with pytest.raises(BadSystem, match="`Program` has no argument `seals`"):
        Program({"a": print}, seals=[BROADCAST])


@pytest.mark.parametrize("sealed", [True, False])
def test_the_example_is_right_only_under_its_seal(sealed):
    target = str(ROOT / "examples" / "services" / "broadcast.py")
    report = check(load(target, {"sealed": sealed}).system, traces=None)
    assert bool(report.violations) is not sealed
    assert len(report.assumes) == sealed


def test_a_condition_is_asked_once_for_all_states_in_which_it_reads_the_same():
    large = two_phase_commit.system(rms=5)
    plain = check(large, traces=None)
    undecided = Seal(
        when=lambda world: world["tm"].decision == "none", only=("mail", "action"), name="undecided"
    )
    large.seals = (undecided,)
    sealed = check(large, traces=None)
    assert (sealed.unique, sealed.generated) == (plain.unique, plain.generated)
    assert sealed.property_runs - plain.property_runs == 3  # one for each decision
