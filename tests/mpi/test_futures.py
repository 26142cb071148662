"""`mpi4py.futures` and `mpi4py.util.pool`: tasks for ranks that are spawned, or are there."""

import pytest
from mpi.explore import explore
from mpi.scripts import outcomes, written

from presage.frontends.mpi import script
from presage.frontends.mpi.launch.run import play
from presage.process.fence import Fence
from presage.search.scripts import check_script, program_of, target_of

TASKS = """
from mpi4py.futures import *
import concurrent.futures
def square(x): return x * x, get_comm_workers().rank
def fails(): raise KeyError("no")
def same(x): return x
def prepare(mood):
    global MOOD
    MOOD = mood
def mood(): return MOOD, __name__
class Own:
    def __init__(self, value): self.value = value
"""
SCRIPTS = {
    "results, errors and chunks": """
with MPIPoolExecutor(2, initializer=prepare, initargs=("good",)) as executor:
    begun = [executor.submit(square, x) for x in range(3)]
    assert sorted(each.result()[0] for each in as_completed(begun)) == [0, 1, 4]
    assert not concurrent.futures.wait(begun).not_done and executor.num_workers == 2
    assert {each.result()[1] for each in begun} <= {0, 1}
    for raised in (executor.submit(fails), executor.submit(lambda: 0)):
        assert isinstance(raised.exception(), (KeyError, Exception))
    assert executor.submit(mood).result() == ("good", "__worker__")
    assert executor.submit(Own, 7).result().value == 7
    assert list(executor.map(same, range(7), chunksize=3)) == list(range(7))
    assert list(executor.map(same, range(5), buffersize=2)) == list(range(5))
    assert sorted(executor.map(same, range(4), unordered=True)) == [0, 1, 2, 3]
    total = compose(collect([executor.submit(same, x) for x in range(4)]), sum)
    assert total.result() == 6
    assert compose(executor.submit(fails), excepthook=str).result() == "'no'"
try:
    executor.submit(same, 1)
    assert False
except RuntimeError:
    assert executor.num_workers == 0
""",
    "what nobody has begun is cancelled": """
import time
executor = MPIPoolExecutor(1)
begun = [executor.submit(time.sleep, 1) for _ in range(3)]
try:
    begun[2].result(timeout=0.1)
    assert False
except TimeoutError:
    pass
executor.shutdown(wait=False, cancel_futures=True)
assert not begun[0].cancelled() and begun[2].cancelled()
executor.shutdown()
assert begun[0].done()
""",
    "an initializer that fails": """
executor = MPIPoolExecutor(2, initializer=fails)
assert isinstance(executor.submit(same, 1).exception(), BrokenExecutor)
executor.shutdown()
""",
    "the end of a script waits for tasks": """
executor = MPIPoolExecutor(1)
future = executor.submit(same, 1)
""",
    "a pool as that of multiprocessing": """
from mpi4py.util.pool import Pool, ThreadPool
for kind in (Pool, ThreadPool):
    got = []
    with kind(2) as pool:
        assert pool.map(same, range(9)) == list(range(9))
        assert pool.apply(pow, (2, 3)) == 8
        assert pool.starmap(pow, [(2, 1), (2, 2)]) == [2, 4]
        assert sorted(pool.imap_unordered(same, range(4))) == [0, 1, 2, 3]
        result = pool.map_async(same, range(5), callback=got.append)
        assert result.get() == list(range(5)) == got[0] and result.successful()
        assert not pool.apply_async(fails, error_callback=got.append).wait()
        assert isinstance(got[1], KeyError)
    pool.join()
""",
}
COMM = """
from mpi4py.futures import MPICommExecutor, get_comm_workers
def square(x): return x * x, get_comm_workers().size
with MPICommExecutor(comm, root=1) as executor:
    assert (executor is None) == (rank != 1)
    if executor is not None:
        assert list(executor.map(square, range(4))) == [(x * x, 2) for x in range(4)]
comm.barrier()
"""
FIRST = """
from mpi4py.futures import MPIPoolExecutor, as_completed
def same(x): return x
if __name__ == "__main__":
    with MPIPoolExecutor(2) as executor:
        begun = [executor.submit(same, x) for x in range(2)]
        got = [each.result() for each in {}(begun)]
        assert got == [0, 1], got
"""


SHARED = """
from mpi4py.futures import *
def same(x): return x, get_comm_workers().size, __name__
def fails(): raise KeyError("no")
def prepare(mood):
    global MOOD
    MOOD = mood
def mood(): return MOOD
WORKERS = {ranks} - 1 or 1
if __name__ == "__main__":
    assert rank == 0
    with MPIPoolExecutor(initializer=prepare, initargs=("first",)) as executor:
        assert executor.num_workers == WORKERS
        assert {{executor.submit(mood).result() for _ in range(4)}} == {{"first"}}
    with MPIPoolExecutor(9) as executor, MPIPoolExecutor() as other:
        futures = [each.submit(same, x) for x in range(2) for each in (executor, other)]
        name = "__main__" if size == 1 else "__worker__"
        assert [each.result() for each in futures] == [(x, WORKERS, name) for x in (0, 0, 1, 1)]
    with MPIPoolExecutor(initializer=fails) as executor:
        assert isinstance(executor.submit(same, 1).exception(), BrokenExecutor)
    with MPICommExecutor() as executor:
        assert executor.submit(mood).result() == "first"
    executor = MPIPoolExecutor(initializer=prepare, initargs=("last",))
    executor.bootup()
    assert {{executor.submit(mood).result() for _ in range(4)}} == {{"last"}}
    executor.submit(same, 1)
else:
    assert rank and __name__ == "__worker__"
"""


@pytest.mark.parametrize("buffering", ["zero:ordered", "eager:ordered"])
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_ranks_are_workers_of_all_executors_of_the_first(ranks, buffering, tmp_path):
    written(tmp_path, SHARED.format(ranks=ranks))
    with Fence():
        outcome = play(script(command(tmp_path), ranks, (), buffering))
    assert outcome.is_ok, outcome


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "ok"),
        ("assert rank == 0\n", "ok"),
        ("import sys\nprint(1 / int(sys.argv[1]))\n", "exception"),
        ("import sys\nsys.exit(3)\n", "abort"),
    ],
)
def test_workers_without_an_executor_end_with_the_script(text, kind, tmp_path):
    written(tmp_path, text)
    with Fence():
        assert play(script(command(tmp_path), 3, ("0",), "zero:ordered")).kind == kind


def test_a_search_tries_every_order_in_which_shared_workers_end(tmp_path):
    own = FIRST.replace("MPIPoolExecutor(2)", "MPIPoolExecutor()")
    written(tmp_path, own.format("as_completed"))
    (found,) = check_script(command(tmp_path), 3, buffering="eager").violations
    assert found.prop == "no_exception" and "[1, 0]" in found.message
    written(tmp_path, own.format("list"))
    report = check_script(command(tmp_path), 3, buffering="eager")
    assert report.exhausted and not report.violations


def test_a_trace_names_a_script_and_how_it_is_run(tmp_path):
    written(tmp_path, 'import sys\nassert rank == 0 and sys.argv[1:] == ["a b", "--futures"]\n')
    words = ("a b", "--futures")
    for path in (command(tmp_path), tmp_path / "script.py"):
        target = target_of(path, 2, words, "eager:ordered")
        assert target.startswith(str(tmp_path / "script.py"))
        with Fence():
            outcome = play(program_of(target))
        assert outcome.is_ok == (path != tmp_path / "script.py"), outcome
    for target in ("a.py --mpi x --buffering zero", "a.py --mpi 2", "a.py --futures --mpi 2"):
        with pytest.raises(ValueError):
            program_of(target)


def command(folder):
    return f"python -m mpi4py.futures {folder / 'script.py'}"


@pytest.mark.parametrize("name", SCRIPTS)
def test_executors(name, tmp_path):
    body = "\n".join(f"    {line}" for line in SCRIPTS[name].splitlines())
    text = f'{TASKS}\nif __name__ == "__main__":\n    MPI.Is_initialized()\n{body}\n'
    with Fence():
        outcome = play(script(written(tmp_path, text), 1, (), "zero:ordered"))
    assert outcome.is_ok, outcome


def test_ranks_that_are_there_are_workers(tmp_path):
    for outcome in outcomes(tmp_path, COMM):
        assert outcome.is_ok, outcome


def test_a_search_tries_every_order_in_which_tasks_end(tmp_path):
    assert "exception" in explore(written(tmp_path, FIRST.format("as_completed")), 1, "eager").found
    assert not explore(written(tmp_path, FIRST.format("list"), "all.py"), 1, "eager").found


def test_threads_are_refused_in_a_search(tmp_path):
    text = (
        "from mpi4py.futures import ThreadPoolExecutor\nThreadPoolExecutor(1).submit(pow, 1, 2)\n"
    )
    with Fence():
        outcome = play(script(written(tmp_path, text), 1, (), "eager"))
    assert outcome.kind == "invalid-argument" and "one thread" in outcome.text
