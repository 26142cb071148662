"""A lookout knows its neighbours before the first round, and after a restart."""

from unit.runtime.steered import talkers

from presage.runtime.foreseeing import SteeredCluster
from presage.runtime.shaping import Shape
from presage.runtime.steer_options import SteerOptions
from presage.runtime.virtual import VirtualCluster

NEVER = 1000.0  # seconds until the first round


def running(seconds, **options):
    cluster = VirtualCluster(talkers(), shape=Shape(delay=0.05))
    options = SteerOptions(round_trip=0.1, **{"predicts": False, "every": NEVER, **options})
    steered = SteeredCluster(cluster, None, options)
    cluster.run(seconds)
    return cluster, steered


def ticks(cluster, steered, name="b", of="a"):
    """How often `of` has ticked, as `name` knows; None if it knows nothing."""
    check = steered.lookouts[name].steering.check
    known = check._known[cluster.system.index(of)]
    if known is None:
        return None
    at = cluster.system.automata[0].positions["ticks"]
    return cluster.system.codec.decode(known.local[at])


def test_neighbours_are_asked_at_once_and_push_what_changes():
    cluster, steered = running(5.7)
    assert ticks(cluster, steered) == 5
    cluster.run(9.7)
    assert ticks(cluster, steered) == 9


def test_who_does_not_check_asks_nobody():
    cluster, steered = running(5.7, checks=False)
    assert ticks(cluster, steered) is None


def test_what_was_known_is_known_to_the_next_process():
    cluster, steered = running(5.7)
    cluster.cut("a", "b")
    cluster.kill("b")
    cluster.start("b")
    cluster.run(8.0)
    assert ticks(cluster, steered) == 5
    known = steered.lookouts["b"].steering.check._known[0]
    assert 5.0 < known.time < 5.7  # as old as it is


def test_those_who_are_cut_off_are_asked_again_when_they_can_be():
    cluster, steered = running(5.7, every=10.0)
    cluster.cut("a", "b")
    cluster.run(8.7)
    assert ticks(cluster, steered) == 5
    cluster.heal("a", "b")
    cluster.run(12.7)
    assert ticks(cluster, steered) == 12
