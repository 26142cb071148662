"""`--cluster`: which workers are meant, and what they cannot do."""

import argparse

import pytest

from presage.cli import main
from presage.cli.cluster import cluster, loader, pool_of, services, where_of
from presage.distribute import ray
from presage.distribute.divide import refuse
from presage.distribute.stateful import refuse as refuse_states
from presage.errors import BadSystem, BadTarget
from presage.process.program import Process, Program
from presage.search.settings import Settings
from presage.systems import paxos, two_phase_commit


@pytest.mark.parametrize("text", ["auto", "1", "1000", "host:6379", "ray://host:10001"])
def test_a_cluster_is_auto_a_number_or_an_address(text):
    assert cluster(text) == text


@pytest.mark.parametrize("text", ["0", "1001", "many", ""])
def test_anything_else_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError):
        cluster(text)


def test_what_is_meant_by_each():
    assert where_of("auto") is None
    assert (where_of("3").workers, where_of("3").is_local) == (3, True)
    assert (where_of("host:6379").address, where_of("host:6379").is_local) == ("host:6379", False)


def test_auto_means_the_ray_that_the_environment_names(monkeypatch):
    monkeypatch.setattr(ray, "Ray", lambda where: where)
    assert pool_of("auto")() == pool_of(None)() == ray.Where()
    monkeypatch.setenv("RAY_ADDRESS", "host:6379")
    assert pool_of("auto")() == ray.Where(address="host:6379")
    assert pool_of("3")() == ray.Where(workers=3)


def test_a_loader_loads_the_target_with_its_parameters():
    system = loader("two_phase_commit", {"rms": "3"})()
    assert len(system.nodes) == len(two_phase_commit.system(rms=3).nodes)


def test_hunts_keep_their_progress_on_a_cluster(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["hunt", "randtree", "--walks", "20", "--checkpoint", "kept"]
    assert main(words) == 2
    assert "on a `--cluster`, `hunt`, `walk` and `tree` do, too" in capsys.readouterr().err
    assert main([*words, "--cluster", "auto", "--resume"]) == 0
    assert "`kept` held no checkpoint: the search began afresh" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--cluster=2", "--portfolio=tree,delay"])
def test_a_script_is_refused_with_the_target_that_is_not(option, tmp_path, capsys):
    (tmp_path / "ring.py").write_text("from mpi4py import MPI")
    assert main(["check", f"{tmp_path}/ring.py", "--mpi", "3", option]) == 2
    assert "ring.py --mpi 3 --buffering zero' --portfolio tree,delay" in capsys.readouterr().err


def test_programs_are_refused():
    with pytest.raises(BadTarget, match="a program of processes"):
        services(Program({"a": Process(print)}))


@pytest.mark.parametrize("search", ["dfs", "tree", "delay", "cycles", "semantic"])
def test_searches_that_cannot_be_divided_are_refused(search):
    with pytest.raises(BadSystem, match=f"for the search `{search}`"):
        refuse(Settings(search=search))


@pytest.mark.parametrize(
    "given",
    [
        {"symmetry": True},
        {"reduction": "sleep"},
        {"causes": 2},
        {"coverage": "file"},
        {"memory_mib": 100},
    ],
)
def test_what_needs_all_states_in_one_process_is_refused(given):
    with pytest.raises(BadSystem, match="together with `cluster`"):
        refuse_states(paxos.system(), Settings(**given))
