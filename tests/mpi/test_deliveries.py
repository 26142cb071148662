"""What `check` explores of random scripts is all that MPI allows, and nothing else."""

from ast import literal_eval

import pytest
from mpi.deliveries import outcomes
from mpi.small_scripts import random_script, text_of
from reference.batches import FACTOR

from presage._core import ProcessKernel
from presage.frontends.mpi import script
from presage.limits import Limits
from presage.process.fence import Fence
from presage.process.histories import Histories

SCRIPTS = 120
MANY = SCRIPTS + round(1000 * FACTOR)
BATCH = 40


class Plain(Histories):
    """Local states; nothing is saved meanwhile."""

    def found(self, finding):
        pass


def kernel_of(path, ranks, buffering):
    program = script(path, ranks, (), buffering, strict=False)
    histories = Plain(program, lambda run, *args: run(*args))
    return histories, ProcessKernel(histories, histories.begin(), spins=0)


def explored(path, ranks, buffering, search, *, literal=True):
    """The same as `outcomes` gives, by the kernel."""
    with Fence():
        histories, kernel = kernel_of(path, ranks, buffering)
        limits = Limits(keep_going=True)
        outcome = kernel.search(limits) if search == "bfs" else kernel.explore(search, limits)
    assert outcome.stopped_by is None and not outcome.cut
    logs, stuck = set(), set()
    for found in outcome.run_findings:
        if found.kind == "deadlock":
            stuck.add(frozenset(found.detail))
        else:
            rank, failure = found.detail
            log = histories.failures[failure].brief.removesuffix(" in <module>")
            logs.add((rank, tuple(literal_eval(log)) if literal else log))
    return logs, stuck


def compare(folder, seed, buffering, search="odpor"):
    statements = random_script(seed)
    path = folder / f"small{seed}.py"
    path.write_text(text_of(statements))
    expected = outcomes(statements, may_buffer=buffering == "any")
    logs, stuck = explored(path, len(statements), buffering, search)
    assert logs == expected.logs, statements
    # Who else is stuck where some sends wait, and others do not, is not told in every way.
    assert stuck <= expected.stuck, statements
    assert bool(stuck) == bool(expected.stuck), statements
    return expected


@pytest.mark.parametrize("first", range(0, SCRIPTS, BATCH))
def test_the_same_deliveries_are_explored(first, tmp_path):
    for seed in range(first, first + BATCH):
        compare(tmp_path, seed, "any" if seed % 3 else "zero")


@pytest.mark.slow
@pytest.mark.parametrize("first", range(SCRIPTS, MANY, BATCH))
def test_the_same_deliveries_are_explored_in_many(first, tmp_path):
    for seed in range(first, first + BATCH):
        compare(tmp_path, seed, "any")
        compare(tmp_path, seed, "zero")


def small(count):
    """Scripts so short that every interleaving can be tried."""
    short = (seed for seed in range(1_000) if sum(map(len, random_script(seed))) <= 6)
    return [seed for seed, _ in zip(short, range(count), strict=False)]


@pytest.mark.parametrize("search", ["none", "dpor", "sdpor", "bfs"])
def test_other_searches_find_the_same(search, tmp_path):
    for seed in small(8 if search == "none" else 15):
        compare(tmp_path, seed, "any", search)


def test_steps_held_to_be_independent_are(tmp_path):
    pairs = 0
    for seed in range(20):
        statements = random_script(seed)
        path = tmp_path / f"pairs{seed}.py"
        path.write_text(text_of(statements))
        with Fence():
            _, kernel = kernel_of(path, len(statements), "any")
            kernel.explore("odpor", Limits(keep_going=True))
            wrong, tried = kernel.verify(400)
        assert not wrong, statements
        pairs += tried
    assert pairs > 1_000
