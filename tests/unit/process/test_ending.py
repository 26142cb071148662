"""A search leaves no process standing: nobody could free what its frames hold."""

import gc
import threading

import pytest

from presage import Process, Program, check
from presage.errors import HandlerStuck
from presage.mailbox import Mailbox
from presage.process.ending import leave_at_end
from presage.process.histories import Histories
from presage.process.live import RunningProcess


def standing() -> int:
    gc.collect()
    return sum(type(each) is RunningProcess for each in gc.get_objects())


def put() -> None:
    Mailbox("box").put(1)


def get() -> None:
    for _ in range(2):
        Mailbox("box").get()


@pytest.mark.parametrize("search", ["tree", "bfs", "delay"])
def test_a_search_leaves_no_process_standing(search: str) -> None:
    before = standing()
    bodies = {"a": put, "b": put, "c": get, "d": get}
    program = Program({name: Process(body) for name, body in bodies.items()})
    report = check(program, search=search, traces=None)
    assert report.violations  # two of them wait for ever
    assert standing() <= before


def test_a_thread_that_ends_lets_those_who_asked_leave() -> None:
    class Keeper:
        left: list[int] = []

        def leave(self, thread: int) -> None:
            assert thread == threading.get_ident()
            self.left.append(thread)

    keeper, threads = Keeper(), []

    def work() -> None:
        threads.append(threading.get_ident())
        leave_at_end(keeper)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert keeper.left == threads


def never_ends() -> None:
    try:
        Mailbox("empty").get()
    finally:
        while True:
            pass


def test_a_process_that_cannot_be_unwound_is_an_error_and_no_hang(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Histories, "_check", lambda *_: None)  # which would meet it earlier
    program = Program({"a": Process(put), "b": Process(never_ends)})
    with pytest.raises(HandlerStuck, match="still running after"):
        check(program, traces=None, handler_seconds=0.3)
