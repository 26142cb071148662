"""What a live node does by itself: timers by the clock, actions in turns."""

from unit.runtime.ledger import fields_of
from unit.runtime.nodes import booted

from presage import Service, action, on, state, timer
from presage.runtime.step import Options


class Timing(Service):
    fired: list[str] = state(list)

    def start(self):
        self.arm("declared")
        self.arm("given", after=0.5)
        self.arm("plain")
        self.arm("beat")

    @timer(after=2)
    def declared(self):
        self.fired.append("declared")

    @timer(after=9)
    def given(self):
        self.fired.append("given")

    @timer
    def plain(self):
        self.fired.append("plain")

    @timer(periodic=True, after=3)
    def beat(self):
        self.fired.append("beat")
        self.arm("declared")

    @on(str)
    def take_back(self, name):
        self.disarm(name)


def fire_until(node, now, end):
    while (due := node.clock.next()) is not None and due <= end:
        now.time = max(now.time, due)
        node.fire(node.clock.pop())
    now.time = end


def test_a_timer_fires_after_the_delay_it_was_armed_with_or_configured_or_declared():
    node, _, now = booted(Timing(), options=Options(delays={"beat": 1.5, "given": 8}))
    fire_until(node, now, 3.4)
    assert fields_of(node)["fired"] == ["given", "plain", "beat", "beat"]
    # `beat` armed `declared` again at 1.5 and at 3.0, each time for 2 s more.
    fire_until(node, now, 4.9)
    assert fields_of(node)["fired"][4:] == ["beat"]


def test_a_timer_that_is_disarmed_does_not_fire():
    node, _, now = booted(Timing())
    node.deliver("peer", "plain")
    fire_until(node, now, 2.5)
    assert fields_of(node)["fired"] == ["given", "declared"]


def test_a_late_timer_is_counted_and_fires_all_the_same():
    node, _, now = booted(Timing())
    now.time = 60.0
    fired = 0
    while (key := node.clock.pop()) is not None and fired < 10:
        node.fire(key)
        fired += 1
    assert fields_of(node)["fired"] == ["given", "plain", "declared", "beat"]
    assert (node.clock.late, node.clock.fired) == (4, 4)


class Acting(Service):
    did: list[str] = state(list)
    most: int = 6

    @action(when=lambda self: len(self.did) < self.most)
    def first(self):
        self.did.append("first")

    @action(when=lambda self: len(self.did) < self.most, over=("x", "y", "z"))
    def second(self, value):
        self.did.append(value)

    @action
    def nothing(self):
        pass


def test_actions_take_turns_one_a_turn_and_rest_where_they_do_nothing():
    node, _, _ = booted(Acting(), options=Options(seed=3))
    turns = [node.turn() for _ in range(12)]
    did = fields_of(node)["did"]
    assert did[::2] == ["first"] * 3
    assert set(did[1::2]) <= {"x", "y", "z"}
    assert max(turns) == 1
    assert turns[-1] == 0


def test_what_is_drawn_follows_from_the_seed_and_the_life():
    def values(seed):
        node, _, _ = booted(Acting(most=40), options=Options(seed=seed))
        for _ in range(60):
            node.turn()
        return fields_of(node)["did"]

    assert values(1) == values(1)
    assert values(1) != values(2)
