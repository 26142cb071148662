"""The files of a simulated process, against a real folder."""

import json
import mmap
import os
import pathlib
import posix
import shutil
import sqlite3
import struct
import tempfile

import pytest
from unit.frontends.real.machine.file_scripts import run, script

from presage.frontends.real.machine import kernel
from presage.frontends.real.machine.disk import content, contents, crashed
from presage.frontends.real.machine.effects import Bypassed, Options
from presage.frontends.real.machine.names import Host
from presage.frontends.real.machine.process import Process
from presage.model.choice import Chooser, following
from presage.process.leaves import TABLE

assert kernel
SCRIPTS = 300


@pytest.fixture(autouse=True, scope="module")
def leaves():
    """They stand for all tests here: taking them takes time."""
    TABLE.up()
    yield
    TABLE.down()


def simulated(program, **options):
    """What `program` returns in a simulated process, and the process."""
    results = []
    process = Process(Host("n0", ["n0"]), lambda: results.append(program()), **options)
    process.begin()
    failures = process.collect().failures
    if failures:
        raise failures[0].error
    return results[0], process


def test_random_scripts_do_the_same_as_on_a_real_folder(tmp_path) -> None:
    for seed in range(SCRIPTS):
        steps = script(seed)
        root = tmp_path / str(seed)
        root.mkdir()
        real = run(str(root), steps)

        def program(steps=steps):
            os.mkdir("/data")
            return run("/data", steps)

        ours, _ = simulated(program)
        for at, (expected, got) in enumerate(zip(real, ours, strict=True)):
            shown = steps[at] if at < len(steps) else "tree"
            assert got == expected, f"seed {seed}, step {at}: {shown}"


def test_the_value_is_plain_and_begins_the_next_life() -> None:
    def program():
        os.makedirs("/var/raft/log")
        pathlib.Path("/var/raft/log/1").write_text("entry")
        os.symlink("1", "/var/raft/log/last")
        os.mkdir("/var/raft/empty")

    _, process = simulated(program)
    value = process.files.value()
    assert value == {
        "/var/raft/": b"",
        "/var/raft/empty/": b"",
        "/var/raft/log/": b"",
        "/var/raft/log/1": b"entry",
        "/var/raft/log/last": "1",
    }

    def again():
        return pathlib.Path("/var/raft/log/last").read_text(), os.listdir("/var/raft")

    found, process = simulated(again, files=value)
    assert found == ("entry", ["empty", "log"])
    assert process.files.value() == value


def test_relative_names_of_given_files_are_in_the_current_folder() -> None:
    found, process = simulated(lambda: open("seed.txt").read(), files={"seed.txt": b"7"})
    assert found == "7"
    assert process.files.contents() == {"/srv/seed.txt": b"7"}


def test_what_python_reads_is_there_and_writing_there_stays_in_the_table() -> None:
    real = pathlib.Path(json.__file__)
    before = real.read_bytes()

    def program():
        text = pathlib.Path(json.__file__).read_text()
        with open(json.__file__, "a") as file:
            file.write("# more")
        shown = pathlib.Path(json.__file__).read_text()
        names = os.listdir(os.path.dirname(json.__file__))
        os.remove(os.path.join(os.path.dirname(json.__file__), "tool.py"))
        return text, shown == text + "# more", "decoder.py" in names

    (text, changed, listed), process = simulated(program)
    assert text.encode() == before == real.read_bytes()
    assert changed and listed
    assert (real.parent / "tool.py").exists()
    value = process.files.value()
    assert value[str(real)] == before + b"# more"
    assert value[str(real.parent / "tool.py")] is None
    left, _ = simulated(lambda: os.path.exists(real.parent / "tool.py"), files=value)
    assert not left


def test_other_real_files_do_not_exist(tmp_path) -> None:
    (tmp_path / "secret").write_text("x")
    found, _ = simulated(lambda: os.path.exists(tmp_path / "secret"))
    assert not found


def test_a_real_file_that_is_not_found_is_named_with_its_line(tmp_path) -> None:
    (tmp_path / "settings").write_text("x")
    process = Process(Host("n0", ["n0"]), lambda: open(tmp_path / "settings"))
    process.begin()
    effects = process.collect()
    assert isinstance(effects.failures[0].error, FileNotFoundError)
    (line,) = [line for line in effects.logs if "real disk" in line]
    assert "test_files.py:" in line
    assert "Node(files={" in line


def test_a_process_writes_nothing_to_the_real_disk(tmp_path) -> None:
    def program():
        os.makedirs(tmp_path)
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"x")
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(json.__file__, folder)
        pathlib.Path(tmp_path, "left").write_text("here")
        return pathlib.Path(tmp_path, "left").read_text()

    found, _ = simulated(program)
    assert found == "here"
    assert list(tmp_path.iterdir()) == []


def test_what_nobody_flushed_is_not_in_the_file() -> None:
    held = []

    def program():
        file = open("f", "w")
        held.append(file)
        file.write("first\n")
        file.flush()
        file.write("second\n")

    _, process = simulated(program)
    assert process.files.contents() == {"/srv/f": b"first\n"}


def every(value, torn=False):
    """What each crash leaves of the files."""
    found, choices = [], []
    while choices is not None:
        chooser = Chooser(choices, extends=True)
        found.append(contents(crashed(value, chooser, torn=torn)))
        choices = following(chooser.taken)
    return found


def written(program, **more):
    _, process = simulated(program, options=Options(disk="fsync", **more))
    return process.files.value()


def test_a_crash_keeps_any_prefix_of_what_was_not_synced() -> None:
    def program():
        number = os.open("f", os.O_CREAT | os.O_WRONLY)
        os.write(number, b"kept")
        os.fsync(number)
        os.write(number, b"+1")
        os.write(number, b"+2")

    left = [files["/srv/f"] for files in every(written(program))]
    assert left == [b"kept", b"kept+1", b"kept+1+2"]


def test_a_torn_write_leaves_any_part_of_the_next_one() -> None:
    def program():
        number = os.open("f", os.O_CREAT | os.O_WRONLY)
        os.write(number, b"abc")

    left = {files["/srv/f"] for files in every(written(program), torn=True)}
    assert left == {b"", b"a", b"ab", b"abc"}


def test_a_rename_without_fsync_can_leave_an_empty_file() -> None:
    def program(sync: bool):
        with open("f.new", "w") as file:
            file.write("new")
            if sync:
                file.flush()
                os.fsync(file.fileno())
        os.replace("f.new", "f")

    careless = [files["/srv/f"] for files in every(written(lambda: program(False)))]
    careful = [files["/srv/f"] for files in every(written(lambda: program(True)))]
    assert careless == [b"", b"new"]
    assert careful == [b"new"]


def test_files_lose_their_writes_independently() -> None:
    def program():
        for name in ("a", "b"):
            pathlib.Path(name).write_text(name)

    left = every(written(program))
    assert len(left) == 4
    assert {(each["/srv/a"], each["/srv/b"]) for each in left} == {
        (a, b) for a in (b"", b"a") for b in (b"", b"b")
    }


def test_a_map_shares_the_bytes_of_its_file() -> None:
    def program():
        with open("j", "w+b") as file:
            file.write(bytes(16))
            file.flush()
            shared = mmap.mmap(file.fileno(), 16)
            assert isinstance(shared, mmap.mmap)
            struct.pack_into("<I", shared, 4, 7)
            shared[0:2] = b"ab"
            file.seek(0)
            seen = file.read(8)
            os.pwrite(file.fileno(), b"zz", 14)
            tail = shared[12:]
            shared.resize(20)
            return seen, tail, shared.size(), len(shared)

    found, process = simulated(program)
    assert found == (b"ab\0\0\7\0\0\0", b"\0\0zz", 20, 20)
    assert process.files.contents()["/srv/j"] == b"ab\0\0\7" + bytes(9) + b"zz" + bytes(4)


def test_an_open_for_real_is_named_with_its_line(tmp_path) -> None:
    (tmp_path / "secret").write_text("x")
    descriptor = os.open(tmp_path, os.O_RDONLY)
    os.close(descriptor)
    opener = HIDDEN[0]

    with pytest.raises(Bypassed, match="test_files.py:.*reads the real file.*secret") as caught:
        simulated(lambda: opener(str(tmp_path / "secret"), os.O_RDONLY))
    assert "Node(files=" in str(caught.value)
    with pytest.raises(Bypassed, match="writes the real file"):
        simulated(lambda: opener(str(tmp_path / "new"), os.O_WRONLY | os.O_CREAT))
    assert not (tmp_path / "new").exists()


HIDDEN = [posix.open]  # a list: names that modules have are replaced


def test_a_database_is_in_memory_or_refused(tmp_path) -> None:
    def program(name):
        with sqlite3.connect(name) as database:
            return database.execute("select 1").fetchone()

    assert simulated(lambda: program(":memory:"))[0] == (1,)
    with pytest.raises(Bypassed, match="database"):
        simulated(lambda: program(str(tmp_path / "x.db")))


def test_stored_pairs_hold_what_the_process_saw() -> None:
    assert content((b"abc", ((1, b"X"), (5, b"Y"), (3,)))) == b"aXc"
