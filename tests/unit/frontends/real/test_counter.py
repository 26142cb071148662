"""A counter over UDP as real nodes: what every search, trace and tool of presage makes of it."""

import pytest
from real import programs

from presage import Faults, always, check, eventually, replay, sometimes, step
from presage.errors import BadSystem, BadView, ProgramDiffers
from presage.real import Node, RealSystem


@always
def counted_once(world):
    return world["server"].count is None or world["server"].count <= 2


@always
def nothing_lost(world):
    done = [world[name].done or 0 for name in ("alice", "bob")]
    return (world["server"].count or 0) >= sum(done)


@sometimes
def all_done(world):
    return world["alice"].done == world["bob"].done == 1


@step
def never_less(before, after):
    return getattr(before, "done", 0) <= getattr(after, "done", 0)


def counter(properties=(counted_once, nothing_lost, all_done, never_less), **options):
    server = options.pop("server", {})
    clients = options.pop("clients", {})
    args = options.pop("args", ())
    nodes = {"server": Node(programs.serve, *args, view=programs.counted, **server)}
    for name in ("alice", "bob"):
        nodes[name] = Node(programs.count, view=programs.acknowledged, **clients)
    return RealSystem(nodes, properties=properties, **options)


def kept(report):
    return dict(report.properties)


def test_a_search_of_all_orders_holds_and_says_so():
    report = check(counter(), traces=None)
    assert report.exhausted
    assert (report.unique, report.generated) == (585, 1315)
    assert kept(report) == {
        "counted_once": "held",
        "nothing_lost": "held",
        "all_done": "reached",
        "never_less": "held",
    }


@pytest.mark.parametrize("search", ["dfs", "tree", "walk", "hunt", "bfs"])
def test_every_search_finds_the_request_that_is_counted_twice(search, tmp_path):
    system = counter([counted_once], args=(False,))
    report = check(system, search=search, traces=tmp_path, seconds=60)
    (violation,) = report.violations
    assert violation.prop == "counted_once"
    assert violation.steps >= 3


def test_the_shortest_trace_is_replayed_step_by_step(tmp_path):
    report = check(counter([counted_once], args=(False,)), traces=tmp_path)
    (violation,) = report.violations
    assert violation.steps == 4
    again = replay(counter([counted_once], args=(False,)), violation.trace)
    assert again.message == violation.trace.message


def test_searches_agree_on_what_there_is():
    bfs, dfs = check(counter(), traces=None), check(counter(), search="dfs", traces=None)
    assert (bfs.unique, bfs.generated) == (dfs.unique, dfs.generated)
    tree = check(counter(), search="tree", traces=None)
    assert tree.exhausted and kept(tree) == kept(bfs)


def test_two_threads_find_what_one_does():
    one, two = (check(counter(), threads=n, traces=None) for n in (1, 2))
    assert (one.unique, one.generated, kept(one)) == (two.unique, two.generated, kept(two))


def test_datagrams_may_be_lost_and_repeated():
    lost = check(counter(faults=Faults(drop=1)), traces=None)
    assert lost.exhausted and kept(lost)["nothing_lost"] == "held"
    twice = check(counter([counted_once], args=(False,), faults=Faults(duplicate=1)), traces=None)
    assert twice.violations[0].steps == 4


def test_liveness_sees_that_messages_may_be_lost():
    @eventually
    def done(world):
        return world["alice"].done == 1

    broken = check(counter([done], faults=Faults(drop=2)), traces=None)
    assert [each.prop for each in broken.violations] == ["done"]


def test_a_bound_that_cut_something_is_told():
    report = check(counter(clients={"timers": 0}), traces=None)
    assert "bounded: `timers=0` kept more from happening at alice, bob" in report.notes
    free = check(counter(), traces=None)
    assert not any(note.startswith("bounded") for note in free.notes)


def test_a_search_goes_on_from_a_checkpoint(tmp_path):
    whole = check(counter(), traces=None)
    folder = tmp_path / "kept"
    options = {"checkpoint": folder, "traces": None, "threads": 1}
    first = check(counter(), states=300, **options)
    assert first.unique < whole.unique
    second = check(counter(), resume=True, **options)
    assert (second.unique, second.exhausted) == (whole.unique, True)


def test_a_view_that_raises_is_an_error_with_its_line():
    def broken(node):
        return {"n": node.get("nothing").n}

    with pytest.raises(BadView, match="AttributeError"):
        check(RealSystem({"server": Node(programs.serve, view=broken)}), traces=None)


def test_a_view_has_the_same_fields_all_the_time():
    def growing(node):
        return {"n": 1} if node.get("server") is None or not node.get("server").count else {"m": 2}

    nodes = {"server": Node(programs.serve, view=growing), "alice": Node(programs.count)}
    with pytest.raises(BadView, match="new field `m`"):
        check(RealSystem(nodes), traces=None)


def test_names_of_presage_are_no_fields_of_a_view():
    with pytest.raises(BadSystem, match="`history`"):
        RealSystem({"a": Node(programs.serve, view=lambda node: {"history": 1})})


def test_a_program_that_depends_on_what_processes_share_ends_the_search():
    def leak(node):
        return {}

    nodes = {"server": Node(programs.serve), "a": Node(leaking, view=leak), "b": Node(poking)}
    with pytest.raises(ProgramDiffers, match="did something else than the first time"):
        report = check(RealSystem(nodes), traces=None)
        pytest.fail(f"{report}\n{[each.trace.message for each in report.violations]}")


def leaking():
    import colorsys  # of the standard library, which all processes share
    import socket
    import time

    box = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    box.bind(("", 9001))
    for _ in range(3):
        time.sleep(1)
        colorsys.sent = getattr(colorsys, "sent", 0) + 1
        box.sendto(b"%d" % colorsys.sent, ("10.0.0.1", 9000))


def poking():
    """What arrives at any time makes that the other one is run again and again."""
    import socket

    box = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for number in range(3):
        box.sendto(b"%d" % number, ("a", 9001))
