"""What steering does: filters, holds, resets, hand-overs, and what it does not do."""

import msgspec
import pytest
from unit.runtime.nodes import booted
from unit.runtime.steered import Scripted, Talker, fields, path, seen, steered, talkers

from presage import Service, always, on
from presage.execution.replay import replay
from presage.model.world.filters import Filter
from presage.model.world.world import World
from presage.runtime.aids import Refusal
from presage.runtime.check import KEPT
from presage.runtime.foresight import Foreseen, path_key
from presage.runtime.merge import merged
from presage.runtime.node import LiveNode
from presage.runtime.snapshot import Assembled
from presage.runtime.steer_options import SteerOptions
from presage.runtime.steering import KNOWN_MAX, STARVING, Steering
from presage.runtime.step import Record, Refused

# -- filters, on a virtual clock -------------------------------------------------------------


def filtered(*chosen, **options):
    """`b` is told of one filter in its first round; what came of it."""
    system = talkers()
    answers = [seen(system, "filter", each) for each in chosen]
    node = chosen[0].node
    return steered(system, Scripted(**{node: answers}), **options)


def test_a_filter_on_a_datagram_drops_it_until_the_next_round():
    cluster, steering = filtered(Filter("b", "deliver", "Data", "a"))
    b, counts = fields(cluster, "b"), steering["b"].counts
    gone = sorted({*range(1, b["data"][-1])} - {*b["data"]})
    assert 8 <= len(gone) <= 12 and gone == list(range(gone[0], gone[-1] + 1))
    assert b["flow"] == list(range(1, len(b["flow"]) + 1))
    assert (counts.filtered, counts.resets, counts.installed) == (len(gone), 0, 1)
    assert b["lost"] == 0 and not steering["b"].filters
    assert steering["b"].refusals[0].text == "Data from a"


def test_a_filter_on_a_stream_resets_it():
    cluster, steering = filtered(Filter("b", "receive", "Flow", "a"))
    b, counts = fields(cluster, "b"), steering["b"].counts
    # What is sent after the reset waits, since a connection without a past only begins anew.
    assert (counts.resets, counts.filtered, b["lost"]) == (1, 2, 1)
    assert fields(cluster, "a")["lost"] == 1
    assert b["data"] == list(range(1, len(b["data"]) + 1))
    assert len(b["flow"]) == len(b["data"]) - 1 and b["flow"][-1] == b["data"][-1]


def test_a_filter_on_a_timer_delays_it():
    cluster, steering = filtered(Filter("a", "timer", "tick"))
    counts = steering["a"].counts
    assert 8 <= counts.filtered <= 12
    ticks = fields(cluster, "a")["ticks"]
    assert ticks + counts.filtered in (59, 60)
    data = fields(cluster, "b")["data"]
    assert data == list(range(1, len(data) + 1)) and ticks - len(data) in (0, 1)


def test_a_filter_is_of_one_kind_of_transport():
    cluster, steering = filtered(Filter("b", "receive", "Data", "a"))
    assert steering["b"].counts.filtered == 0
    assert len(fields(cluster, "b")["data"]) >= 59


def test_a_filter_that_no_round_takes_away_runs_out():
    system = talkers()
    cluster, steering = steered(
        system,
        Scripted(b=[seen(system, "filter", Filter("b", "deliver", "Data", "a"))]),
        seconds=25.0,
    )
    until = max(steering["b"].filters.values(), default=0.0)
    assert until <= 25.0 + 1.5 * 10 + 1
    assert steering["b"].counts.rounds in (2, 3)
    assert fields(cluster, "b")["flow"]


def test_known_paths_are_tried_first_and_a_path_is_handed_over_once():
    system = talkers()
    chosen = Filter("b", "deliver", "Data", "a")
    foresight = Scripted(a=[seen(system, "handed over", chosen)])
    _, steering = steered(system, foresight)
    counts = {name: each.counts for name, each in steering.items()}
    assert (counts["a"].handed_over, counts["b"].taken_over) == (1, 1)
    known = [[path_key(each) for each in one.known] for one in foresight.questions["a"]]
    assert known[0] == [] and all(each == [path_key(path(system))] for each in known[1:])
    own = [one.own for one in foresight.questions["b"]]
    assert own[-1] == {path_key(path(system))} and foresight.questions["b"][-1].known
    extra = counts["b"].rounds - counts["a"].rounds
    assert extra in (0, 1, 2)  # the hand-over hastens one round


def test_who_watches_changes_nothing():
    system = talkers()
    answers = [seen(system, "watched") for _ in range(3)]
    foresight = Scripted(a=list(answers), b=list(answers))
    plain, _ = steered(talkers(), Scripted())
    watched, steering = steered(system, foresight, mode="watch")
    assert all(not one.acts for each in foresight.questions.values() for one in each)
    assert [fields(watched, name) for name in "ab"] == [fields(plain, name) for name in "ab"]
    assert watched.node("b").judge is None
    assert [each.counts.predicted for each in steering.values()] == [3, 3]
    assert fields(watched, "b")["warned"] == ""


def test_a_service_hears_of_a_prediction_as_a_step():
    system = talkers()
    own = system.codec.encode((("timer", "tick"),))
    foresight = Scripted(b=[seen(system, "unhelpful", own=own)])
    cluster, steering = steered(system, foresight)
    assert fields(cluster, "b")["warned"] == "bad"
    assert fields(cluster, "a")["warned"] == ""
    assert steering["b"].counts.unhelpful == 1


def test_decisions_are_counted():
    system = talkers()
    decisions = ("unhelpful", "kills progress", "unpreventable")
    answers = [seen(system, each) for each in decisions]
    answers.append(Foreseen("clean", remembered=True))
    _, steering = steered(system, Scripted(b=answers))
    counts = steering["b"].counts
    assert (counts.unhelpful, counts.kills_progress, counts.ahead_unpreventable) == (1, 1, 1)
    assert (counts.predicted, counts.remembered, counts.installed) == (3, 1, 0)
    assert len(steering["b"].predictions) == len(steering["b"].traces) == 3


# -- the immediate check, on a virtual clock -------------------------------------------------


@always
def few(world):
    return all(3 not in node.flow for node in world.of(Talker))


@always
def few_and_whole(world):
    return all(3 not in node.flow and not node.lost for node in world.of(Talker))


def test_the_head_of_a_stream_is_held_and_then_the_connection_reset():
    cluster, steering = steered(talkers(few), seconds=20.0)
    b, counts = fields(cluster, "b"), steering["b"].counts
    assert b["flow"][:3] == [1, 2, 4] and b["flow"][-1] == b["data"][-1]
    assert (counts.refused, counts.resets) == (1, 1)
    assert (b["lost"], fields(cluster, "a")["lost"]) == (1, 1)


def test_it_is_held_for_ever_if_hearing_of_a_reset_is_dangerous():
    cluster, steering = steered(talkers(few_and_whole), seconds=20.0)
    b, counts = fields(cluster, "b"), steering["b"].counts
    assert (b["flow"], b["lost"]) == ([1, 2], 0)
    assert (counts.refused, counts.resets) == (1, 0)
    assert steering["b"].holds


@always
def no_third(world):
    return all(3 not in node.data for node in world.of(Talker))


def test_a_refused_datagram_is_lost_and_nothing_else_is():
    cluster, steering = steered(talkers(no_third), seconds=20.0)
    b, counts = fields(cluster, "b"), steering["b"].counts
    assert b["data"][:3] == [1, 2, 4] and 3 in b["flow"]
    assert (counts.refused, counts.resets, b["lost"]) == (1, 0, 0)


@pytest.mark.parametrize("claim", [few, few_and_whole, no_third])
def test_a_run_that_the_check_steered_is_one_of_the_model(claim):
    follow(steered(talkers(claim), seconds=20.0)[0])


@pytest.mark.parametrize(
    "chosen",
    [
        Filter("b", "deliver", "Data", "a"),
        Filter("b", "receive", "Flow", "a"),
        Filter("a", "timer", "tick"),
    ],
    ids=str,
)
def test_a_run_that_a_filter_steered_is_one_of_the_model(chosen):
    follow(filtered(chosen, seconds=30.0)[0])


def follow(cluster):
    """The merged logs are a trace that a world takes, to the states in which the nodes are."""
    run = merged(cluster.system, cluster.logs())
    assert len(replay(run.system, run.trace).steps) == len(run.trace.steps)
    locals_ = run.world.save().locals
    for name, node in cluster.states().items():
        live = [node.automaton.codec.decode(value) for value in node.local[1:]]
        world = map(run.system.codec.decode, locals_[run.system.index(name)][1:])
        assert list(world) == live


# -- one node alone --------------------------------------------------------------------------


class Noted:
    """Aids that note what they are asked."""

    def __init__(self):
        self.gathered, self.resets, self.refreshed = 0, [], []
        self.questions, self.handed = [], []

    def gather(self):
        self.gathered += 1

    def refresh(self, names):
        self.refreshed.append(tuple(names))

    def ask(self, question):
        self.questions.append(question)

    def hand_over(self, node, path):
        self.handed.append(node)

    def is_open(self, peer):
        return True

    def reset(self, peer):
        self.resets.append(peer)

    def reconsider(self):
        pass


class Holder(Service):
    holds: bool = False

    @on(bool)
    def take(self, message):
        self.holds = message

    def grab(self):
        self.holds = True


@always
def one_holds(world):
    return sum(node.holds for node in world.of(Holder)) <= 1


def holder(**options):
    node, _, now = booted(Holder(), properties=[one_holds])
    aids = Noted()
    steering = Steering(node, aids, SteerOptions(round_trip=0.1, **options))
    return node, steering, aids, now


def local(node: LiveNode, *, holds: bool):
    values = node.system.automata[1].initial()
    values[0] = node.automaton.codec.decode(node.local[0])
    values[1] = holds
    return tuple(node.system.codec.encode_fields(values))


def test_a_neighbour_whose_state_is_old_is_asked_and_the_step_judged_again():
    node, steering, aids, now = holder()
    steering.refreshed("peer", local(node, holds=True))
    now.time = 5.0
    assert isinstance(node.receive("peer", True), Refused)
    assert isinstance(node.receive("peer", True), Refused)
    assert aids.refreshed == [("peer",)]  # once, until there is an answer
    assert steering.counts.refused == 1  # the same message, still held
    steering.refreshed("peer", local(node, holds=False))
    assert isinstance(node.receive("peer", True), Record)
    assert not steering.holds


def test_who_does_not_answer_may_be_cut_off_and_counts_for_a_while():
    node, steering, aids, now = holder()
    steering.refreshed("peer", local(node, holds=True))
    now.time = 5.0
    for _ in range(2):
        assert isinstance(node.call("grab"), Refused)
        steering.refreshed("peer", None)
    assert aids.refreshed == [("peer",), ("peer",)]
    now.time = KEPT + 1
    assert isinstance(node.call("grab"), Record)


def test_a_refusal_says_why_and_a_fresh_state_is_not_asked_for():
    node, steering, aids, now = holder()
    steering.refreshed("peer", local(node, holds=True))
    refused = node.call("grab")
    assert isinstance(refused, Refused) and isinstance(refused.reason, Refusal)
    assert "one_holds" in str(refused.reason) and aids.refreshed == []
    assert [(each.text, each.node) for each in steering.refusals] == [("call grab", "node")]
    assert node.counts.refused == steering.counts.refused == 1


def test_what_is_refused_again_and_again_is_told_of():
    node, steering, _, now = holder()
    steering.refreshed("peer", local(node, holds=True))
    for _ in range(STARVING):
        node.call("grab")
    assert steering.counts.starving == 1


def test_the_guard_is_asked_about_what_is_refused_again_and_again():
    node, steering, aids, now = holder(every=10.0)
    steering.refreshed("peer", local(node, holds=True))
    now.time = 0.01
    for number in range(STARVING):
        assert isinstance(node.deliver("peer", True, number), Refused)
    steering.turned()  # a round at once
    assert aids.gathered == 1
    refused = Filter("node", "deliver", "bool", "peer")
    for asked in ((refused,), ()):
        steering.assembled(Assembled(World.initial(node.system).save(), ()))
        assert aids.questions[-1].refused == asked
    steering.foreseen(Foreseen("clean", hungry=((refused, "moved"),)))
    assert (steering.counts.starving, steering.counts.starved) == (1, 1)
    assert steering.refusals[-1].why == "kills progress: moved cannot hold any more"
    steering.refreshed("peer", local(node, holds=True))
    assert isinstance(node.deliver("peer", True, STARVING), Refused)  # safety comes first


def test_a_check_that_is_off_refuses_nothing():
    node, steering, _, _ = holder(checks=False)
    steering.refreshed("peer", local(node, holds=True))
    assert isinstance(node.call("grab"), Record)


def test_rounds_follow_each_other_and_one_without_an_answer_is_counted():
    node, steering, aids, now = holder(every=10.0)
    now.time = 10.0
    steering.turned()
    assert (aids.gathered, steering.counts.rounds) == (1, 1)
    steering.assembled(None)  # no cut
    now.time = 20.0
    steering.turned()
    steering.assembled(Assembled(World.initial(node.system).save(), ()))
    assert len(aids.questions) == 1
    for time in (30.0, 50.0, 500.0):
        now.time = time
        steering.turned()
        assert aids.gathered == 2  # that one still goes on: who was asked gives up, or answers
    steering.unanswered()
    steering.hasten()
    steering.turned()
    assert (aids.gathered, steering.counts.unanswered) == (3, 1)


def test_a_bounded_number_of_paths_is_known():
    node, steering, aids, _ = holder()
    made = path(node.system)
    for number in range(KNOWN_MAX + 5):
        steering.handed(msgspec.structs.replace(made, prop=f"p{number}"))
    steering.assembled(Assembled(World.initial(node.system).save(), ()))
    known = [each.prop for each in aids.questions[0].known]
    assert len(known) == KNOWN_MAX and known[0] == f"p{KNOWN_MAX + 4}"
    assert len(aids.questions[0].own) == KNOWN_MAX
