"""Logs of live nodes: files, what a crash undid, and steps that are no steps of the model."""

import msgspec
import pytest
from unit.runtime.test_virtual import pair

from presage.errors import LogsDiffer, StoreError
from presage.runtime.log import LogFile, read, retrace, text
from presage.runtime.merge import merged
from presage.runtime.precedence import items_of
from presage.runtime.shaping import Shape
from presage.runtime.vocabulary import teach


def some_entries():
    cluster = pair(logged=True, shape=Shape(delay=0.1))
    cluster.run(3.5)
    return cluster, cluster.logs()["a"]


def test_a_log_is_read_as_it_was_written(tmp_path):
    _, entries = some_entries()
    path = tmp_path / "steps"
    log = LogFile(path)
    log.append(entries[:2])
    log.append(entries[2:])
    log.close()
    assert list(read(path)) == entries


def test_an_entry_that_a_crash_cut_off_is_left_out_and_written_over(tmp_path):
    _, entries = some_entries()
    path = tmp_path / "steps"
    log = LogFile(path)
    log.append(entries[:3])
    log.close()
    whole = path.read_bytes()
    for cut in range(1, 60, 7):
        path.write_bytes(whole[:-cut])
        assert list(read(path)) == entries[:2]
        again = LogFile(path)
        again.append(entries[3:])
        again.close()
        assert list(read(path)) == entries[:2] + entries[3:]


def test_a_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "steps"
    path.write_bytes(b"\x00\x00\x00\x04junk")
    with pytest.raises(StoreError, match="is not the log of a node"):
        list(read(path))
    with pytest.raises(StoreError, match="cannot be used"):
        list(read(tmp_path / "nothing"))
    with pytest.raises(StoreError, match="cannot be used"):
        LogFile(tmp_path / "no" / "steps")


def test_a_step_reads_well():
    cluster, entries = some_entries()
    teach(cluster.system, cluster.system.codec)
    lines = [text(cluster.system, entry) for entry in entries]
    assert lines[0] == "0.000000 a 1.1 start"
    assert "a 1.2 timer 'ask'" in lines[1]
    assert any("Ask(n=1) from b" in line for line in lines)


def test_a_step_whose_changes_were_not_on_disk_is_as_if_it_never_was():
    cluster = pair(logged=True, shape=Shape(delay=0.1))
    cluster.run(3.5)
    node = cluster.node("a")
    node.fire(("ask",))
    for function in node.on_flush:
        function()
    noted = len(cluster.logs()["a"])
    cluster.kill("a")  # the step is in the log, its changes are not on disk
    cluster.run(5)
    cluster.start("a")
    cluster.run(8)
    log = cluster.logs()["a"]
    kept = [item.entry for item in items_of(log) if item.entry is not None]
    assert kept == log[: noted - 1] + log[noted:]
    run = merged(cluster.system, cluster.logs())
    assert "crash" in {step.kind for step in run.trace.steps}


def test_a_log_of_other_choices_or_states_does_not_replay():
    cluster, entries = some_entries()
    retrace(cluster.system, entries)
    changed = [*entries[:-1], msgspec.structs.replace(entries[-1], digest=1)]
    with pytest.raises(LogsDiffer, match="leads to another state than live"):
        retrace(cluster.system, changed)
    with pytest.raises(LogsDiffer):
        merged(cluster.system, {"a": changed, "b": cluster.logs()["b"]})
