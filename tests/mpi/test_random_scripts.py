"""`check` finds in random scripts what going through every order finds, and nothing else."""

import pytest
from mpi.explore import explore
from mpi.random_scripts import random_family, random_script
from reference.batches import FACTOR

from presage import check
from presage.frontends.mpi import script

SCRIPTS = 10
MANY = SCRIPTS + round(70 * FACTOR)
CLAIMS = {"deadlock": "no_deadlock", "unmatched": "no_leftovers"}


@pytest.mark.parametrize("buffering", ["zero", "eager"])
@pytest.mark.parametrize("first", range(0, SCRIPTS, 10))
@pytest.mark.parametrize("make", [random_script, random_family])
def test_the_same_is_found(make, first, buffering, tmp_path):
    for seed in range(first, first + 10):
        text, ranks = make(seed)
        path = tmp_path / f"random{seed}.py"
        path.write_text(text)
        plain = explore(path, ranks, buffering, beyond=True)
        expected = {CLAIMS.get(kind, "no_exception") for kind in plain.raw}
        report = check(
            script(path, ranks, (), f"{buffering}:ordered"), keep_going=True, traces=None
        )
        assert {found.prop for found in report.violations} == expected, text
        assert report.exhausted, text


@pytest.mark.slow
@pytest.mark.parametrize("buffering", ["zero", "eager"])
@pytest.mark.parametrize("first", range(SCRIPTS, MANY, 10))
@pytest.mark.parametrize("make", [random_script, random_family])
@pytest.mark.usefixtures("verdicts_only")
def test_the_same_is_found_in_many(make, first, buffering, tmp_path):
    test_the_same_is_found(make, first, buffering, tmp_path)


@pytest.mark.parametrize("make", [random_script, random_family])
def test_they_differ(make):
    """Some hold, some do not, in every way."""
    kinds = set()
    for seed in range(0, 80, 4):
        text, _ = make(seed)
        kinds |= {word for word in ("iprobe", ".test()", "ANY_SOURCE", "barrier") if word in text}
    assert len(kinds) == 4
