"""What ran and what never did, which claims said nothing, and which fields grow without end."""

from dataclasses import dataclass

import pytest

from presage import (
    Call,
    Faults,
    Partition,
    Program,
    Service,
    System,
    action,
    always,
    check,
    disk,
    durable,
    eventually,
    forall,
    implies,
    on,
    step,
    timer,
    written,
)
from presage.mailbox import Mailbox, publish
from presage.search.coverage.report import Coverage, Ran
from presage.search.coverage.services import keeps_growing


@dataclass(frozen=True)
class Ping:
    n: int = 0


@dataclass(frozen=True)
class Pong:
    n: int = 0


@dataclass(frozen=True)
class Never:
    pass


class Node(Service):
    peer: str = ""
    most: int = 2
    count: int = 0
    pongs: int = 0

    def start(self):
        if self.peer:
            self.send(self.peer, Ping())

    @on(Ping)
    def ping(self, ping, source):
        self.send(source, Pong(ping.n))

    @on(Pong, when=lambda self, pong: self.count == 1)
    def pong(self, pong):
        self.pongs += 1

    @on(Never)
    def never(self, message):
        pass

    @timer
    def beat(self):
        pass

    @action(when=lambda self: self.count < self.most)
    def tick(self):
        self.count += 1

    @action(when=lambda self: self.count < 0)
    def tock(self):
        pass

    @action(over=lambda self: [])
    def pick(self, value):
        pass

    def put(self, value):
        self.count = value


def two(*properties, most=2, **settings):
    nodes = {"a": Node(peer="b", most=most), "b": Node(most=most)}
    return System(nodes, properties=properties, **settings)


def covered(system, **how):
    return check(system, traces=None, **how).coverage


def steps(coverage):
    return {each.name: each.steps for each in coverage.ran}


def why(coverage):
    return {each.name: each.why for each in coverage.never()}


def test_every_piece_of_code_is_counted_in_distinct_steps():
    # Three local states of b (count 0, 1, 2) meet the one Ping; a has count 0, 1, 2, and 1 pong.
    coverage = covered(two())
    assert steps(coverage) == {
        "Node.start": 2,
        "Node.ping": 3,
        "Node.pong": 1,
        "Node.never": 0,
        "Node.beat": 0,
        "Node.tick": 5,
        "Node.tock": 0,
        "Node.pick": 0,
    }


def test_what_never_ran_is_named_with_the_reason():
    coverage = covered(two())
    assert why(coverage) == {
        "Node.never": "no `Never` was ever sent",
        "Node.beat": "timer never armed",
        "Node.tock": "guard never true: 8 times false",
        "Node.pick": "`over` was always empty",
    }
    assert "`Node.beat` (timer never armed)" in coverage.never_ran()


def test_guards_are_counted_both_ways():
    guards = {each.name: (each.true, each.false) for each in covered(two()).guards}
    assert guards == {"Node.pong": (1, 2), "Node.tick": (5, 3), "Node.tock": (0, 8)}


def test_a_guard_that_is_never_true_is_the_reason():
    class Deaf(Node):
        @on(Pong, when=lambda self, pong: False)
        def pong(self, pong):
            pass

    coverage = covered(System({"a": Deaf(peer="b"), "b": Deaf()}))
    assert why(coverage)["Deaf.pong"] == "guard never true: 3 times false"


def test_a_method_that_another_class_runs_is_not_named():
    class Loud(Node):
        def start(self):
            self.arm("beat")

    coverage = covered(System({"a": Node(peer="b"), "b": Loud()}))
    assert "Node.beat" not in why(coverage)
    assert steps(coverage)["Loud.start"] == 1


def test_one_method_for_several_messages_is_counted_for_each():
    class Both(Service):
        def start(self):
            self.send("a", Ping())

        @on(Ping)
        @on(Pong)
        def either(self, message):
            pass

    coverage = covered(System({"a": Both()}))
    assert steps(coverage) == {"Both.start": 1, "Both.either(Pong)": 0, "Both.either(Ping)": 1}


def test_calls_are_counted_and_one_whose_turn_never_came_is_named():
    class Stops(Service):
        def fail(self):
            raise ValueError

        def rest(self):
            pass

    calls = {"a": [Call("fail"), Call("rest")]}
    coverage = covered(System({"a": Stops()}, calls=calls), keep_going=True)
    assert steps(coverage) == {"Stops.fail": 1, "Stops.rest": 0}
    assert why(coverage) == {"Stops.rest": "its turn in the workload never came"}


def test_the_guard_of_a_call_is_counted_too():
    calls = {"a": [Call("put", 1), Call("put", 2, when=lambda node: node.count > 5)]}
    coverage = covered(System({"a": Node(most=0)}, calls=calls))
    assert steps(coverage)["Node.put"] == 1
    [guard] = [each for each in coverage.guards if each.name == "Node.put"]
    assert (guard.true, guard.false) == (0, 1)


def test_a_disk_that_is_never_written_is_named():
    class Saves(Service):
        disk: object = disk()

        @written
        def stored(self, key):
            pass

    assert why(covered(System({"a": Saves()}))) == {"Saves.stored": "nothing was ever written"}


def test_faults_are_counted_and_a_start_that_a_fault_brings_counts():
    class Starts(Service):
        lives: int = durable(0)

        def start(self):
            self.lives += 1

    coverage = covered(System({"a": Starts()}, faults=Faults(crash=2, restart=1, drop=1)))
    faults = dict(coverage.faults)
    assert faults["crash"] > 0 and faults["restart"] > 0 and faults["drop"] == 0
    assert steps(coverage)["Starts.start"] > 1
    assert "faults that never happened: drop" in coverage.lines()


def test_a_message_that_no_node_up_could_get_is_told_so():
    class Sends(Service):
        def start(self):
            self.send("b", Ping())

    class Gets(Service):
        @on(Ping)
        def ping(self, ping):
            pass

    system = System(
        {"a": Sends(), "b": Gets()},
        faults=Faults(partition=1, partitions=[Partition({"x": ["a"], "y": ["b"]})]),
    )
    assert steps(covered(system)) == {"Sends.start": 1, "Gets.ping": 1}
    coverage = covered(system, depth=1)
    assert why(coverage) == {"Gets.ping": "sent, and never delivered to a node that is up"}
    assert coverage.lines()[1].startswith("never ran so far: `Gets.ping`")


@pytest.mark.parametrize("search", ["bfs", "dfs", "walk", "tree"])
def test_every_search_has_the_same_coverage_of_what_it_exhausts(search):
    coverage = covered(two(), search=search)
    ran = {name: count > 0 for name, count in steps(coverage).items()}
    assert ran == {name: count > 0 for name, count in steps(covered(two())).items()}
    assert coverage.partial == (search == "walk")


# -- claims ----------------------------------------------------------------------------------


def vacuous(*properties, **how):
    return dict(covered(two(*properties), **how).vacuous)


def test_a_property_that_read_nothing_that_changed_cannot_fail():
    same = always(lambda world: world["a"].most == world["b"].most, name="same")
    changes = always(lambda world: world["a"].count >= 0, name="changes")
    nothing = always(lambda world: True, name="nothing")
    assert vacuous(same, changes, nothing) == {
        "same": "`same` read nothing that ever changed: it cannot fail here",
        "nothing": "`nothing` read nothing that ever changed: it cannot fail here",
    }


def test_an_eventually_is_named_only_where_it_was_asked_everywhere():
    same = eventually(lambda world: world["a"].most == 2, name="same")
    ends = eventually(lambda world: world["a"].count == 2, name="ends")
    assert list(vacuous(same, ends)) == ["same"]
    assert vacuous(same, ends, liveness="rest") == {}


def test_a_step_property_that_no_step_was_asked_of_is_named():
    class Other(Service):
        pass

    grows = step(lambda before, after: before.count <= after.count, name="grows")
    of_none = step(lambda before, after: False, of=Other, name="of_none")
    told = vacuous(grows, of_none)
    assert told == {"of_none": "`of_none` was asked of no step: it cannot fail here"}


def test_an_implication_whose_left_side_was_never_true_is_named():
    told = vacuous(
        always(lambda world: not world["a"].count > 5 or world["b"].count > 5, name="plain"),
        always(lambda world: implies(world["a"].count > 5, lambda: False), name="word"),
        always(lambda world: not world["a"].count > 1 or world["b"].count >= 0, name="met"),
        always(lambda world: implies(world["a"].count > 1, True), name="word_met"),
        always(lambda world: all(e.message.n for e in world.messages(Never)), name="none"),
        always(lambda world: forall(world.nodes, lambda n: not n.count > 5 or False), name="many"),
    )
    begin = "holds vacuously: its left side ("
    assert told["plain"] == f"`plain` {begin}`world['a'].count > 5`) was never true"
    assert told["word"].startswith(f"`word` {begin}") and "test_coverage.py:" in told["word"]
    assert set(told) == {"plain", "word", "none", "many"}


def test_a_property_that_is_violated_is_not_vacuous():
    wrong = always(lambda world: world["a"].most == 3, name="wrong")
    assert vacuous(wrong) == {}


def test_a_search_that_a_limit_ended_says_so_far():
    claim = always(lambda world: not world["a"].count > 5 or False, name="claim")
    same = always(lambda world: world["a"].most == 2, name="same")
    told = vacuous(claim, same, depth=3)
    assert told["claim"].endswith("was not true so far")
    assert told["same"].endswith("it cannot fail so far")


# -- growth ----------------------------------------------------------------------------------


def test_a_search_that_looked_at_no_step_does_not_say_that_nodes_were_down():
    class Idle(Service):
        n: int = 0

        @action
        def go(self):
            self.n += 1

    shown = str(check(System({"a": Idle()}), depth=1, traces=None))
    assert "`Idle.go` (no state was expanded in which a node that has it is up)" in shown


@pytest.mark.parametrize("how", [{"depth": 20}, {"search": "dfs", "states": 300}])
def test_a_field_that_grew_all_the_time_is_asked_about(how):
    coverage = covered(two(most=100_000), **how)
    [first, *_] = coverage.growing
    assert first.field in ("a.count", "b.count") and first.reached >= 19
    assert str(first) == f"unbounded? `{first.field}` reached {first.reached:,}"
    assert str(first) in coverage.lines()


def test_a_collection_is_told_by_its_length():
    class Logs(Service):
        kept: tuple[int, ...] = ()

        @action
        def add(self):
            self.kept = (*self.kept, 1)

    [growing] = covered(System({"a": Logs()}), depth=12).growing
    assert str(growing) == "unbounded? `a.kept` reached 11 entries"


def test_what_stops_growing_or_is_exhausted_is_not_asked_about():
    assert covered(two(most=3), depth=9).growing == []
    assert covered(two(most=30)).growing == []


def test_growing_is_from_the_beginning_to_the_end_without_long_breaks():
    every = list(range(16))
    assert keeps_growing(16, every)
    assert keeps_growing(16, every[::2])  # a round of two messages
    assert not keeps_growing(16, every[::4])
    assert not keeps_growing(16, every[:12])
    assert not keeps_growing(16, every[8:])
    assert not keeps_growing(6, every[:6])


# -- processes -------------------------------------------------------------------------------


def test_processes_are_counted_and_one_that_never_ends_is_named():
    def main():
        Mailbox.by_name("box").put(1)

    def server():
        box = Mailbox.by_name("box")
        while True:
            box.get()

    coverage = covered(Program({"main": main, "server": server}), keep_going=True)
    assert all(count > 0 for count in steps(coverage).values())
    assert coverage.unended == ["server"]
    assert "`server` never came to its end" in coverage.lines()


def test_a_claim_about_what_processes_publish_can_be_vacuous_too():
    def main():
        publish(n=1)

    large = always(lambda view: implies((view["main"].n or 0) > 5, False), name="large")
    assert (
        "holds vacuously"
        in dict(covered(Program({"main": main}, properties=[large])).vacuous)["large"]
    )


# -- text ------------------------------------------------------------------------------------


def test_long_lists_are_cut_in_a_line_and_whole_in_json():
    coverage = Coverage(ran=[Ran(f"Node.h{n}", "handler", "", 0) for n in range(12)])
    assert coverage.never_ran().endswith("`Node.h7` and 4 more")
    assert len(coverage.to_json()["ran"]) == 12
    assert coverage.counts() == "0 of 12 ran"
    assert Coverage().lines() == []
