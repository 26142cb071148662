"""Merging by view: the same verdicts, fewer states; a coarse view is refused or harmless."""

import random

import pytest
from real import programs
from reference.batches import batches

from presage import Faults, always, check
from presage.errors import ViewTooCoarse
from presage.real import Node, RealSystem


@always
def counted_once(world):
    return (world["server"].count or 0) <= 2


def counter(merge, *, deduplicate=True, drop=0, seen=programs.counted, client=None):
    client = client or programs.acknowledged
    nodes = {"server": Node(programs.serve, deduplicate, view=seen, merge=merge)}
    for name in ("alice", "bob"):
        nodes[name] = Node(programs.count, view=client, merge=merge)
    return RealSystem(nodes, properties=[counted_once], faults=Faults(drop=drop))


@pytest.mark.parametrize("deduplicate", [True, False])
@pytest.mark.parametrize("drop", [0, 1])
def test_an_exact_view_gives_the_verdict_of_history(deduplicate, drop):
    how = {"deduplicate": deduplicate, "drop": drop}
    history = check(counter("history", **how), traces=None)
    view = check(counter("view", **how), traces=None)
    assert view.properties == history.properties
    assert view.unique <= history.unique
    assert [each.steps for each in view.violations] == [each.steps for each in history.violations]
    assert any("as far as the views are right" in note for note in view.notes)


def test_twins_name_the_node_and_what_differs():
    coarse = programs.without(programs.acknowledged, "at")
    with pytest.raises(ViewTooCoarse, match="two histories with one view part") as caught:
        check(counter("view", client=programs.without(coarse, "over")), traces=None)
    assert caught.value.exit_status == 3


# -- random protocols: nodes with a small state that send, answer and forget

STEPS = 3


def talk(seed):
    """A random deterministic protocol over datagrams; its state is a few small numbers."""
    import random as chance
    import socket

    from presage.real import here

    rules = chance.Random(f"{seed}/{here.name}")
    table = {(state, said): rules.randrange(3) for state in range(3) for said in range(3)}
    answers = {key: rules.random() < 0.6 for key in table}
    box = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    box.bind(("", 9000))
    box.settimeout(1)
    now = {"state": 0, "left": STEPS, "heard": 0}
    here.expose(now=now)
    while now["left"]:
        try:
            data, sender = box.recvfrom(10)
            said, to = int(data), sender[0]
        except TimeoutError:
            said, to = 0, here.address(rules.choice(here.peers) if False else here.peers[0])
        now["left"] -= 1
        now["heard"] = (now["heard"] + said) % 3
        key = now["state"], said
        now["state"] = table[key]
        if answers[key]:
            box.sendto(b"%d" % ((now["state"] + now["heard"]) % 3), (to, 9000))


def all_of_it(node):
    return dict(node.get("now") or dict.fromkeys(("state", "left", "heard")))


def protocol(seed, merge, view=all_of_it):
    forbidden = random.Random(seed).randrange(3), random.Random(seed + 1).randrange(3)

    @always
    def apart(world):
        return (world["a"].state, world["b"].state) != forbidden or not world["a"].left

    nodes = {name: Node(talk, seed, view=view, merge=merge, timers=1) for name in "ab"}
    return RealSystem(nodes, properties=[apart])


@pytest.mark.parametrize("seed", batches(6, 40))
def test_history_and_an_exact_view_agree_on_random_protocols(seed):
    history = check(protocol(seed, "history"), traces=None, keep_going=True)
    view = check(protocol(seed, "view"), traces=None, keep_going=True)
    assert history.properties == view.properties
    assert view.unique <= history.unique


@pytest.mark.parametrize("field", ["left", "heard"])
@pytest.mark.parametrize("seed", batches(3, 20))
def test_a_view_without_one_field_is_refused_or_says_the_same(seed, field):
    def some(node):
        return {name: value for name, value in all_of_it(node).items() if name != field}

    @always
    def calm(world):
        return world["a"].state != 2 or world["b"].state != 1

    def system(merge, view):
        nodes = {name: Node(talk, seed, view=view, merge=merge, timers=1) for name in "ab"}
        return RealSystem(nodes, properties=[calm])

    truth = check(system("history", all_of_it), traces=None)
    try:
        view = check(system("view", some), traces=None)
    except ViewTooCoarse:
        return
    assert view.properties == truth.properties
