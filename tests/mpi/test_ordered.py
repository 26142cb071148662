"""Ordered delivery: who sends first is received first; simulations need it."""

from random import Random

import pytest
from mpi.litmus.fails import FAILS
from mpi.scripts import written
from simulate.random_programs import platform

from presage.errors import BadSystem, BadTarget
from presage.frontends.mpi import script
from presage.frontends.mpi.core.delivery import Delivery
from presage.search.scripts import check_script
from presage.simulate.run import simulate


def test_a_simulation_says_that_it_needs_one_order(tmp_path):
    text = "comm.recv() if rank == 0 else comm.send(1, dest=0)\n"
    path = written(tmp_path, text)
    hosts = platform(Random(0))
    with pytest.raises(BadSystem, match="a simulation has one order"):
        simulate(script(path, 2), hosts)
    assert simulate(script(path, 2, (), "zero:ordered"), hosts).exit_status == 0


def test_a_chain_of_sends_arrives_in_its_order(tmp_path):
    path = tmp_path / "chain.py"
    path.write_text(FAILS[0].text)
    assert check_script(path, 3, traces=None).violations
    report = check_script(path, 3, ordered=True, traces=None)
    assert report.exhausted and not report.violations


@pytest.mark.parametrize("word", ["zero", "any:0", "eager:1024:ordered", "any:ordered"])
def test_a_delivery_is_a_word(word):
    assert str(Delivery.of(word)) == word


@pytest.mark.parametrize("word", ["some", "any:few", "any:1:2", "any:", ""])
def test_other_words_are_refused(word):
    with pytest.raises(BadTarget, match="is no buffering"):
        Delivery.of(word)
