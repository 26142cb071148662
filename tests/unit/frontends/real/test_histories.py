"""The tree of histories: names, paths, saving, and what is refused."""

import pytest

from presage.errors import BadCheckpoint
from presage.frontends.real.histories import ROOT, Histories, child_of, effects_digest


def test_a_history_is_named_by_its_events_alone():
    one, other = Histories(), Histories()
    for tree in (one, other):
        first = tree.add(ROOT, b"start", b"1")
        tree.add(first, b"timer", b"2")
        tree.add(first, b"deliver", b"3")
    assert one.saved() == other.saved()
    assert child_of(ROOT, b"a") != child_of(child_of(ROOT, b"a"), b"a")


def test_the_path_to_a_history_begins_with_its_start():
    tree = Histories()
    first = tree.add(ROOT, b"start", b"1")
    second = tree.add(first, b"timer", b"2")
    assert [entry.event for _, entry in tree.path(second)] == [b"start", b"timer"]
    assert tree.last(second) == b"timer" and tree.last(ROOT) is None
    assert tree.effects(second) == b"2" and second in tree and len(tree) == 2


def test_what_was_filed_first_stays():
    tree = Histories()
    name = tree.add(ROOT, b"start", b"1")
    assert tree.add(ROOT, b"start", b"2") == name
    assert tree.effects(name) == b"1"


def test_a_part_of_the_tree_is_saved_with_all_that_leads_to_it():
    tree = Histories()
    first = tree.add(ROOT, b"start", b"1")
    second = tree.add(first, b"timer", b"2")
    tree.add(first, b"deliver", b"3")
    other = Histories()
    other.load(tree.saved([second]))
    assert len(other) == 2 and [entry.event for _, entry in other.path(second)] == [
        b"start",
        b"timer",
    ]


def test_a_history_without_a_beginning_is_refused():
    with pytest.raises(BadCheckpoint, match="no beginning"):
        Histories().load([(b"nobody", b"timer", b"1")])


def test_effects_are_digests_of_what_was_done():
    assert effects_digest(b"a") == effects_digest(b"a") != effects_digest(b"b")
