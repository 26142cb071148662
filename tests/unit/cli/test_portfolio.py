"""`--portfolio`: searches, some with options of their own."""

import argparse

import pytest

from presage.cli import _parser
from presage.cli.cluster import searches
from presage.cli.portfolio import members
from presage.errors import BadTarget


def chosen(*words):
    return members(_parser().parse_args(["check", "paxos", *words]))


def test_searches_are_named_between_commas_and_once_each():
    assert searches("bfs, delay  --scheduler rr,bfs") == ["bfs", "delay --scheduler rr"]


@pytest.mark.parametrize("text", ["", "bfs,", "bfs,,walk"])
def test_nothing_between_commas_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="names no search"):
        searches(text)


def test_a_search_has_options_of_its_own_and_those_of_the_command():
    names = "bfs --symmetry on, delay --scheduler rr --delays 3, walk --seed 7"
    found = chosen("--portfolio", names, "--depth", "30", "--seed", "2")
    assert list(found) == ["bfs --symmetry on", "delay --scheduler rr --delays 3", "walk --seed 7"]
    assert [each["search"] for each in found.values()] == ["bfs", "delay", "walk"]
    assert [each["depth"] for each in found.values()] == [30] * 3
    assert [each["seed"] for each in found.values()] == [2, 2, 7]
    bfs, delay, walk = found.values()
    assert bfs["symmetry"] and "symmetry" not in delay
    assert (delay["delay"].scheduler, delay["delay"].delays) == ("rr", 3)
    assert "delay" not in walk


def test_what_the_command_says_of_delays_is_kept():
    found = chosen("--portfolio", "delay, delay --scheduler rr", "--fault-delays", "3")
    assert [each["delay"].fault_delays for each in found.values()] == [3, 3]
    assert [each["delay"].scheduler for each in found.values()] == ["rtc", "rr"]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("delay --schedular rr", "did you mean `--scheduler`"),
        ("bfs --seconds 3", "unrecognized arguments: --seconds"),
        ("bfs rr", "unrecognized arguments: rr"),
        ("bfs 'rr", "no closing quotation"),
        ("walk --walks none", "not a whole number"),
    ],
)
def test_options_that_are_no_ones_are_refused(text, fact):
    with pytest.raises(BadTarget, match=fact):
        chosen("--portfolio", text)
