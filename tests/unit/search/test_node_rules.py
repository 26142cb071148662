"""What one node does in the kernel: timers, guards, actions, ghosts; and when it rests."""

from dataclasses import dataclass

from unit.search.looking import counts, explored

from presage import (
    Call,
    Faults,
    Service,
    System,
    action,
    check,
    durable,
    eventually,
    ghost,
    no_deadlock,
    on,
    step,
    timer,
)


def checked(nodes, *properties, **arguments):
    system = System(nodes, properties=properties, **arguments)
    return check(system, keep_going=True, traces=None)


def field(name, node="a"):
    return lambda world: getattr(world[node], name)


# -- timers --------------------------------------------------------------------------------------


class Timers(Service):
    fired: tuple[object, ...] = ()

    @timer
    def once(self, label: str = "once") -> None:
        self.fired = (*self.fired, label)

    @timer(periodic=True)
    def beat(self) -> None:
        self.fired = (*self.fired, "beat")
        if len(self.fired) == 3:
            self.disarm("beat")


def test_a_timer_fires_once_for_each_time_it_was_armed():
    class Twice(Timers):
        def start(self):
            self.arm("once")
            self.arm("once")  # armed twice is armed once

    seen, report = explored({"a": Twice()}, field("fired"))
    assert seen == {(), ("once",)}
    assert counts(report) == (2, 2, 2)


def test_a_periodic_timer_fires_until_it_is_disarmed():
    class Beating(Timers):
        def start(self):
            self.arm("beat")

    seen, report = explored({"a": Beating()}, field("fired"))
    assert seen == {("beat",) * n for n in range(4)}
    assert counts(report) == (4, 4, 4)


def test_timers_with_different_arguments_are_different_timers():
    class Labelled(Timers):
        def start(self):
            self.arm("once", "x")
            self.arm("once", "y")
            self.arm("once", "z")
            self.disarm("once", "z")

    seen, _ = explored({"a": Labelled()}, field("fired"))
    assert seen == {(), ("x",), ("y",), ("x", "y"), ("y", "x")}


def test_a_timer_is_disarmed_before_its_handler_runs_and_may_be_armed_again():
    class Again(Service):
        armed_inside: tuple[bool, ...] = ()

        def start(self):
            self.arm("retry")

        @timer
        def retry(self):
            before = self.armed("retry")
            if len(self.armed_inside) < 2:
                self.arm("retry")
            self.armed_inside = (*self.armed_inside, before)

    seen, _ = explored({"a": Again()}, field("armed_inside"))
    assert seen == {(False,) * n for n in range(4)}


# -- guards and actions --------------------------------------------------------------------------


@dataclass(frozen=True)
class Work:
    n: int


class Guarded(Service):
    """Takes work in order, and only from `boss`."""

    done: tuple[int, ...] = ()

    @on(Work, when=lambda self, work, source: source == "boss" and work.n == len(self.done))
    def take(self, work):
        self.done = (*self.done, work.n)


class Boss(Service):
    def start(self):
        for n in (1, 0, 2, 4):
            self.send("a", Work(n))


def test_a_message_waits_until_its_guard_holds():
    seen, report = explored({"boss": Boss(), "a": Guarded()}, field("done"))
    assert seen == {(), (0,), (0, 1), (0, 1, 2)}
    assert counts(report) == (4, 4, 4)


def test_a_guard_sees_who_sent_the_message():
    assert explored({"b": Boss(), "a": Guarded()}, field("done"))[0] == {()}


def test_behind_a_message_that_is_not_let_in_an_ordered_channel_waits():
    seen, _ = explored({"boss": Boss(), "a": Guarded()}, field("done"), network="ordered")
    assert seen == {()}


def test_an_action_happens_once_for_each_value_that_its_guard_allows():
    class Acting(Service):
        picked: tuple[int, ...] = ()

        @action(
            when=lambda self, n: not {n, "clear"} & set(self.picked) and n != 2,
            over=lambda self: range(4),
        )
        def pick(self, n):
            self.picked = (*self.picked, n)

        @action(when=lambda self: self.picked == (0, 1, 3))
        def clear(self):
            self.picked = ("clear",)

    seen, _ = explored({"a": Acting()}, field("picked"))
    assert {each for each in seen if len(each) == 1} == {(0,), (1,), (3,), ("clear",)}
    assert len([each for each in seen if len(each) == 3]) == 6


def test_calls_happen_in_order_and_at_any_time():
    class Called(Service):
        notes: tuple[str, ...] = ()

        def note(self, text):
            self.notes = (*self.notes, text)

        @action(when=lambda self: "act" not in self.notes)
        def act(self):
            self.notes = (*self.notes, "act")

    seen, _ = explored(
        {"a": Called()}, field("notes"), calls={"a": [Call("note", 1), Call("note", 2)]}
    )
    assert {each for each in seen if len(each) == 3} == {
        ("act", 1, 2),
        (1, "act", 2),
        (1, 2, "act"),
    }


# -- ghosts --------------------------------------------------------------------------------------


def test_ghost_fields_do_not_split_states():
    class Counting(Service):
        on_: bool = False
        flips: int = ghost(0)

        @action
        def flip(self):
            self.on_ = not self.on_
            self.flips += 1

    seen, report = explored({"a": Counting()}, field("on_"))
    assert seen == {False, True}
    assert counts(report) == (2, 3, 2)


# -- step properties -----------------------------------------------------------------------------


class Term(Service):
    term: int = 0
    kept: int = durable(0)

    @action(when=lambda self: self.term < 3)
    def raise_term(self):
        self.term += 1

    @action(when=lambda self: self.term == 3)
    def reset(self):
        self.term = 0


class Other(Term):
    pass


def test_a_step_property_sees_a_node_before_and_after_each_step():
    pairs = set()

    @step
    def note(before, after):
        pairs.add((before.term, after.term))
        return after.term >= before.term

    report = checked({"a": Term()}, note)
    assert pairs >= {(0, 1), (1, 2), (2, 3), (3, 0)}
    [violation] = report.violations
    assert (violation.prop, violation.kind, violation.steps) == ("note", "safety", 4)
    assert violation.trace.steps[-1].label == "reset"


def test_a_step_property_may_concern_nodes_of_one_class():
    @step(of=Other, name="grows")
    def grows(before, after):
        return after.term >= before.term

    assert checked({"a": Term()}, grows).violations == ()
    [violation] = checked({"a": Term(), "b": Other()}, grows).violations
    assert {taken.node for taken in violation.trace.steps} == {"b"}


def test_crash_and_restart_are_no_steps_of_a_step_property():
    @step
    def never_back_to_zero(before, after):
        return (before.term, after.term) not in {(1, 0), (2, 0)}

    faults = Faults(crash=1, restart=1)
    assert checked({"a": Term()}, never_back_to_zero, faults=faults).violations == ()


# -- rest ----------------------------------------------------------------------------------------


class Resting(Service):
    n: int = 0

    def start(self):
        self.arm("beat")

    @timer(periodic=True)
    def beat(self):
        pass

    @action(when=lambda self: self.n < 2)
    def go(self):
        self.n += 1


@eventually
def finished(world):
    return world["a"].n == 2


@eventually
def unfinished(world):
    return world["a"].n < 2


def test_a_world_rests_where_nothing_but_faults_leads_to_another_state():
    faults = Faults(crash=1)
    report = checked({"a": Resting()}, unfinished, finished, faults=faults)
    found = {violation.prop: violation for violation in report.violations}
    # A beat changes nothing and a crash is a fault: after two steps it rests, however it goes on.
    assert found["unfinished"].steps == 2
    # Where it crashed it rests too; the field is back at its first value.
    assert [taken.kind for taken in found["finished"].trace.steps] == ["crash"]


def test_a_world_in_which_something_can_still_happen_does_not_rest():
    assert checked({"a": Resting()}, finished).violations == ()


def test_a_deadlock_is_a_rest_that_is_not_allowed():
    [violation] = checked({"a": Resting()}, no_deadlock).violations
    assert (violation.kind, violation.steps) == ("deadlock", 2)
    assert "nothing can happen any more" in violation.message
    allowed = no_deadlock(unless=lambda world: world["a"].n == 2)
    assert checked({"a": Resting()}, allowed).violations == ()
