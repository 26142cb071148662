"""What services say about running live: delays, neighbours, predictions, what checkpoints hold."""

import pytest

from presage import (
    Call,
    Faults,
    Lapse,
    Moment,
    PredictedViolation,
    Service,
    System,
    Timed,
    always,
    check,
    durable,
    ghost,
    on,
    on_prediction,
    state,
    timer,
)
from presage._core import Codec
from presage.errors import BadCall, BadHandler, BadSystem, DuplicateHandler, UnknownNode
from presage.model.choice import Chooser
from presage.model.service.stream import LOST


class Cell(Service):
    seen: tuple = ()
    best: str | None = None
    file: dict = state(dict, checkpoint=False)
    count: int = ghost(0)
    term: int = durable(0)

    def start(self):
        self.arm("slow")
        self.arm("fast", after=1)
        self.arm("free")

    @timer(after=5)
    def slow(self):
        self.seen += ("slow",)

    @timer(after=7, periodic=True)
    def fast(self):
        self.seen += ("fast",)
        self.disarm("fast")

    @timer
    def free(self):
        self.seen += ("free",)

    def neighbours(self):
        return [self.best, self.presage.name, "b", "b"] if self.best else {"c", "b"}

    @on_prediction
    def avoid(self, prediction):
        self.seen += (prediction.property, prediction.steps, *prediction.events)
        self.send("b", "careful")
        self.arm("slow", after=2)

    @on(str)
    def hear(self, text):
        self.file[text] = self.count = self.term = 1


class Plain(Service):
    best: str = "b"


def three(**more) -> System:
    return System({"a": Cell(), "b": Cell(), "c": Plain()}, **more)


def test_a_timer_has_the_delay_it_is_armed_with_or_else_the_one_declared():
    [timed] = three(clock=Timed()).automata[:1]
    [record] = timed.step(timed.initial(), ("start",)).records
    assert record.delays == {(("slow",), 5000), (("fast",), 1000), (("free",), None)}


def test_declared_delays_order_timers_in_a_timed_system_only():
    @always
    def fast_first(world):
        return world["a"].seen[:1] != ("slow",)

    assert check(three(clock=Timed(), properties=[fast_first])).exhausted
    assert check(three(properties=[fast_first])).violations


def test_an_untimed_search_does_not_see_declared_delays():
    class Bare(Cell):
        @timer
        def slow(self):
            self.seen += ("slow",)

    counted = [check(System({"a": cell(), "b": Cell(), "c": Plain()})) for cell in (Cell, Bare)]
    assert counted[0].unique == counted[1].unique > 10


@pytest.mark.parametrize("after", [-1, "5", True, float("nan"), float("inf")])
def test_a_delay_that_is_no_time_is_refused(after):
    with pytest.raises(BadSystem, match="not an amount of time"):
        timer(after=after)


def test_a_period_of_nothing_is_refused():
    with pytest.raises(BadSystem, match="without end"):
        timer(after=0, periodic=True)
    assert timer(after=0)


def test_neighbours_come_in_the_order_of_importance_without_the_node_itself():
    a, b, c = three().automata
    values = a.initial()
    assert a.neighbours(list(values)) == ("b", "c")  # of a set: sorted
    values[a.positions["best"]] = "c"
    assert b.neighbours(list(values)) == ("c",)
    assert a.neighbours(list(values)) == ("c", "b")
    assert c.neighbours(c.initial()) is None


@pytest.mark.parametrize(
    ("named", "error"), [("b", BadCall), (None, BadCall), (["x"], UnknownNode)]
)
def test_neighbours_that_are_no_names_are_refused(named, error):
    class Wrong(Service):
        def neighbours(self):
            return named

    [node] = System({"b": Wrong()}).automata
    with pytest.raises(error, match="neighbours"):
        node.neighbours(node.initial())


def test_neighbours_only_read():
    class Sends(Service):
        def neighbours(self):
            self.send("a", "x")
            return []

    [node] = System({"a": Sends()}).automata
    with pytest.raises(BadCall, match="guard"):
        node.neighbours(node.initial())


def test_neighbours_with_parameters_are_refused_and_a_field_of_that_name_is_a_field():
    with pytest.raises(BadHandler, match="without arguments"):

        class Wrong(Service):
            def neighbours(self, of):
                return []

    class Field(Service):
        neighbours: tuple = ()

    [node] = System({"a": Field()}).automata
    assert node.neighbours(node.initial()) is None


def test_a_prediction_is_handled_as_a_step():
    a, _, c = three().automata
    told = PredictedViolation("agreement", 3, (("timer", "slow"), ("message", "b", "x")))
    outcome = a.step(a.initial(), ("prediction", told))
    assert outcome.values[a.positions["seen"]] == ("agreement", 3, *told.events)
    assert outcome.sends == [(1, "careful")]
    assert outcome.delays == {("slow",): 2000}
    assert c.step(c.initial(), ("prediction", told)) is None
    assert a.where(("prediction", told), a.initial()).endswith("`Cell.avoid`")


def test_a_node_that_is_down_or_slow_hears_no_prediction():
    a = three(faults=Faults(crash=1, slow=1)).automata[0]
    for fault in ("crash", "slow"):
        values = a.step(a.initial(), (fault,)).values
        assert a.step(values, ("prediction", PredictedViolation("p", 1))) is None


def test_own_events_are_plain_data():
    a = three(calls={"a": [Call("neighbours")]}).automata[0]
    events = [
        a.own_event(stimulus, a.initial())
        for stimulus in [
            ("deliver", 1, "x"),
            ("deliver", 2, LOST),
            ("timer", "slow"),
            ("silent",),
            ("reset",),
            ("call",),
            ("call", "hear", "x"),
        ]
    ]
    assert events == [
        ("message", "b", "x"),
        ("broken", "c"),
        ("timer", "slow"),
        ("silent_reset",),
        ("reset",),
        ("call", "neighbours"),
        ("call", "hear"),
    ]


def test_one_method_is_told_of_predictions_with_one_argument():
    with pytest.raises(BadHandler, match="PredictedViolation"):

        class None_(Service):
            @on_prediction
            def avoid(self):
                pass

    with pytest.raises(DuplicateHandler, match="@on_prediction"):

        class Two(Cell):
            @on_prediction()
            def also(self, prediction):
                pass

    class Other(Cell):
        avoid = None

    assert System({"a": Other()}).automata[0].shape.prediction is None


def test_a_field_says_that_checkpoints_leave_it_out_and_is_state_all_the_same():
    a = three().automata[0]
    values = a.step(a.initial(), ("deliver", 1, "x")).values
    at = a.positions
    assert (values[at["file"]], values[at["count"]], values[at["term"]]) == ({"x": 1}, 1, 1)
    assert a.omitted == {at["file"]}
    assert at["count"] in a.ghosts


def test_what_checkpoints_leave_out_can_be_made_anew_and_is_not_durable():
    with pytest.raises(BadSystem, match="neither a factory nor a default"):
        state(checkpoint=False)
    with pytest.raises(BadSystem, match="durable"):
        durable(0, checkpoint=False)

    class Given(Cell):
        file = state(default=None, checkpoint=False)
        seen = (1,)

    [node] = System({"a": Given(file="first", seen=())}).automata
    assert node.omitted == {node.positions["file"]}

    class Plain(Given):
        file = "other"

    assert System({"a": Plain()}).automata[0].omitted == node.omitted


class Reading(Chooser):
    """A chooser with a clock, as a live node has it."""

    def __init__(self, number):
        super().__init__((), extends=False)
        self.number = number

    def now(self):
        return self.number


class Watch(Service):
    since: Moment | None = None
    known: dict = state(dict)
    answers: tuple = ()

    @on(Moment)
    def hear(self, sent):
        now = self.now()
        self.known["x"] = self.since = now
        waited = now - sent
        self.answers = (
            now > sent,
            now <= sent,
            now.before(sent + 3),
            waited.longer(2),
            waited < Lapse(0.5),
            waited >= 1.5,
        )
        self.send("b", now)


def live_step(now):
    node = System({"a": Watch(), "b": Watch()}).live()[0]
    frozen = node.codec.encode(node.initial())
    fresh = node.codec.decode
    chooser = Reading(now)
    values = fresh(frozen)
    return node, node._answer(values, ("deliver", 1, Moment(8.5)), chooser, lambda: fresh(frozen))


def test_live_comparisons_are_answered_by_the_clock():
    _, outcome = live_step(10)
    assert outcome.values[3] == (True, False, True, False, False, True)
    assert outcome.values[1].number == 10
    assert outcome.sends[0][1].number == 10


def test_what_the_clock_answered_replays_as_choices_of_a_search():
    _, outcome = live_step(10)
    [searched, _] = System({"a": Watch(), "b": Watch()}).automata
    choices = [k for k, _ in outcome.choices]
    again = searched.step(searched.initial(), ("deliver", 1, Moment()), choices)
    assert again.values[3] == outcome.values[3]


def test_only_a_live_codec_keeps_the_number_of_a_moment():
    node, outcome = live_step(10)
    system = System({"a": Watch(), "b": Watch()})
    again = node.codec.decode(node.codec.encode(outcome.values))
    assert (again[1].number, again[2]["x"].number) == (10, 10)
    searched = system.codec.decode(system.codec.encode(again))
    assert (searched[1].number, searched[2]["x"].number) == (None, None)
    _, later = live_step(11)
    later.values[3] = outcome.values[3]
    assert system.codec.encode(outcome.values) == system.codec.encode(later.values)
    assert node.codec.encode(outcome.values) != node.codec.encode(later.values)


def test_what_a_clock_said_live_is_a_choice_again_in_a_search():
    node, outcome = live_step(10)
    [searched, _] = System({"a": Watch(), "b": Watch()}).automata
    fresh = searched.codec.encode(outcome.values)
    every = searched.branches(lambda: searched.codec.decode(fresh), ("deliver", 1, Moment(8.5)))
    assert len(every) == 2**6


def test_times_of_a_live_node_are_compared_in_handlers_only_and_shown_with_their_number():
    with pytest.raises(BadCall, match="outside a handler"):
        _ = Moment(1) < Moment(2)
    assert repr((Moment(1.5), Moment(), Lapse(2), Lapse())) == (
        "(<moment 1.500>, <some moment>, <2 s>, <some time>)"
    )
    assert Codec.immutable(Codec(live=True).encode(Moment(2)))
    assert Moment(1) == Moment(2)
    assert (Moment(1) - 1).number == 0
    assert (Moment() + 1).number is None
