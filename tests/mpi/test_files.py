"""Files: what reading and writing do, against a plain model; what is left on the disk; orders."""

from random import Random

import pytest
from mpi.scripts import outcomes, written

from presage.frontends.mpi.data import layout as layouts
from presage.frontends.mpi.data.predefined import TYPES
from presage.frontends.mpi.io import views
from presage.frontends.mpi.io.server import Content
from presage.frontends.mpi.launch.run import mpirun
from presage.search.scripts import check_script

OPEN = 'fh = MPI.File.Open(comm, "some.data", MPI.MODE_RDWR | MPI.MODE_CREATE)\n'
SNIPPETS = {
    "positions": """
fh.Write_at_all(2 * rank, bytes([rank, rank]))
fh.Sync()
box = bytearray(2)
fh.Seek(2)
fh.Read(box)
assert box == bytes([1, 1]) and fh.Get_position() == 4
fh.Seek(-2, MPI.SEEK_CUR)
fh.Read(box)
assert box == bytes([1, 1])
fh.Seek(-2, MPI.SEEK_END)
status = MPI.Status()
long = bytearray(b"....")
fh.Read(long, status)
assert long == bytes([2, 2]) + b".." and status.Get_count() == 2
assert fh.Get_size() == fh.size == 6
""",
    "views": """
from array import array
filetype = MPI.INT.Create_vector(2, 1, size)
filetype.Commit()
fh.Set_view(4 * rank, MPI.INT, filetype)
assert fh.Get_view()[0] == 4 * rank and fh.Get_view()[3] == "native"
assert fh.Get_byte_offset(1) == 4 * rank + 4 * size
fh.Write_all(array("i", [rank, 10 + rank]))
assert fh.Get_position() == 2
fh.Set_view(0, MPI.INT)
box = array("i", [0] * 2 * size)
fh.Read_all(box)
assert box.tolist() == [*range(size), *range(10, 10 + size)], box
filetype.Free()
whole = MPI.INT.Create_contiguous(1).Commit()
resized = whole.Create_resized(0, 8)
resized.Commit()
fh.Set_view(4, MPI.INT, resized)
box = array("i", [0] * 2)
fh.Read_at(1, box)
assert box.tolist() == [10, 12], box
whole.Free()
resized.Free()
""",
    "shared positions": """
fh.Write_ordered(bytes([rank] * (rank + 1)))
box = bytearray(6)
fh.Read_at(0, box)
assert box == bytes([0, 1, 1, 2, 2, 2]) and fh.Get_position_shared() == 6
fh.Seek_shared(0)
one = bytearray(1)
fh.Read_shared(one)
assert sorted(comm.allgather(one[0])) == [0, 1, 1]
fh.Seek_shared(3)
fh.Read_ordered(one)
assert one[0] == 2
fh.Write_shared(bytes([7]))
comm.barrier()
assert fh.Get_size() == 9
""",
    "sizes": """
fh.Set_size(5)
assert fh.Get_size() == 5
fh.Preallocate(3)
assert fh.Get_size() == 5
fh.Preallocate(8)
assert fh.Get_size() == 8
fh.Set_atomicity(True)
assert fh.Get_atomicity() and fh.amode == MPI.MODE_RDWR | MPI.MODE_CREATE
""",
    "requests": """
if rank == 0:
    one, two = fh.Iwrite(b"ab"), fh.Iwrite(b"cd")
    MPI.Request.Waitall([one, two])
    box = bytearray(4)
    request = fh.Iread_at(0, box)
    request.Wait()
    assert box == b"abcd"
""",
    "again": """
fh.Write_at_all(rank, bytes([65 + rank]))
fh.Close()
fh = MPI.File.Open(comm, "./some.data", MPI.MODE_RDWR | MPI.MODE_APPEND)
assert fh.Get_position() == size
own = MPI.File.Open(MPI.COMM_SELF, "some.data")
box = bytearray(size)
own.Read(box)
assert box == bytes(range(65, 65 + size))
own.Close()
try:
    MPI.File.Open(comm, "nothing.data", MPI.MODE_RDONLY)
except MPI.Exception:
    pass
else:
    raise AssertionError
""",
    "deleted": """
fh.Close()
comm.barrier()
if rank == 0:
    MPI.File.Delete("some.data")
comm.barrier()
fh = MPI.File.Open(comm, "some.data", MPI.MODE_WRONLY | MPI.MODE_CREATE | MPI.MODE_EXCL)
""",
}


@pytest.mark.parametrize("name", SNIPPETS)
def test_a_snippet_asserts_for_itself(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for outcome in outcomes(tmp_path, OPEN + SNIPPETS[name] + "fh.Close()\n"):
        assert outcome.is_ok, outcome
    assert not (tmp_path / "some.data").exists()


def random_view(random):
    """A view, and the bytes of the file that it shows, one by one."""
    width, count = random.choice((1, 4)), random.randint(1, 3)
    offsets = tuple(sorted(random.sample(range(6), count)))
    span = offsets[-1] + random.randint(1, 3)
    disp = random.randint(0, 5)

    class Like:
        layout = layouts.resized(
            layouts.blocks(
                TYPES["INT" if width == 4 else "BYTE"].layout, [(1, width * at) for at in offsets]
            ),
            0,
            width * span,
        )

    shown = [
        disp + width * (tile * span + offset) + i
        for tile in range(8)
        for offset in offsets
        for i in range(width)
    ]
    return views.View(disp, TYPES["BYTE"], Like), shown


def test_views_show_what_their_types_say():
    random = Random(1)
    for _ in range(500):
        view, shown = random_view(random)
        start = random.randint(0, len(shown) - 1)
        size = random.randint(0, len(shown) - start)
        found = [at + i for at, n in view.runs(start, size) for i in range(n)]
        assert found == shown[start : start + size]
        end = random.randint(0, shown[-1])
        assert view.data_within(end) == sum(at < end for at in shown)


def test_random_steps_do_what_plain_bytes_do():
    random = Random(2)
    for _ in range(100):
        held, plain = Content("name", b"12345"), bytearray(b"12345")
        for _ in range(20):
            at, size = random.randint(0, 12), random.randint(0, 4)
            kind = random.choice(("read", "write", "resize", "grow", "size"))
            if kind == "read":
                assert held.do("read", ((at, size),)) == plain[at : at + size]
            elif kind == "write":
                data = random.randbytes(size)
                held.do("write", ((at, size),), data)
                plain.extend(bytes(max(0, at + size - len(plain))))
                plain[at : at + size] = data
            elif kind == "resize":
                held.do("resize", at)
                plain = plain[:at] + bytes(max(0, at - len(plain)))
            elif kind == "grow":
                held.do("grow", at)
                plain.extend(bytes(max(0, at - len(plain))))
            assert held.do("size") == len(plain)


WRITES = OPEN + "fh.Write_at_all(rank, bytes([65 + rank]))\nfh.Close()\n"


def test_a_plain_run_writes_the_file_and_a_check_does_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, WRITES)
    report = check_script(path, 3, traces=None)
    assert report.exhausted and not report.violations
    assert not (tmp_path / "some.data").exists()
    assert mpirun(path, 3).is_ok
    assert (tmp_path / "some.data").read_bytes() == b"ABC"


def test_a_file_begins_as_the_one_on_the_disk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some.data").write_bytes(b"xyz")
    text = OPEN + "box = bytearray(3)\nfh.Read_at(0, box)\nassert box == b'xyz'\n"
    path = written(tmp_path, text + "comm.barrier()\nfh.Write_at(0, b'!')\nfh.Close()\n")
    assert not check_script(path, 2, traces=None).violations
    assert (tmp_path / "some.data").read_bytes() == b"xyz"


def test_collective_writes_need_not_wait_for_each_other(tmp_path):
    text = OPEN + (
        "fh.Write_at_all(rank, bytes([65 + rank]))\n{sync}box = bytearray(2)\nfh.Read_at(0, box)\n"
        "assert box == b'AB'\nfh.Close()\n"
    )
    path = written(tmp_path, text.format(sync=""))
    found = check_script(path, 2, traces=None).violations
    assert [each.kind for each in found] == ["exception"]
    path = written(tmp_path, text.format(sync="fh.Sync()\n"))
    assert not check_script(path, 2, traces=None).violations


def test_a_file_that_is_left_open_is_named(tmp_path):
    [found, *_] = check_script(written(tmp_path, OPEN), 2, traces=None).violations
    assert found.kind == "leak"
    assert "the file some.data, " in found.message and "script.py:6, is not closed" in found.message


def test_traces_tell_what_is_asked_of_files(tmp_path):
    text = OPEN + "fh.Write_at(2, b'ab')\nassert False\n"
    [found] = check_script(written(tmp_path, text), 1, buffering="zero", traces=None).violations
    labels = [step.label for step in found.trace.steps]
    assert "some.data to the keeper of files" in labels
    assert "Write_at [write 2 bytes at 2 : 61 62] to file some.data" in labels
    assert "from file some.data" in labels
