"""What is durable survives: a crash at every point, a kill, a disk that fails."""

import errno
import os
import random
import signal
from pathlib import Path

import pytest
from unit.runtime.ledger import add, fields_of, ledger_node

from presage.errors import StoreError
from presage.runtime import store as store_module
from presage.runtime.durable import Change
from presage.runtime.store import NEIGHBOURS, Files, FileStore, MemoryStore

LAYOUT = ("Ledger", ("left", "right"), ("pages",))
TURNS = ((1,), (2, 0, 3), (0,), (4, 5))


class Crash(BaseException):
    """The process is gone."""


class Killed:
    """Stands for `os`: at the given call the process is gone, a write being half done."""

    CALLS = ("open", "write", "fsync", "fdatasync", "replace", "ftruncate", "lseek")

    def __init__(self, at):
        self.left = at

    def __getattr__(self, name):
        function = getattr(os, name)
        return self._counted(function) if name in self.CALLS else function

    def _counted(self, function):
        def call(*args, **named):
            self.left -= 1
            if self.left < 0:
                if function is os.write:
                    os.write(args[0], args[1][: len(args[1]) // 2])
                raise Crash
            return function(*args, **named)

        return call


class PowerLoss(Files):
    """A disk that keeps what was synced; of the rest, `survives` says how many bytes."""

    def __init__(self, folder, at, survives):
        super().__init__(folder)
        self.left, self.survives = at, survives
        self.synced = self.read()
        self.unsynced = b""

    def lock(self):
        pass

    def _point(self):
        self.left -= 1
        if self.left < 0:
            raise Crash

    def open(self, size):
        self.close()
        self.synced = self.read()[:size]
        self.unsynced = b""

    def append(self, data):
        self.unsynced += data
        self._point()

    def sync(self):
        self._point()
        self.synced += self.unsynced
        self.unsynced = b""
        self._point()

    def replace(self, data):
        self._point()
        before = self.read()
        super().replace(data)
        if self.left == 0 and self.survives(2) and before is not None:
            super().replace(before)  # the folder was not synced, and the old name is back
        self._point()

    def lose_power(self):
        self.close()
        rest = self.unsynced[: self.survives(len(self.unsynced) + 1)]
        garbage = bytes(self.survives(256) for _ in range(self.survives(3) * 4))
        if self.synced is not None:
            (self._folder / store_module.LOG).write_bytes(self.synced + rest + garbage)


def take_turns(node, history):
    """Some turns; `history` gets the sum after every step that was committed."""
    node.boot()
    node.flush()
    history.append(fields_of(node)["left"])
    for amounts in TURNS:
        for amount in amounts:
            add(node, amount)
            history.append(fields_of(node)["left"])
        node.turn()
        node.flush()


def check_recovered(folder, near, history, lives):
    node, _ = ledger_node(folder)
    node.boot()
    fields = fields_of(node)
    left = [message for message in near.left if message > 0]
    assert fields["left"] == fields["right"], "between two states"
    assert fields["left"] in history or not history
    assert fields["left"] >= max(left, default=0), "an effect has left before its sync"
    pages = [-message for message in near.left if message < 0]
    assert all(fields["pages"].read(page % 4) >= page for page in pages)
    assert all(0 < page <= fields["left"] for page in fields["pages"].stored.values())
    assert node.life in (lives, lives + 1)
    node.flush()
    node.store.close()


@pytest.mark.parametrize("limit", [1 << 20, 150])
def test_a_kill_at_every_point_leaves_a_state_before_or_after_a_step(limit, tmp_path, monkeypatch):
    crashes = 0
    for at in range(200):
        folder, history = tmp_path / str(at), []
        node, near = ledger_node(folder, limit=limit)
        monkeypatch.setattr(store_module, "os", Killed(at))
        try:
            take_turns(node, history)
        except Crash:
            crashes += 1
        monkeypatch.setattr(store_module, "os", os)
        release_lock(node)
        check_recovered(folder, near, history, 1)
        if crashes <= at:
            break
    assert crashes > 15


@pytest.mark.parametrize("limit", [1 << 20, 150])
def test_a_loss_of_power_at_every_point_loses_nothing_that_was_promised(limit, tmp_path):
    crashes = 0
    for at in range(200):
        chance = random.Random(at)
        folder, history = tmp_path / str(at), []
        folder.mkdir()
        files = PowerLoss(folder, at, chance.randrange)
        node, near = ledger_node(folder, limit=limit, files=files)
        try:
            take_turns(node, history)
        except Crash:
            crashes += 1
        files.lose_power()
        check_recovered(folder, near, history, 1)
        if crashes <= at:
            break
    assert crashes > 8


def release_lock(node):
    """What the kernel does for a process that is gone."""
    lock = getattr(node.store._files, "_lock", None)
    if lock is not None:
        os.close(lock)


def child(folder, pipe):
    """Steps without end, each effect told to the parent."""

    def leave(message):
        os.write(pipe, message.to_bytes(4, "big", signed=True))

    node, _ = ledger_node(folder, leave, limit=2000)
    node.boot()
    while True:
        for amount in (1, 0, 2):
            add(node, amount)
        node.turn()
        node.flush()


def kill_once(folder, chance, told):
    """Start a child, kill it somewhere, and add what it told to `told`."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            child(folder, writing)
        finally:
            os._exit(1)
    os.close(writing)
    wanted = chance.randrange(1, 40) * 4
    data = b""
    while len(data) < wanted and (more := os.read(reading, 4096)):
        data += more
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    while more := os.read(reading, 4096):
        data += more
    os.close(reading)
    told += [int.from_bytes(data[at : at + 4], "big", signed=True) for at in range(0, len(data), 4)]


@pytest.mark.parametrize("kills", [8, pytest.param(200, marks=pytest.mark.slow)])
def test_a_real_kill_leaves_a_state_before_or_after_a_step(kills, tmp_path):
    chance, told = random.Random(kills), []
    for life in range(1, kills + 1):
        before = len(told)
        kill_once(tmp_path, chance, told)
        assert len(told) > before
        node, _ = ledger_node(tmp_path)
        stored = node.store
        stored.load()
        fields = {name: node.automaton.codec.decode(v) for name, v in stored._stored.fields.items()}
        stored.close()
        release_lock(node)
        assert fields["left"] == fields["right"]
        assert fields["left"] >= max(told)
        assert stored._stored.life == 2 * life


def test_all_steps_of_a_turn_share_one_sync(tmp_path):
    node, near = ledger_node(tmp_path)
    node.boot()
    node.flush()
    before = node.store.syncs
    for amount in (1, 2, 3):
        add(node, amount)
    assert near.left == []
    node.flush()
    assert node.store.syncs == before + 1
    assert near.left == [1, 3, 6]


def test_a_turn_that_changes_nothing_durable_syncs_nothing(tmp_path):
    node, near = ledger_node(tmp_path)
    node.boot()
    node.flush()
    before = node.store.syncs
    add(node, 0)
    node.flush()
    assert node.store.syncs == before
    assert near.left == [0]


def test_a_log_is_written_anew_beyond_its_limit(tmp_path):
    store = FileStore(tmp_path, LAYOUT, limit=1000)
    store.load()
    for number in range(200):
        store.append([Change("left", b"x" * 20), Change("pages", b"%d" % number, b"k")])
        store.flush()
        assert (tmp_path / store_module.LOG).stat().st_size < 1200
    store.close()
    os.close(store._files._lock)
    again = FileStore(tmp_path, LAYOUT).load()
    assert again.fields == {"left": b"x" * 20}
    assert again.disks == {"pages": {b"k": b"199"}}
    assert again.entries == 200


def test_a_state_beyond_the_limit_is_not_written_anew_every_time(tmp_path):
    store = FileStore(tmp_path, LAYOUT, limit=1000)
    store.load()
    store.append([Change("left", b"x" * 5000)])
    store.flush()
    inode = (tmp_path / store_module.LOG).stat().st_ino
    store.append([Change("right", b"y")])
    store.flush()
    assert (tmp_path / store_module.LOG).stat().st_ino == inode


def test_a_damaged_tail_is_cut_off_and_counted(tmp_path):
    store = FileStore(tmp_path, LAYOUT)
    store.load()
    store.append([Change("left", b"1")])
    store.flush()
    store.close()
    os.close(store._files._lock)
    log = tmp_path / store_module.LOG
    log.write_bytes(log.read_bytes() + b"\x00\x00\x00\x05abcdrests")
    store = FileStore(tmp_path, LAYOUT)
    stored = store.load()
    assert (stored.fields, stored.discarded) == ({"left": b"1"}, 13)
    store.append([Change("left", b"2")])
    store.flush()
    os.close(store._files._lock)
    assert FileStore(tmp_path, LAYOUT).load().fields == {"left": b"2"}


def test_two_processes_cannot_have_one_folder(tmp_path):
    FileStore(tmp_path, LAYOUT).load()
    held = FileStore(tmp_path, LAYOUT)
    with pytest.raises(StoreError, match="in use by another process"):
        held.load()


def test_a_log_of_another_service_is_refused(tmp_path):
    store = FileStore(tmp_path, LAYOUT)
    store.load()
    os.close(store._files._lock)
    with pytest.raises(StoreError, match="`Ledger` with `left`, `right`, `pages`"):
        FileStore(tmp_path, ("Other", ("left",), ())).load()


def test_a_file_of_something_else_is_refused(tmp_path):
    (tmp_path / store_module.LOG).write_bytes(b"shopping list\n")
    with pytest.raises(StoreError, match="is not the log of a node"):
        FileStore(tmp_path, LAYOUT).load()


class FullDisk(Files):
    """A disk without room."""

    full = False

    def append(self, data):
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        super().append(data)


def test_on_a_full_disk_nothing_leaves_and_the_node_has_failed(tmp_path):
    files = FullDisk(tmp_path)
    node, near = ledger_node(tmp_path, files=files)
    node.boot()
    node.flush()
    files.full = True
    add(node, 1)
    with pytest.raises(StoreError, match="No space left on device"):
        node.flush()
    assert near.left == []
    assert "No space left" in near.failures[0]
    assert add(node, 1) is None
    files.full = False
    with pytest.raises(StoreError):
        node.flush()  # what is on disk is not known any more


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be used"):
        FileStore(Path(tmp_path / "file" / "folder"), LAYOUT).load()


def test_a_store_in_memory_keeps_what_was_flushed():
    store = MemoryStore()
    assert store.load().life == 1
    store.append([Change("left", b"1")])
    store.flush()
    store.append([Change("left", b"2")])
    store.crash()
    assert store.load().fields == {"left": b"1"}
    assert store.load().life == 3


def test_a_remark_outlives_the_process_without_a_sync(tmp_path):
    layout = ("Service", ("value",), ())
    store = FileStore(tmp_path, layout)
    store.load()
    syncs = store.syncs
    store.remark(Change(NEIGHBOURS, b"state", b"peer"))
    store.flush()
    assert store.syncs == syncs
    store.append([Change("value", b"1")])
    store.flush()
    assert store.syncs == syncs + 1
    store.close()
    store._files.unlock()
    stored = FileStore(tmp_path, layout).load()
    assert stored.disks[NEIGHBOURS] == {b"peer": b"state"}
    assert (stored.fields["value"], stored.entries) == (b"1", 1)


def test_a_remark_in_memory_is_lost_before_the_flush_alone():
    store = MemoryStore()
    store.load()
    store.remark(Change(NEIGHBOURS, b"1", b"peer"))
    store.flush()
    store.remark(Change(NEIGHBOURS, b"2", b"peer"))
    store.crash()
    assert store.load().disks[NEIGHBOURS] == {b"peer": b"1"} and store.syncs == 0
