"""One node as a pure function: what each stimulus does, and what can go wrong in it."""

from dataclasses import dataclass

import pytest

from presage._core import DOWN, FAILED, UP
from presage.errors import (
    BadCall,
    DeletedField,
    Nondeterminism,
    NotEnumerable,
    UndeclaredField,
    UnknownNode,
)
from presage.model.choice import Fork
from presage.model.service.declare import action, durable, ghost, on, state, timer
from presage.model.service.service import Service
from presage.model.world.system import Call, Faults, System


@dataclass(frozen=True)
class Add:
    n: int


@dataclass(frozen=True)
class Do:
    """Carries out what a test wants, by name."""

    what: str


@dataclass(frozen=True)
class Guarded:
    n: int


@dataclass(frozen=True)
class Items:
    items: list


class Node(Service):
    total: int = 0
    kept: int = durable(0)
    seen: list[int] = state(list)
    hops: int = ghost(0)

    def start(self):
        self.arm("tick")

    @on(Add)
    def add(self, message, source):
        self.hops += 1
        self.total += message.n
        self.seen.append(message.n)
        self.send(source, message)
        self.record(self.total)
        self.log(f"from {source}")

    @on(Do)
    def do(self, message):
        TRICKS[message.what](self)

    @on(Guarded, when=lambda self, message, source: message.n > self.total and source == "b")
    def guarded(self, message):
        self.total = message.n

    @on(Items)
    def items(self, message):
        message.items.append(self.choose([1, 2]))
        self.seen = list(message.items)

    @timer
    def tick(self):
        self.total += 1

    @timer(periodic=True)
    def beat(self, n):
        self.total += n

    @action(when=lambda self, n: n > self.total, over={3, 1, 2})
    def jump(self, n):
        self.total = n

    @action(when=lambda self: self.total == 2)
    def reset(self):
        self.total = 0

    def put(self, items):
        items.append(0)
        self.seen = items


def _swallow(self):
    try:
        self.send("nobody", 1)
    except Exception:
        self.total = 9


def _swallow_choice(self):
    try:
        self.total = self.choose([1, 2])
    except BaseException:
        self.total = 9


def _undeclared(self):
    self.totl = 1


def _delete(self):
    del self.total


def _reorder(self):
    del self.total
    self.total = 5


def _break(self):
    self.seen.append(99)
    self.send("b", 1)
    self.log("about to break")
    raise ValueError("no luck")


def _choose(self):
    self.total = self.choose([1, 2]) * 10 + self.choose(range(3))


def _alias(self):
    self.send("b", Items(self.seen))
    self.record(self.seen)
    self.seen.append(1)


def _fickle(self):
    CALLS.append(1)
    self.choose(range(1 + len(CALLS)))


CALLS = []
TRICKS = {
    "swallow": _swallow,
    "swallow choice": _swallow_choice,
    "undeclared": _undeclared,
    "delete": _delete,
    "reorder": _reorder,
    "break": _break,
    "choose": _choose,
    "alias": _alias,
    "fickle": _fickle,
    "exit": lambda self: exit(),
    "unknown timer": lambda self: self.arm("tock"),
    "timer arity": lambda self: self.arm("beat"),
    "timer list": lambda self: self.arm("beat", []),
    "too many": lambda self: [self.choose(range(100)) for _ in range(3)],
    "beat": lambda self: (self.arm("beat", 2), self.arm("beat", 2), self.disarm("tick")),
    "armed": lambda self: self.record((self.armed("tick"), self.armed("beat", 2), self.up)),
}


def automaton(**arguments):
    arguments = {"faults": Faults(crash=1, restart=1), **arguments}
    return System({"a": Node(), "b": Node()}, **arguments).automata[0]


def started(node):
    return node.step(node.initial(), ("start",)).values


def do(what, choices=()):
    node = automaton()
    return node.step(started(node), ("deliver", 1, Do(what)), choices)


def test_a_handler_gives_new_values_and_its_effects_in_order():
    node = automaton()
    outcome = node.step(started(node), ("deliver", 1, Add(4)))
    assert outcome.values == [(UP, 0, frozenset({("tick",)}), None), 4, 0, [4], 1]
    assert outcome.sends == [(1, Add(4))]
    assert (outcome.records, outcome.logs, outcome.failure) == ([4], ["from b"], None)


def test_a_step_leaves_the_values_it_was_given_as_they_were():
    node = automaton()
    values = started(node)
    node.step(values, ("deliver", 1, Add(4)))
    node.step(values, ("deliver", 1, Do("break")))
    assert values == started(node)


def test_a_message_and_a_record_are_what_they_were_when_they_were_given():
    outcome = do("alias")
    assert (outcome.sends, outcome.records) == ([(1, Items([]))], [[]])
    assert outcome.values[3] == [1]


def test_positions_of_fields_count_from_one_because_control_is_first():
    node = automaton()
    assert node.positions == {"total": 1, "kept": 2, "seen": 3, "hops": 4}
    assert (node.ghosts, node.durables) == (frozenset({4}), frozenset({2}))
    assert node.place(3) == "a: Node.seen"


def test_choices_beyond_those_supplied_are_a_fork_and_supplied_ones_are_taken():
    assert do("choose") == Fork(2)
    assert do("choose", (1,)) == Fork(3)
    outcome = do("choose", (1, 2))
    assert (outcome.values[1], outcome.choices) == (22, ((1, 2), (2, 3)))


def test_branches_are_all_runs_depth_first_each_on_fresh_values():
    node = automaton()
    outcomes = node.branches(lambda: started(node), ("deliver", 1, Do("choose")))
    assert [outcome.values[1] for outcome in outcomes] == [10, 11, 12, 20, 21, 22]
    seen = [outcome.values[3] for outcome in outcomes]
    assert len({id(each) for each in seen}) == 6


def test_a_mutable_part_of_a_message_is_fresh_in_every_branch():
    node = automaton()
    outcomes = node.branches(lambda: started(node), ("deliver", 1, Items([0])))
    assert [outcome.values[3] for outcome in outcomes] == [[0, 1], [0, 2]]


def test_a_search_starts_ghosts_from_their_defaults_and_a_replay_keeps_them():
    node = automaton()
    values = [*started(node)[:4], 7]
    assert node.branches(lambda: list(values), ("deliver", 1, Add(1)))[0].values[4] == 1
    assert node.step(values, ("deliver", 1, Add(1))).values[4] == 8


def test_an_exception_fails_the_node_with_the_fields_it_had_before():
    outcome = do("break")
    assert outcome.values == [(FAILED, 0, frozenset(), "ValueError in _break"), 0, 0, [], 0]
    assert (outcome.sends, outcome.records) == ([], [])
    assert outcome.logs == ["about to break"]
    assert outcome.failure.startswith("ValueError: no luck at ")
    assert "test_automaton.py:" in outcome.failure
    assert outcome.failure.endswith(" in _break")


def test_leaving_the_program_fails_the_node():
    assert do("exit").values[0][0] == FAILED


def test_a_message_nobody_handles_fails_the_node():
    node = automaton()
    outcome = node.step(started(node), ("deliver", 1, "what?"))
    assert outcome.values[0] == (FAILED, 0, frozenset(), "Unhandled str")
    assert outcome.failure == "Unhandled: `Node` has no handler for `str`, sent by b"


@pytest.mark.parametrize("status", [DOWN, FAILED])
def test_what_is_delivered_to_a_node_that_is_not_up_is_swallowed(status):
    node = automaton()
    values = started(node)
    values[0] = (status, 0, frozenset(), None)
    for stimulus in (("deliver", 1, Add(1)), ("deliver", 1, "what?"), ("deliver", 1, Guarded(0))):
        outcome = node.step(values, stimulus)
        assert (outcome.values, outcome.sends, outcome.failure) == (values, [], None)


def test_a_message_waits_while_its_guard_is_false():
    node = automaton()
    assert node.step(started(node), ("deliver", 1, Guarded(0))) is None
    assert node.branches(lambda: started(node), ("deliver", 0, Guarded(1))) is None
    assert node.step(started(node), ("deliver", 1, Guarded(1))).values[1] == 1
    assert node.deliverable(started(node), 1, Guarded(1))
    assert not node.deliverable(started(node), 1, Guarded(0))
    assert node.deliverable(started(node), 1, Add(0))


def test_a_one_shot_timer_is_disarmed_when_it_fires_and_a_periodic_one_is_not():
    node = automaton()
    values = node.step(started(node), ("timer", "tick")).values
    assert values[:2] == [(UP, 0, frozenset(), None), 1]
    values = do("beat").values
    assert values[0][2] == {("beat", 2)}
    values = node.step(values, ("timer", "beat", 2)).values
    assert (values[0][2], values[1]) == ({("beat", 2)}, 2)


def test_armed_and_up_can_be_asked():
    assert do("armed").records == [(True, False, True)]


def test_stimuli_are_timers_actions_the_next_call_and_faults_in_canonical_order():
    node = automaton(calls={"a": [Call("put", []), Call("put", [])]})
    values = started(node)
    assert node.stimuli(values) == [
        (("timer", "tick"), None),
        (("action", "jump", 1), None),
        (("action", "jump", 2), None),
        (("action", "jump", 3), None),
        (("call",), None),
        (("crash",), 0),
    ]
    values = started(node)
    values[0] = (UP, 2, frozenset({("beat", 2), ("tick",), ("beat", 1)}), None)
    values[1] = 2
    timers = sorted(values[0][2], key=node.codec.encode)
    assert [stimulus for stimulus, _ in node.stimuli(values)] == [
        *(("timer", *each) for each in timers),
        ("action", "jump", 3),
        ("action", "reset"),
        ("crash",),
    ]


def test_a_node_that_is_down_can_only_restart_and_a_failed_one_can_do_nothing():
    node, rigid = automaton(), automaton(faults=Faults())
    down, failed = started(node), started(node)
    down[0], failed[0] = (DOWN, 0, frozenset(), None), (FAILED, 0, frozenset(), "E in f")
    assert node.stimuli(down) == [(("restart",), 1)]
    assert node.stimuli(failed) == []
    assert rigid.stimuli(down) == []
    assert ("crash",) not in [stimulus for stimulus, _ in rigid.stimuli(started(rigid))]


def test_a_crash_loses_all_but_durable_fields_and_a_restart_starts_again():
    node = automaton()
    values = [(UP, 3, frozenset({("tick",), ("beat", 1)}), None), 5, 6, [7], 8]
    down = node.step(values, ("crash",)).values
    assert down == [(DOWN, 3, frozenset(), None), 0, 6, [], 0]
    up = node.step(down, ("restart",)).values
    assert up == [(UP, 3, frozenset({("tick",)}), None), 0, 6, [], 0]


def test_each_call_gets_fresh_arguments():
    node = automaton(calls={"a": [Call("put", [1])]})
    for _ in range(2):
        outcome = node.step(started(node), ("call",))
        assert outcome.values[0][1] == 1
        assert outcome.values[3] == [1, 0]


def test_a_field_taken_away_and_put_back_is_where_it_was():
    assert do("reorder").values[1:4] == [5, 0, []]


@pytest.mark.parametrize(
    ("what", "error", "text"),
    [
        ("undeclared", UndeclaredField, "sets `totl`, which `Node` does not declare"),
        ("delete", DeletedField, "deletes the field `Node.total`"),
        ("unknown timer", BadCall, "has no timer 'tock'; it has `tick`, `beat`"),
        ("timer arity", BadCall, "armed with 0 arguments"),
        ("timer list", BadCall, "mutable argument"),
        ("swallow", UnknownNode, "no node 'nobody'; the nodes are a, b"),
    ],
)
def test_misuse_is_an_error_that_names_the_line_even_if_the_handler_catches_it(what, error, text):
    with pytest.raises(error, match=text) as caught:
        do(what)
    assert "test_automaton.py:" in str(caught.value)


def test_a_handler_that_catches_everything_still_forks():
    assert do("swallow choice") == Fork(2)


def test_more_branches_than_one_could_explore_are_refused(monkeypatch):
    monkeypatch.setattr("presage.model.service.automaton.BRANCHES_MAX", 500)
    node = automaton()
    with pytest.raises(NotEnumerable, match="more than 500 results"):
        node.branches(lambda: started(node), ("deliver", 1, Do("too many")))


def test_a_handler_that_asks_for_other_choices_each_time_is_found_out():
    node = automaton()
    with pytest.raises(Nondeterminism):
        node.branches(lambda: started(node), ("deliver", 1, Do("fickle")))


def test_a_service_without_fields_or_handlers_can_step():
    class Empty(Service):
        pass

    node = System({"a": Empty()}).automata[0]
    assert node.branches(node.initial, ("start",))[0].values == node.initial()
    assert node.stimuli(node.initial()) == []
