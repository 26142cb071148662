"""Random valid command lines: no traceback, no hang, no wrong total, no fault of presage itself."""

import pytest
from whole.commands.adversary.command_lines import command_line, judge
from whole.commands.harness import run

QUICK, MANY, BATCH = 10, 520, 26


def play(seeds):
    compared = 0
    for seed in seeds:
        words, about = command_line(seed)
        compared += judge(words, about, run(*words))
    return compared


@pytest.mark.parametrize("first", range(0, QUICK, 10))
def test_a_command_line_that_is_meant_to_work_ends_as_promised(first):
    play(range(first, first + 10))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1_000, 1_000 + MANY, BATCH))
def test_many_command_lines_end_as_promised(first):
    assert play(range(first, first + BATCH))  # some of them said how many states there are
