"""A plain run does the same steps, in the same order, as the live world that keeps everything."""

from collections import defaultdict

import pytest
from mpi.random_scripts import random_family, random_script
from mpi.scripts import written

from presage.frontends.mpi.launch.plain import MOMENT, PlainRun, is_frozen
from presage.frontends.mpi.launch.program import launcher, script
from presage.frontends.mpi.report.waiting import who_waits
from presage.process.context import current
from presage.process.fence import Fence
from presage.process.live import RunningProcess
from presage.process.ops import Failed, Recv, Response, Send, Sleep
from presage.process.world import ProcessWorld

LOCKS = """\
win = MPI.Win.Allocate(4 if rank == 0 else 0, disp_unit=4, comm=comm)
one, got = bytearray(b"\\1\\0\\0\\0"), bytearray(4)
for turn in range(2):
    win.Lock(0)
    win.Fetch_and_op([one, MPI.INT], [got, MPI.INT], 0)
    win.Unlock(0)
    comm.send((rank, list(got)), (rank + 1) % size)
    comm.recv(source=MPI.ANY_SOURCE)
win.Free()
"""
SLEEPS = """\
import time
for turn in range(3):
    time.sleep(0.001 * ((rank + turn) % size))
    request = comm.irecv(source=MPI.ANY_SOURCE)
    comm.send({rank: [turn]}, (rank + 1) % size)
    while not request.test()[0]:
        pass
    if rank == 0:
        request.wait()
    comm.Iprobe()
"""


def slowly(program):
    """The steps of a run of the live world: the process whose clock is behind goes next."""
    world = ProcessWorld(program)
    clocks = defaultdict(float)
    now, could = 0.0, set(world.members)

    def takes(step):
        op = world.members[step.process].live.at
        if isinstance(op, Send | Recv):
            return 0.0
        return op.seconds + MOMENT if isinstance(op, Sleep) else MOMENT

    while not any(member.failed for member in world.members.values()):
        enabled = world.enabled()
        for name in {step.process for step in enabled} - could:
            clocks[name] = max(clocks.get(name, now), now)
        could = {step.process for step in enabled}
        if not enabled:
            break
        step = min(enabled, key=lambda step: clocks[step.process] + takes(step))
        clocks[step.process] += takes(step)
        now = max(now, clocks[step.process])
        world.take(step)
    return world


def quickly(program):
    run = PlainRun(program)
    launcher(program).surroundings.on_the_spot = run.on_the_spot
    run.play()
    return run


def ended(world):
    failed = [m.live.at for m in world.members.values() if isinstance(m.live.at, Failed)]
    return failed or ("over" if world.is_over else who_waits(world))


def steps_of(play, path, ranks, buffering, monkeypatch):
    steps, on_the_spot, give_way = [], PlainRun.on_the_spot, RunningProcess.give_way

    def resumed(method):
        def called(live, response, *others):
            if play is slowly or not isinstance(live.at, Send | Recv):
                steps.append((live.name, response))
            return method(live, response, *others)

        return called

    def gave_way(live, op, other, response):
        assert not isinstance(other.at, Send | Recv)
        steps.append((other.name, response))
        return give_way(live, op, other, response)

    def answered(run, op):
        response = on_the_spot(run, op)
        if response is not None and not isinstance(op, Send | Recv):
            steps.append((current().name, response))
        return response

    def noted(method, what):
        def called(run, member, given):
            response = method(run, member, given)
            if response is not None:
                steps.append((member.live.name, what(response)))
            return response

        return called

    with Fence(), monkeypatch.context() as patch:
        for name in ("resume", "relay"):
            patch.setattr(RunningProcess, name, resumed(getattr(RunningProcess, name)))
        patch.setattr(RunningProcess, "give_way", gave_way)
        patch.setattr(PlainRun, "on_the_spot", answered)
        for name in ("_sent", "_asked"):
            patch.setattr(PlainRun, name, noted(getattr(PlainRun, name), lambda _: Response()))
        patch.setattr(PlainRun, "_waited", noted(PlainRun._waited, lambda response: response))
        return ended(play(script(path, ranks, (), f"{buffering}:ordered"))), steps


def batches(make):
    marks = [() if at < 40 else pytest.mark.slow for at in range(0, 400, 20)]
    return [pytest.param(make, at, marks=m) for at, m in zip(range(0, 400, 20), marks, strict=True)]


@pytest.mark.parametrize(("make", "first"), batches(random_script) + batches(random_family))
def test_the_steps_of_random_scripts_are_those_of_the_world(make, first, tmp_path, monkeypatch):
    for seed in range(first, first + 20):
        text, ranks = make(seed)
        path = written(tmp_path, text, f"r{seed}.py", head="")
        for buffering in ("zero", "eager"):
            fast, slow = (
                steps_of(play, path, ranks, buffering, monkeypatch) for play in (quickly, slowly)
            )
            assert fast == slow, (seed, buffering)


@pytest.mark.parametrize("text", [LOCKS, SLEEPS], ids=["locks", "sleeps"])
def test_the_steps_of_locks_and_sleeps_are_those_of_the_world(text, tmp_path, monkeypatch):
    path = written(tmp_path, text)
    fast, slow = (steps_of(play, path, 3, "eager", monkeypatch) for play in (quickly, slowly))
    assert fast == slow and fast[0] == "over" and len(fast[1]) > 30


def test_only_what_nobody_can_change_is_shared():
    assert is_frozen((1, ("a", b"b", None), 2.5, True, 1j))
    assert not any(map(is_frozen, ([1], (1, [2]), {1: 2}, bytearray(b"x"), ({1},))))
