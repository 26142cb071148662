"""Bullet': the mismatch of maps that CrystalBall found, its older form, and both mended."""

from typing import get_args

import pytest
from systems.driving import Story

from presage import check
from presage.systems.bullet import BugName, system
from presage.systems.bullet.bugs import BUGS, PROFILES
from presage.systems.bullet.messages import Block, BlockRequest
from presage.systems.bullet.service import members
from presage.systems.catalogue import UnknownProfile


def refused(bug, after):
    """Up to the diff that does not fit, and `after`: n1 owes n2 the news of a block."""
    story = Story(system(bug=bug))
    story.do("timer", "n0", "push")
    story.do("timer", "n2", "peering", choices=(1,))
    story.do("receive", "n1", "PeerRequest")
    story.do("receive", "n1", "Block")
    story.do("timer", "n1", "diff")
    assert story["n1"].have == 1
    assert story["n1"].receivers["n2"] == (0 if after else 1)
    return story


@pytest.mark.parametrize("bug", ["CB-BU1", "CB-BU1a"])
def test_a_diff_that_does_not_fit_is_forgotten(bug):
    story = refused(bug, after=True)
    assert story.broken() == "file_map"
    assert story["n1"].armed("diff") == (bug == "CB-BU1")  # the attempted mending tries again
    story.do("receive", "n2", "PeerAccept")
    if bug == "CB-BU1":
        story.do("timer", "n1", "diff")
    assert story["n2"].senders["n1"] == 0
    assert story.broken() == "file_map"


def test_a_diff_that_does_not_fit_is_sent_later():
    story = refused("none", after=False)
    assert story.broken() is None
    story.do("receive", "n2", "PeerAccept")
    story.do("timer", "n1", "diff")
    story.do("receive", "n2", "Diff")
    assert (story["n2"].senders["n1"], story["n1"].receivers["n2"]) == (1, 0)
    assert story.broken() is None


def test_one_receiver_of_two_blocks_is_exhausted():
    report = check(system(nodes=2, children=1))
    assert report.exhausted
    assert report.unique == 151
    report.assert_holds()


def test_who_has_receivers_enough_rejects_others():
    # With room for one sender two may choose each other, and never hear of a block: no liveness.
    report = check(system(blocks=1, children=1, limit=1), depth=9, liveness="rest")
    assert not report.violations
    ran = {each.name: each.steps for each in report.coverage.ran}
    assert ran["Bullet.rejected"] > 0


@pytest.mark.slow
def test_three_nodes_and_a_block_are_exhausted():
    report = check(system(blocks=1), liveness="rest")
    assert report.exhausted
    report.assert_holds()


@pytest.mark.parametrize("fault", ["resets", "silent", "cuts"])
def test_maps_agree_in_spite_of_faults_as_far_as_a_search_goes(fault):
    assert not check(system(**{fault: 1}), depth=9, liveness="rest").violations


def test_calm_walks_from_anywhere_end_with_the_whole_file():
    report = check(system(silent=1, cuts=1), search="hunt", walks=300)
    assert not report.violations
    assert report.hunted.live > 0


def checkpointed(node, values):
    """The values of a node as a prediction begins with them."""
    first = node.initial()
    return [first[at] if at in node.omitted else value for at, value in enumerate(values)]


def test_a_checkpoint_of_a_large_file_has_maps_and_no_contents():
    target = system(nodes=21, blocks=1280, size=16_384)
    node = target.automata[0]
    start = node.step(node.initial(), ("start",))
    values, at = start.values, node.positions
    full = (1 << 1280) - 1
    values[at["receivers"]] = dict.fromkeys(target.names[1:11], full)
    values[at["senders"]] = dict.fromkeys(target.names[11:], full)
    assert len(values[at["contents"]]) == 1280
    left = checkpointed(node, values)
    assert left[at["contents"]] == {}
    assert sum(map(len, node.codec.encode_fields(left))) < 4_500  # 3 kB compressed in the paper


def test_a_node_made_of_a_checkpoint_sends_empty_blocks():
    story = Story(system(nodes=2, children=1, size=4))
    node = story.system.automata[0]
    values = checkpointed(node, node.step(node.initial(), ("start",)).values)
    values[node.positions["receivers"]] = {"n1": 0}
    [outcome, *_] = node.branches(
        lambda: node.codec.decode(node.codec.encode(values)), ("deliver", 1, BlockRequest(1))
    )
    assert [flow.message for flow in outcome.flows] == [Block(1, b"")]


def test_every_profile_can_be_asked_for_and_is_shown_by_a_bug():
    assert {bug.parameters["bug"] for bug in BUGS} == set(PROFILES)
    assert set(get_args(BugName)) == {"none", *PROFILES}
    with pytest.raises(UnknownProfile, match="CB-BU1"):
        system(bug="CB-BU9")


def test_members_are_the_bits_of_a_number():
    assert list(members(0b1011)) == [0, 1, 3]
    assert list(members(0)) == []
