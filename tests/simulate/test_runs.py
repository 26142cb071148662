"""Every simulation is a run that a check covers: its steps, taken on a fresh world, are possible
there, get the same answers, and end in the same way."""

import importlib
from collections import Counter
from random import Random

import pytest
from simulate.random_programs import platform, program

from presage import simulate
from presage.process.fence import Fence
from presage.process.ops import NONE, TestAny
from presage.process.world import Choice, ProcessWorld
from presage.systems.simgrid import PROGRAMS as PORTED

PROGRAMS = 400


def replay(prog, done):
    """What each process said, the world at the end, and how many tests failed early."""
    early = 0
    with Fence():
        world = ProcessWorld(prog)
        said = {name: list(lines) for name, lines in world.opening.items()}
        for process, choice in done.steps:
            member = world.members[process]
            possible = list(world.choices(member))
            if choice not in possible:
                assert isinstance(member.live.at, TestAny) and choice == NONE, member.live.at
                early += 1
            taken = world.take(Choice(process, choice))
            for name in world.members:
                said.setdefault(name, list(world.opening[name]))
            said[process] += taken.logs
        enabled = world.enabled()
        for member in world.members.values():
            member.live.close()
    return said, world, enabled, early


@pytest.mark.parametrize("part", range(4))
def test_random_simulations_are_runs_of_the_world(part):
    seen = Counter()
    for number in range(part, PROGRAMS, 4):
        random = Random(number)
        prog = program(random)
        done = simulate(prog, platform(random), seed=number)
        said, world, enabled, early = replay(prog, done)
        assert early == done.early_tests, number
        lines = {name: [] for name in said}
        for line in done.log:
            lines[line.process].append(line.text)
        assert lines == said, number
        assert (done.outcome == "finished") == world.is_over, number
        assert (done.outcome == "deadlock") == (not world.is_over and not enabled), number
        check_figures(done)
        seen[done.outcome] += 1
        seen["early"] += done.early_tests > 0
    assert min(seen["finished"], seen["deadlock"], seen["early"]) >= 2, seen


def check_figures(done):
    """Bytes are neither lost nor made, and nobody does two things at once."""
    slack = 1 + 1e-9
    for usage in (*done.links, *done.hosts):
        assert usage.busy <= done.makespan * slack
    assert all(usage.share <= slack for usage in done.hosts)
    for line in done.processes:
        before = line.started
        for each in line.intervals:
            assert before <= each.start < each.end <= done.makespan
            before = each.end
    for transfer in done.transfers:
        assert transfer.end is None or transfer.start <= transfer.end <= done.makespan
    hosts = {line.process: line.host for line in done.processes}
    for usage in done.links:
        if usage.name.startswith("up"):
            host = f"h{usage.name[2:]}"
            crossing = [
                transfer
                for transfer in done.transfers
                if host in (ends := (hosts[transfer.source], hosts[transfer.to]))
                if ends[0] != ends[1]
            ]
            most = sum(transfer.size for transfer in crossing)
            least = sum(transfer.size for transfer in crossing if transfer.end is not None)
            assert least / slack <= usage.amount <= most * slack
            assert usage.share <= slack


@pytest.mark.parametrize("name", PORTED)
def test_the_ported_programs_are_simulated_as_they_are_checked(name):
    module = importlib.import_module(f"presage.systems.simgrid.{name}")
    prog = module.program()
    for seed in range(5):
        done = simulate(prog, platform(Random(seed), hosts_min=3), seed=seed, until=50.0)
        _, world, enabled, early = replay(prog, done)
        assert early == done.early_tests
        assert (done.outcome == "finished") == world.is_over or done.outcome == "failed"
        assert done.outcome != "deadlock" or not enabled
