"""Checkpoints of peers: plain data of the system's classes passes, everything else is refused."""

import importlib
import os
from uuid import UUID

import pytest

from presage.runtime.checkpoint import Checkpoint
from presage.runtime.datagrams import Datagrams
from presage.runtime.delta import BadCheckpoint
from presage.runtime.inspection import inspector
from presage.systems.randtree import system as randtree

LIVE = ("bullet", "chord", "mace_paxos", "pastry", "paxos", "raft", "randtree", "two_phase_commit")


def first(system, name: str) -> Checkpoint:
    automaton = system.automata[system.index(name)]
    local = tuple(system.codec.encode_fields(automaton.initial()))
    return Checkpoint(name, 1, 1, local, {}, Datagrams().held(0.0))


@pytest.mark.parametrize("name", LIVE)
def test_states_of_shipped_systems_pass(name: str) -> None:
    system = importlib.import_module(f"presage.systems.{name}").system()
    inspect = inspector(system)
    for node in system.names:
        inspect(first(system, node))


@pytest.mark.parametrize("value", [os.getcwd, int, UUID(int=3)], ids=str)
def test_values_that_name_or_run_code_are_refused(value: object) -> None:
    system = randtree()
    inspect, good = inspector(system), first(system, "n0")
    body = system.codec.encode(value)
    with pytest.raises(BadCheckpoint, match="no plain data"):
        inspect(good._replace(local=(body, *good.local[1:])))


def test_bytes_that_mean_nothing_are_refused() -> None:
    system = randtree()
    good = first(system, "n0")
    with pytest.raises(BadCheckpoint, match="no plain data"):
        inspector(system)(good._replace(local=(b"\xff\xff", *good.local[1:])))


def test_a_node_with_other_fields_is_refused() -> None:
    system = randtree()
    with pytest.raises(BadCheckpoint, match="other fields"):
        inspector(system)(first(system, "n0")._replace(local=(b"x",)))
