"""Choices are recorded, replayed and enumerated; draws branch or are refused."""

import pytest

from presage.errors import BadCall, BadChoice, NotEnumerable
from presage.model.choice import BranchingRandom, Chooser, following


def every(run):
    """(result, choices taken) of `run(chooser)` for every list of choices."""
    found, choices = [], []
    while choices is not None:
        chooser = Chooser(choices, extends=True)
        found.append((run(chooser), tuple(k for k, _ in chooser.taken)))
        choices = following(chooser.taken)
    return found


def drawing(draw):
    """The results of a draw from a branching random, over all branches."""
    return [result for result, _ in every(lambda chooser: draw(BranchingRandom(chooser)))]


def test_all_lists_of_choices_are_met_once_depth_first():
    def run(chooser):
        first = chooser.choose("ab")
        return first if first == "b" else first + chooser.choose("xyz")

    assert every(run) == [("ax", (0, 0)), ("ay", (0, 1)), ("az", (0, 2)), ("b", (1,))]


def test_a_choice_among_one_is_no_choice():
    chooser = Chooser([], extends=False)
    assert chooser.choose(["only"]) == "only"
    assert chooser.taken == []


def test_given_choices_are_replayed_and_the_options_counted():
    chooser = Chooser([2, 0], extends=False)
    assert (chooser.choose("abc"), chooser.choose((1, 2))) == ("c", 1)
    assert chooser.taken == [(2, 3), (0, 2)]


def test_a_choice_that_does_not_exist_is_refused():
    with pytest.raises(BadChoice, match="option 3 of a choice among 2"):
        Chooser([3], extends=False).choose("ab")


@pytest.mark.parametrize("options", [{1, 2}, frozenset("ab"), {}.keys(), iter([1])])
def test_options_without_an_order_are_refused(options):
    with pytest.raises(BadCall, match="sorted"):
        Chooser([], extends=True).choose(options)


def test_no_options_are_refused():
    with pytest.raises(BadCall, match="no options"):
        Chooser([], extends=True).choose([])


def test_every_integer_draw_branches():
    assert drawing(lambda random: random.randint(3, 5)) == [3, 4, 5]
    assert drawing(lambda random: random.randrange(0, 10, 4)) == [0, 4, 8]
    assert drawing(lambda random: random.choice("ab")) == ["a", "b"]
    assert drawing(lambda random: random.getrandbits(2)) == [0, 1, 2, 3]


def test_a_shuffle_gives_each_order_once():
    def shuffled(random):
        cards = [1, 2, 3]
        random.shuffle(cards)
        return tuple(cards)

    orders = drawing(shuffled)
    assert len(orders) == len(set(orders)) == 6


def test_a_sample_gives_each_arrangement_once_also_of_large_populations():
    samples = [tuple(each) for each in drawing(lambda random: random.sample(range(30), 2))]
    assert len(samples) == len(set(samples)) == 30 * 29
    assert drawing(lambda random: random.sample("ab", 1, counts=[1, 2])) == [["a"], ["b"], ["b"]]


def test_choices_without_weights_branch():
    assert len(drawing(lambda random: random.choices("abc", k=2))) == 9


@pytest.mark.parametrize(
    "draw",
    [
        lambda random: random.random(),
        lambda random: random.uniform(0, 1),
        lambda random: random.gauss(0, 1),
        lambda random: random.choices("ab", weights=[1, 2]),
        lambda random: random.getrandbits(64),
        lambda random: random.randrange(1001),
        lambda random: random.getstate(),
    ],
)
def test_draws_with_too_many_results_are_refused(draw):
    with pytest.raises(NotEnumerable, match="test_choice.py"):
        draw(BranchingRandom(Chooser([], extends=True)))


def test_an_endless_loop_of_choices_is_refused():
    chooser = Chooser([], extends=True)
    with pytest.raises(NotEnumerable, match="1,001 choices.*the limit is 1,000"):
        while chooser.pick(2) == 0:
            pass


def test_a_choice_among_more_than_the_limit_is_refused_and_the_message_names_the_limit():
    chooser = Chooser([999], extends=False)
    assert chooser.choose(range(1000)) == 999
    with pytest.raises(NotEnumerable, match=r"among 1,001 options; the limit is 1,000"):
        Chooser([0], extends=False).choose(range(1001))
