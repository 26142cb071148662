"""Communicators of two groups: what every call gives, and what is said of wrong ones."""

from random import Random

import pytest
from mpi.scripts import outcomes, written

from presage.frontends.mpi.core.groups import NO_ROOT, ONE_OF_US, TwoGroups
from presage.search.scripts import check_script

HEAD = """\
from array import array
first = {first}
leaders = {leaders}
values = {values}
near = rank < first
mine = values[rank]
local = comm.Split(0 if near else 1)
inter = local.Create_intercomm(leaders[not near], comm, [first + leaders[1], leaders[0]][not near])
others = values[first:] if near else values[:first]
def root(group, number):  # what to say, if the root is this rank of this group
    if near == (group == 1):
        return number
    return MPI.ROOT if local.rank == number else MPI.PROC_NULL
"""
TAIL = "inter.Free()\nlocal.Free()\n"


def head(seed, most=3):
    random = Random(seed)
    sizes = random.randint(1, most), random.randint(1, most)
    leaders = [random.randrange(size) for size in sizes]
    values = [random.randint(-9, 9) for _ in range(sum(sizes))]
    group = random.randint(0, 1)
    text = HEAD.format(first=sizes[0], leaders=leaders, values=values)
    return text + f"group, at = {group}, {random.randrange(sizes[group])}\n", sum(sizes)


def holds(folder, text, seed):
    start, ranks = head(seed)
    for outcome in outcomes(folder, start + text + TAIL, ranks):
        assert outcome.is_ok, outcome


def kinds(folder, text, ranks=2):
    report = check_script(written(folder, text), ranks, traces=None)
    assert report.exhausted or report.violations
    return {broken.kind for broken in report.violations}


ASKED = """
assert (inter.Get_size(), inter.Get_rank()) == (local.size, local.rank)
assert inter.Get_remote_size() == inter.remote_size == len(others) == size - local.size
assert inter.is_inter and not inter.is_intra and not local.is_inter and local.is_intra
assert inter.Is_inter() and isinstance(inter, MPI.Intercomm) and isinstance(inter, MPI.Comm)
far, own, world = inter.remote_group, inter.Get_group(), comm.Get_group()
expected = list(range(first, size)) if near else list(range(first))
assert MPI.Group.Translate_ranks(far, None, world) == expected
assert far.Get_size() == inter.remote_size and far.rank == MPI.UNDEFINED and own.rank == local.rank
assert inter.Compare(inter) == MPI.IDENT and inter.Compare(comm) == MPI.UNEQUAL
again = inter.Dup()
assert inter.Compare(again) == MPI.CONGRUENT and again != inter
assert again.allgather(mine) == others
for each in (far, own, world, again):
    each.Free()
assert again == MPI.COMM_NULL and not again
"""

MERGED = """
for high in (False, True):
    one = inter.Merge(high == near)
    last = range(first) if high else range(first, size)
    order = [at for at in range(size) if at not in last] + list(last)
    assert one.allgather(rank) == order and one.rank == order.index(rank) and one.is_intra
    one.Free()
same = inter.Merge()
assert sorted(same.allgather(rank)) == list(range(size))
same.Disconnect()
"""

POINTS = """
status = MPI.Status()
out = inter.isend((mine, local.rank), dest=local.rank % inter.remote_size, tag=3)
senders = [at for at in range(inter.remote_size) if at % local.size == local.rank]
for at in senders:
    assert inter.probe(source=at, tag=3, status=status) and status.source == at
    assert inter.recv(source=at, tag=3, status=status) == (others[at], at)
    assert (status.source, status.tag) == (at, 3)
out.wait()
box = array('i', [0])
send = inter.Isend(array('i', [mine]), dest=local.rank % inter.remote_size, tag=4)
got = {}
for _ in senders:
    inter.Recv([box, MPI.INT], source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
    got[status.source] = box[0]
send.Wait()
assert got == {at: others[at] for at in senders}
if local.rank < inter.remote_size and local.size == inter.remote_size:
    assert inter.sendrecv(mine, local.rank, source=local.rank) == others[local.rank]
    take = inter.irecv(source=local.rank)
    inter.send([mine], dest=local.rank)
    assert take.wait() == [others[local.rank]]
inter.send(1, dest=MPI.PROC_NULL)
"""

OBJECTS = """
inter.barrier()
said = inter.bcast(['x', mine] if root(group, at) == MPI.ROOT else None, root=root(group, at))
assert said == (['x', others[at]] if near == (group == 1) else None)
parts = [(mine, each) for each in range(inter.remote_size)]
got = inter.scatter(parts if root(group, at) == MPI.ROOT else None, root=root(group, at))
assert got == ((others[at], local.rank) if near == (group == 1) else None)
got = inter.gather(mine, root=root(group, at))
assert got == (others if root(group, at) == MPI.ROOT else None)
got = inter.reduce(mine, op=MPI.MAX, root=root(group, at))
assert got == (max(others) if root(group, at) == MPI.ROOT else None)
assert inter.allgather((mine,)) == [(each,) for each in others]
assert inter.alltoall(parts) == [(each, local.rank) for each in others]
assert inter.allreduce(mine) == sum(others)
assert inter.allreduce([mine], op=MPI.SUM) == others
"""

LATER = """
inter.ibarrier().wait()
said = inter.ibcast(mine, root=root(group, at)).wait()
assert said == (others[at] if near == (group == 1) else None)
parts = [(mine, each) for each in range(inter.remote_size)]
got = inter.iscatter(parts, root=root(group, at)).wait()
assert got == ((others[at], local.rank) if near == (group == 1) else None)
got = inter.igather(mine, root=root(group, at)).wait()
assert got == (others if root(group, at) == MPI.ROOT else None)
got = inter.ireduce(mine, op=MPI.MIN, root=root(group, at)).wait()
assert got == (min(others) if root(group, at) == MPI.ROOT else None)
both = inter.iallgather(mine), inter.iallreduce(mine, op=MPI.MAX), inter.ialltoall(parts)
assert both[2].wait() == [(each, local.rank) for each in others]
assert both[1].wait() == max(others) and both[0].wait() == others
"""

BUFFERS = """
is_root, is_other = root(group, at) == MPI.ROOT, near == (group == 1)
def ints(values):
    return array('i', values)
for name in 'Bcast', 'Ibcast':
    box = ints([mine] if is_root else [0])
    done = getattr(inter, name)([box, MPI.INT] if is_root or is_other else None, root(group, at))
    done and done.Wait()
    assert box[0] == (mine if is_root else others[at] if is_other else 0)
many = ints([mine * 2, mine] * inter.remote_size)
for name in 'Scatter', 'Iscatter', 'Scatterv':
    box = ints([0, 0])
    given = many if is_root else None, box if is_other else None
    done = getattr(inter, name)(*given, root(group, at))
    done and done.Wait()
    assert box.tolist() == ([others[at] * 2, others[at]] if is_other else [0, 0])
for name in 'Gather', 'Igather', 'Gatherv':
    box = ints([0] * inter.remote_size)
    done = getattr(inter, name)(ints([mine]), box if is_root else None, root=root(group, at))
    done and done.Wait()
    assert box.tolist() == (others if is_root else [0] * inter.remote_size)
for name in 'Reduce', 'Ireduce':
    box = ints([0, 0])
    done = getattr(inter, name)(
        ints([mine, 1]) if is_other else None, box if is_root else None, MPI.SUM, root(group, at))
    done and done.Wait()
    assert box.tolist() == ([sum(others), len(others)] if is_root else [0, 0])
for name in 'Allgather', 'Iallgather':  # of other lengths and types both ways
    if near:
        box = array('d', [0] * 2 * inter.remote_size)
        done = getattr(inter, name)(ints([mine]), box)
    else:
        box = ints([0] * inter.remote_size)
        done = getattr(inter, name)(array('d', [mine, mine]), box)
    done and done.Wait()
    assert box.tolist() == ([each for each in others for _ in range(2)] if near else others)
counts = [1 + at for at in range(inter.remote_size)]
box = ints([0] * inter.remote_size * (1 + local.rank))
inter.Alltoallv([ints([mine] * sum(counts)), counts, MPI.INT],
                [box, [1 + local.rank] * inter.remote_size, MPI.INT])
assert box.tolist() == [each for each in others for _ in range(1 + local.rank)]
box = ints([0] * inter.remote_size)
inter.Alltoall(ints([mine] * inter.remote_size), box)
assert box.tolist() == others
for name in 'Allreduce', 'Iallreduce':
    box = ints([0])
    done = getattr(inter, name)(ints([mine]), box, op=MPI.PROD)
    done and done.Wait()
    product = 1
    for each in others:
        product *= each
    assert box[0] == product
"""

SPLIT = """
color = local.rank % 2
part = inter.Split(color, key=-local.rank)
if local.size > color and inter.remote_size > color:
    assert part.allgather(mine) == others[color::2][::-1] and part.is_inter
    part.Free()
else:
    assert part == MPI.COMM_NULL
assert inter.Split(MPI.UNDEFINED) == MPI.COMM_NULL
"""


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "text",
    [ASKED, MERGED, POINTS, OBJECTS, LATER, BUFFERS, SPLIT],
    ids=["asked", "merged", "points", "objects", "later", "buffers", "split"],
)
def test_calls_give_what_mpi_says(text, seed, tmp_path):
    holds(tmp_path, text, seed)


@pytest.mark.parametrize("text", [MERGED, OBJECTS, LATER], ids=["merged", "objects", "later"])
def test_calls_hold_in_every_order(text, tmp_path):
    start, ranks = head(3, most=2)
    report = check_script(written(tmp_path, start + text + TAIL), ranks, traces=None)
    assert report.exhausted and not report.violations


TWO = """
local = comm.Split(rank % 2)
inter = local.Create_intercomm(0, comm, 1 - rank % 2)
even = rank % 2 == 0
"""
FREED = "inter.Free()\nlocal.Free()\n"

# A wrong line, the right one, and what is reported.
TWINS = [
    (
        "inter.bcast(1, root=0)",
        "inter.bcast(1, root=0 if even else MPI.ROOT)",
        "collective-mismatch",
    ),
    (
        "inter.bcast(1, root=0 if even else MPI.PROC_NULL)",
        "inter.bcast(1, root=MPI.ROOT if even else 0)",
        "collective-mismatch",
    ),
    ("inter.barrier() if even else inter.allgather(1)", "inter.barrier()", "collective-mismatch"),
    (
        "inter.allreduce(1, op=MPI.SUM if even else MPI.MAX)",
        "inter.allreduce(1, op=MPI.MAX)",
        "collective-mismatch",
    ),
    ("inter.bcast(1, root=7)", "inter.bcast(1, root=MPI.ROOT if even else 0)", "invalid-argument"),
    ("inter.scan(1)", "local.scan(1)", "invalid-argument"),
    ("even and inter.recv()", "inter.recv() if even else inter.send(1, dest=0)", "deadlock"),
    ("inter.send(1, dest=1)", "inter.sendrecv(1, dest=0)", "invalid-argument"),
    ("inter.bsend(1, dest=0)", "inter.bsend(1, dest=0)\ninter.recv()", "unmatched"),
    (
        "inter.send(1, dest=0)\ninter.recv(source=0)",
        "even and inter.send(1, dest=0)\ninter.recv()\neven or inter.send(1, dest=0)",
        "buffer-hazard",
    ),
    ("inter.Dup()", "inter.Dup().Free()", "leak"),
    ("even and inter.Dup().Disconnect()", "inter.Dup().Disconnect()", "deadlock"),
    ("inter.irecv()\ninter.send(1, dest=0)", "inter.sendrecv(1, dest=0)", "leaked-request"),
    (
        "from array import array\ninter.Bcast(array('i' if even else 'd', [1]), "
        "root=0 if even else MPI.ROOT)",
        "from array import array\ninter.Bcast(array('d', [1]), root=0 if even else MPI.ROOT)",
        "type-mismatch",
    ),
    (
        "from array import array\ninter.Reduce(array('i', [1] * (1 + even)), array('i', [1]), "
        "root=0 if even else MPI.ROOT)",
        "from array import array\ninter.Reduce(array('i', [1]), array('i', [1]), "
        "root=0 if even else MPI.ROOT)",
        "count-mismatch",
    ),
    (
        "from array import array\ninter.Allreduce(MPI.IN_PLACE, array('i', [1]))",
        "from array import array\ninter.Allreduce(array('i', [1]), array('i', [1]))",
        "invalid-argument",
    ),
]


@pytest.mark.parametrize(("wrong", "right", "kind"), TWINS, ids=[each[0] for each in TWINS])
def test_a_mistake_is_told_from_its_correct_twin(wrong, right, kind, tmp_path):
    assert kind in kinds(tmp_path, TWO + wrong + "\n" + FREED)
    assert kinds(tmp_path, TWO + right + "\n" + FREED) == set()


@pytest.mark.parametrize(
    "roots",
    ["01NR", "1R0N", "00NN", "NNNN", "RR00", "0RNN"],
)
def test_who_says_what_of_the_root_has_to_agree(roots, tmp_path):
    said = [{"N": "MPI.PROC_NULL", "R": "MPI.ROOT"}.get(each, each) for each in roots]
    for name in ("bcast", "gather", "ibcast", "igather"):
        wait = ".wait()" if name[0] == "i" else ""
        text = f"inter.{name}(1, root=[{', '.join(said)}][rank]){wait}\n"
        ends = {outcome.kind for outcome in outcomes(tmp_path, TWO + text + FREED, 4)}
        assert ends == {"collective-mismatch"}, name


def test_a_mismatch_names_what_was_said_of_the_root(tmp_path):
    path = written(tmp_path, TWO + "inter.bcast(1, root=1 if even else MPI.ROOT)\n")
    texts = [v.message for v in check_script(path, 4, traces=None).violations]
    assert any(
        "calls bcast(root=1) at " in t and "calls bcast(root=MPI.ROOT) at " in t for t in texts
    )


def test_leaders_that_do_not_meet_wait_for_ever(tmp_path):
    text = "local = comm.Split(rank % 2)\ninter = local.Create_intercomm(0, comm, {})\n" + FREED
    assert kinds(tmp_path, text.format("1 - rank % 2, tag=rank % 2")) == {"deadlock"}
    assert kinds(tmp_path, text.format("1 - rank % 2, tag=5")) == set()
    assert kinds(tmp_path, text.format("rank")) == {"invalid-argument"}
    assert kinds(tmp_path, text.format("9")) == {"invalid-argument"}
    text = "inter = comm.Create_intercomm(rank, comm, 1 - rank)\ninter.Free()\n"
    assert kinds(tmp_path, text) == {"collective-mismatch"}
    text = "inter = comm.Create_intercomm(0, comm, 1)\ninter.Free()\n"  # the groups are one
    assert kinds(tmp_path, text) == {"deadlock"}


@pytest.mark.parametrize("seed", range(300))
def test_a_claim_agrees_with_what_is_so(seed):
    """Members agree pairwise if and only if there is a root that fits what all of them say."""
    random = Random(seed)
    sides = TwoGroups(random.randint(1, 3), 0, ("a", "b"), {})
    sides = sides._replace(size=sides.first + random.randint(1, 3))

    def possible(root, at):
        """What a member says, if this is the root."""
        return ONE_OF_US[sides.of(at)] if sides.of(root) == sides.of(at) and root != at else root

    real = random.randrange(sides.size)
    said = [possible(real, at) for at in range(sides.size)]
    for _ in range(random.randint(0, 2)):
        at = random.randrange(sides.size)
        said[at] = possible(random.randrange(sides.size), at)
    pairs = [(a, b) for a in range(sides.size) for b in range(a)]
    agree = all(sides.agree(said[a], a, said[b], b) for a, b in pairs)
    fits = any(
        all(said[at] == possible(root, at) for at in range(sides.size))
        for root in range(sides.size)
    )
    assert agree == fits
    assert not sides.agree(NO_ROOT, 0, said[0], 0)
