"""A divided search that was stopped goes on with what was done of it, and with nothing else."""

import functools
import pickle

import pytest
from reference.random_systems import random_system

from presage.distribute import divide, search, subtree, workers
from presage.distribute.levels import Together
from presage.distribute.pool import Here
from presage.distribute.stateful import search_states
from presage.errors import BadCheckpoint, BadSystem, Untrusted
from presage.search.settings import Settings
from presage.systems import two_phase_commit


class Counted(Here):
    """This process as a pool, which is interrupted after so many tasks."""

    is_alone = True
    most, done = 10**9, 0

    def __init__(self, where=None):
        super().__init__()

    def wait(self, handles, seconds):
        if type(self).done >= type(self).most:
            raise KeyboardInterrupt
        type(self).done += 1
        return super().wait(handles, seconds)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for module, name, value in [
        (divide, "WALKS_IN_PART", 10),
        (subtree, "LEVELS", 1),
        (subtree, "FIRST", 1),
        (subtree, "MOST", 30),
        (workers, "Ray", Counted),
        (Counted, "most", 10**9),
        (Counted, "done", 0),
    ]:
        monkeypatch.setattr(module, name, value)


def searched(make=two_phase_commit.system, **how):
    given = Settings(traces=None, **how)
    return search.search(make, make(), given, workers.Where(workers=1))


def stopped(tasks, **how):
    Counted.most, Counted.done = tasks, 0
    report = searched(**how)
    assert report.stopped_by == "interrupt"
    Counted.most, Counted.done = 10**9, 0


def facts(report):
    counts = report.unique, report.generated, report.traces, report.executions, report.depth
    return counts, report.properties, report.exhausted, report.stopped_by, report.faults


@pytest.mark.parametrize(
    ("how", "tasks"),
    [
        ({"search": "walk", "walks": 80}, 8),
        ({"search": "hunt", "walks": 80}, 8),
        ({"search": "tree"}, None),
    ],
)
def test_what_was_done_is_not_done_again(how, tasks, tmp_path):
    whole = searched(**how)
    all_tasks = Counted.done
    assert all_tasks > 5 and tasks in (None, all_tasks)
    folder = tmp_path / "kept"
    stopped(3, checkpoint=folder, **how)
    (folder / "1-0.unfinished").touch()  # a worker was killed while it wrote
    report = searched(checkpoint=folder, resume=True, **how)
    assert facts(report) == facts(whole)
    assert Counted.done == all_tasks - 3
    assert not folder.exists()  # it is over


def test_nothing_to_go_on_with_is_noted(tmp_path):
    report = searched(search="walk", walks=20, checkpoint=tmp_path / "none", resume=True)
    assert any("the search began afresh" in note for note in report.notes)


WALKS = {"search": "walk", "walks": 40}


@pytest.mark.parametrize(
    ("how", "error", "fact"),
    [
        ({**WALKS}, BadCheckpoint, "holds an unfinished search"),
        ({**WALKS, "seed": 3, "resume": True}, BadCheckpoint, "another search: `seed` differs"),
        ({**WALKS, "resume": True, "trust": True}, BadSystem, "`trust` is given"),
    ],
)
def test_another_search_is_refused(how, error, fact, tmp_path):
    stopped(2, checkpoint=tmp_path / "kept", **WALKS)
    with pytest.raises(error, match=fact):
        searched(checkpoint=tmp_path / "kept", **how)


def test_other_code_is_refused(tmp_path):
    stopped(2, checkpoint=tmp_path / "kept", **WALKS)
    make = functools.partial(random_system, 1)
    with pytest.raises(BadCheckpoint, match="`definition` differs"):
        searched(make, checkpoint=tmp_path / "kept", resume=True, **WALKS)


def test_what_others_have_written_is_not_read(tmp_path):
    stopped(2, checkpoint=tmp_path / "kept", **WALKS)
    path = min((tmp_path / "kept").glob("*.part"))
    path.write_bytes(b"0" * 64 + b"\n" + pickle.dumps(print))
    with pytest.raises(Untrusted, match="nothing proves that you made it"):
        searched(checkpoint=tmp_path / "kept", resume=True, **WALKS)


def test_a_search_that_names_no_folder_cannot_go_on():
    with pytest.raises(BadSystem, match="`resume` is given"):
        searched(resume=True, **WALKS)


class Interrupted(Together):
    """Shards that are interrupted at an exchange."""

    left = 4

    def exchange(self, count):
        type(self).left -= 1
        if type(self).left == 0:
            raise KeyboardInterrupt
        return super().exchange(count)


@pytest.mark.parametrize("shards", [1, 3])
def test_states_that_shards_met_are_not_met_again(shards, tmp_path, monkeypatch):
    make = two_phase_commit.system
    given = Settings(traces=None, checkpoint_seconds=1e-9)
    whole = search_states(make, make(), given, 2, Together)
    identity = search.identity_of(make())
    options = given.with_defaults(program=False)
    monkeypatch.setattr(Interrupted, "left", 4)
    with pytest.raises(KeyboardInterrupt):
        kept = search.Kept(tmp_path / "kept", identity, options)
        search_states(make, make(), given, 2, Interrupted, kept)
    resumed = Settings(traces=None, resume=True).with_defaults(program=False)
    kept = search.Kept(tmp_path / "kept", identity, resumed)
    report = search_states(make, make(), given, shards, Together, kept)
    assert facts(report) == facts(whole)
    assert any("went on from depth" in note for note in report.notes)
    (changed, *_) = (tmp_path / "kept").glob("*.shard")
    changed.write_bytes(changed.read_bytes()[:-1])
    kept = search.Kept(tmp_path / "kept", identity, resumed)
    with pytest.raises(BadCheckpoint, match="is not what a worker wrote there"):
        search_states(make, make(), given, shards, Together, kept)
