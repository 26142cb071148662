"""Systems that cannot be checked: the search ends with the reason and the line it comes from."""

from textwrap import indent

import pytest
from whole.commands.harness import ONE_NODE, refused, run, write

NODE = """
    import datetime, os, random, sys, threading, time, uuid
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Letter:
        content: object

    class Node(Service):
        x: object = None
        lock: object = None
        @action(when=lambda self: self.x is None)
        def go(self) -> None:
            {body}  # HERE
        @on(Letter)
        def read(self, letter) -> None:
            pass
"""


def bad_step(body: str) -> str:
    """Write a system whose only step does `body`; the place of it."""
    return write(NODE.replace("{body}", body) + ONE_NODE)


STATE = {
    "a message to an unknown node": (
        "self.send('n7', Letter(1))",
        "{place}: `send`: there is no node 'n7'; the nodes are n0",
    ),
    "a lock in a field": (
        "self.lock = threading.Lock()",
        "Node.lock` holds a `_thread.lock`, which cannot be state: ",
    ),
    "a lock deep in a field": (
        "self.x = {'all': [1, (threading.Lock(),)]}",
        "Node.x['all'][1][0]` holds a `_thread.lock`",
    ),
    "a lock in a message": (
        "self.send('n0', Letter(threading.Lock()))",
        "Letter.content` holds a `_thread.lock`",
    ),
    "a generator in a record": ("self.record(i for i in ())", "` holds a `generator`"),
    "an undeclared field": ("self.nmae = 1", "`nmae`, which `Node` does not declare as a field"),
    "a choice among nothing": ("self.choose([])", "{place}: `choose` was given no options"),
}


@pytest.mark.parametrize(("body", "said"), STATE.values(), ids=STATE.keys())
def test_what_a_handler_may_not_do_ends_the_search(body: str, said: str) -> None:
    place = bad_step(body)
    refused(run("check", "bad.py", "--json"), 2, said.replace("{place}", place))


IMPURE = {
    "time.time": "self.x = time.time()",
    "random.random": "self.x = random.random()",
    "os.urandom": "self.x = os.urandom(4)",
    "uuid.uuid4": "self.x = str(uuid.uuid4())",
}


@pytest.mark.parametrize("body", IMPURE.values(), ids=IMPURE.keys())
def test_an_impure_handler_ends_the_search_with_status_3(body: str) -> None:
    place = bad_step(body)
    refused(run("check", "bad.py", "--json"), 3, f"{place}: a handler calls `")


def test_an_impure_handler_cannot_hide_behind_its_own_except() -> None:
    place = write(
        """
        import time

        class Node(Service):
            def start(self) -> None:
                try:
                    time.time()  # HERE
                except Exception:
                    pass
        """
        + indent(ONE_NODE, "    ")
    )
    refused(run("check", "bad.py", "--json"), 3, f"{place}: a handler calls `time.time`")


def test_a_clock_that_no_fence_can_hold_is_noticed_by_its_results() -> None:
    bad_step("self.x = datetime.datetime.now().isoformat()")
    said = "n0: Node, action go, run twice from the same state, differed in `x`: '"
    refused(run("check", "bad.py", "--json"), 3, said)


@pytest.mark.parametrize(
    "body", ["self.x = time.ctime()", "self.x = tuple(time.localtime())"], ids=["ctime", "local"]
)
def test_a_clock_that_ticks_too_slowly_to_be_noticed_is_fenced(body: str) -> None:
    place = bad_step(body)
    refused(run("check", "bad.py", "--json"), 3, place)


ELSEWHERE = {
    "a guard": (
        """
        class Node(Service):
            peers: tuple[str, ...] = ()
            @action(when=lambda self: self.peers[0] == "n1")  # HERE
            def go(self) -> None:
                pass
        """,
        "a guard raised IndexError: tuple index out of range",
    ),
    "a set of values": (
        """
        class Node(Service):
            most: int | None = None
            @action(over=lambda self: range(self.most))  # HERE
            def go(self, n) -> None:
                pass
        """,
        "a guard raised TypeError",
    ),
    "a guard of a message": (
        """
        class Node(Service):
            def start(self) -> None:
                self.send("n0", "hello")
            @on(str, when=lambda self, message: int(message) > 1)  # HERE
            def hear(self, message) -> None:
                pass
        """,
        "a guard raised ValueError",
    ),
}


@pytest.mark.parametrize(("text", "said"), ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_a_guard_that_raises_is_told_with_its_line(text: str, said: str) -> None:
    place = write(text + indent(ONE_NODE, "    "))
    refused(run("check", "bad.py", "--json"), 2, f"{place}: {said}")


OBSERVED = """
    import sys, time

    class Node(Service):
        told: bool = False
        @action(when=lambda self: not self.told)
        def go(self) -> None:
            self.told = True
            self.record("hello")

    class Counter:
        def initial(self):
            return 0
        def observe(self, state, node, record):
            {body}  # HERE

    def system() -> System:
        return System(nodes={"n0": Node()}, observers={"counter": Counter()})
"""


def test_an_observer_that_raises_is_told_with_its_line() -> None:
    place = write(OBSERVED.replace("{body}", "return state + record"))
    said = f"{place}: observer `counter` raised TypeError: "
    refused(run("check", "bad.py", "--json"), 2, said)


def test_an_observer_that_reads_the_clock_ends_the_search_with_status_3() -> None:
    place = write(OBSERVED.replace("{body}", "return time.time()"))
    refused(run("check", "bad.py", "--json"), 3, f"{place}: a handler calls `time.time`")


QUITTING = {
    "a guard": NODE.replace("self.x is None", "sys.exit(0)").replace("{body}", "pass") + ONE_NODE,
    "an observer": OBSERVED.replace("{body}", "sys.exit(0)"),
}


@pytest.mark.parametrize("text", QUITTING.values(), ids=QUITTING.keys())
def test_user_code_that_exits_is_an_error_and_never_a_pass(text: str) -> None:
    write(text)
    refused(run("check", "bad.py", "--json"), 2, "bad.py:", "SystemExit")
