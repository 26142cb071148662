"""Plain runs with threads, what is refused, and how orders of threads are bounded and replayed."""

import pytest
from mpi.scripts import outcomes, written

from presage.errors import BadTarget
from presage.frontends.mpi.core.delivery import Delivery
from presage.frontends.mpi.launch.run import mpirun
from presage.search.scripts import check_script, program_of

TIMES = """\
import threading, time
from concurrent.futures import ThreadPoolExecutor

stop = threading.Event()
beats = []


def beat():
    while not stop.wait(0.5):
        beats.append(time.monotonic())


heart = threading.Thread(target=beat, name="heart")
heart.start()
if rank == 0:
    with ThreadPoolExecutor(2) as pool:
        print(sorted(pool.map(lambda source: comm.recv(source=source), (1, 2))))
    print(len(beats) in (3, 4), beats == sorted(beats), threading.active_count())
else:
    time.sleep(rank)
    comm.send(rank, 0)
    time.sleep(2 - rank)
stop.set()
heart.join(timeout=1)
assert not heart.is_alive()
threading.Thread(target=threading.Event().wait, daemon=True).start()
"""


def test_a_plain_run_lets_time_pass(tmp_path, capsys):
    assert mpirun(written(tmp_path, TIMES), 3).is_ok
    assert capsys.readouterr().out == "[1, 2]\nTrue True 2\n"


STUCK = """\
import threading
lock = threading.Lock()


def work():
    with lock:
        comm.recv(source=0)


with lock:
    other = threading.Thread(target=work, name="worker")
    other.start()
    if rank == 0:
        other.join()
"""


def test_a_deadlock_names_each_thread(tmp_path):
    path = written(tmp_path, STUCK)
    (found,) = check_script(path, 1, buffering="zero", traces=None).violations
    lines = mpirun(path, 1).text.splitlines()
    assert found.kind == "deadlock"
    for each in (found.message.splitlines(), lines):
        assert each == [
            f"rank 0, thread `MainThread`, waits in Thread.join at {path}:19",
            f"rank 0, thread `worker`, waits in Lock.acquire at {path}:11",
        ]


FAILING = """\
import threading
{hook}
other = threading.Thread(target=lambda: 1 // 0, name="worker")
other.start()
other.join()
print("went on")
"""


def test_what_leaves_a_thread_is_printed_by_a_run_and_found_by_a_check(tmp_path, capsys):
    path = written(tmp_path, FAILING.format(hook=""))
    assert mpirun(path, 1).is_ok
    out, err = capsys.readouterr()
    assert out == "went on\n"
    assert "Exception in thread worker" in err and "ZeroDivisionError" in err
    (found,) = check_script(path, 1, traces=None).violations
    assert found.kind == "exception" and "ZeroDivisionError" in found.message
    hook = "threading.excepthook = lambda args: None"
    report = check_script(written(tmp_path, FAILING.format(hook=hook)), 1, traces=None)
    assert not report.violations


WINDOW = """\
import threading
window = MPI.Win.Allocate(4, comm=comm)
other = threading.Thread(target=lambda: comm.Barrier())
other.start()
other.join()
"""


def test_windows_and_threads_are_refused_with_the_line(tmp_path):
    path = written(tmp_path, WINDOW)
    (found,) = check_script(path, 1, traces=None).violations
    assert f"barrier in a rank with windows and several threads, at {path}:8" in found.message


LOST = """\
import threading
count, lock = 0, threading.Lock()


def work():
    global count
    known = count
    with lock:
        pass
    count = known + 1


threads = [threading.Thread(target=work) for _ in range(2)]
for each in threads:
    each.start()
for each in threads:
    each.join()
assert count == 2
"""


def test_preemptions_are_bounded_and_part_of_a_trace(tmp_path):
    path = written(tmp_path, LOST)
    held = check_script(path, 1, preemptions=0, traces=None)
    assert not held.violations and "more than 0 times" in str(held) and "exhaust" not in str(held)
    (found,) = check_script(path, 1, preemptions=2, traces=str(tmp_path)).violations
    assert found.trace is not None and ":p2" in str(found.trace.target)
    assert program_of(str(found.trace.target)).nodes == ("rank 0",)


@pytest.mark.parametrize("word", ["any:p0", "zero:64:p3:ordered"])
def test_a_delivery_is_written_as_a_word(word):
    assert str(Delivery.of(word)) == word


@pytest.mark.parametrize("word", ["any:p", "any:ordered:p2"])
def test_other_words_are_no_deliveries(word):
    with pytest.raises(BadTarget):
        Delivery.of(word)


PROBES = """\
import threading
got = []


def listen():
    while (value := comm.recv(source=1)) != "stop":
        got.append(value)


if rank == 0:
    other = threading.Thread(target=listen)
    other.start()
    assert comm.iprobe(source=1, tag=7) in (True, False)
    other.join()
    assert got == [1]
else:
    comm.send(1, 0)
    comm.send("stop", 0)
"""


def test_where_messages_keep_one_order_tests_are_exact(tmp_path):
    assert [each.kind for each in outcomes(tmp_path, PROBES, 2)] == ["ok", "ok"]
    report = check_script(written(tmp_path, PROBES), 2, ordered=True, traces=None)
    assert not report.violations
