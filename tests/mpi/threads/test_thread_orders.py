"""What `check` explores of random scripts with threads is all that may happen, and nothing else."""

import pytest
from mpi.test_deliveries import explored
from mpi.threads.enumerator import outcomes
from mpi.threads.scripts import random_script, small_scripts, text_of
from reference.batches import FACTOR

SCRIPTS = 12
MANY = SCRIPTS + round(92 * FACTOR)
ALL = "p99"  # so many preemptions that there is no bound


def compare(folder, seed, buffering):
    statements = random_script(seed)
    path = folder / f"threads{seed}.py"
    path.write_text(text_of(statements))
    logs, stuck = outcomes(statements, may_buffer=buffering == "any")
    found, found_stuck = explored(path, len(statements), f"{buffering}:{ALL}", "odpor")
    assert found == logs, (seed, statements)
    assert found_stuck <= stuck, (seed, statements)
    if buffering == "zero":
        assert bool(found_stuck) == bool(stuck), (seed, statements)
    bounded, bounded_stuck = explored(path, len(statements), buffering, "odpor")
    assert bounded <= logs
    assert bounded_stuck <= stuck


def test_the_same_orders_are_explored(tmp_path):
    for seed in small_scripts(SCRIPTS):
        compare(tmp_path, seed, "any" if seed % 3 else "zero")


@pytest.mark.slow
def test_the_same_orders_are_explored_in_many(tmp_path):
    for seed in small_scripts(MANY)[SCRIPTS:]:
        compare(tmp_path, seed, "any" if seed % 3 else "zero")
