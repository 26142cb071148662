"""Whatever is wrong with the checked code is told with its place, and never as a traceback."""

import os
import subprocess
import sys

import pytest
from unit.cli.command import COUNTER, fails, run, write

BAD = {
    "unknown target": ("paxoss", "", 2, "did you mean `paxos`?"),
    "syntax error": ("bad.py", "def f(:\n", 2, "bad.py:1: invalid syntax"),
    "no nodes": (
        "bad.py",
        """
        from presage import System
        def system() -> System: return System(nodes={})
        """,
        2,
        "the system has no nodes",
    ),
    "unknown node": (
        "bad.py",
        """
        from presage import Service, System
        class Node(Service):
            def start(self) -> None: self.send("n7", "hello")
        def system() -> System: return System(nodes={"n0": Node()})
        """,
        2,
        "there is no node 'n7'",
    ),
    "a socket in the state": (
        "bad.py",
        """
        import socket
        from presage import Service, System
        LINK = socket.socket()
        class Node(Service):
            sock: object = None
            def start(self) -> None: self.sock = LINK
        def system() -> System: return System(nodes={"n0": Node()})
        """,
        2,
        "`n0: Node.sock` holds a `socket.socket`",
    ),
    "opens a socket": (
        "bad.py",
        """
        import socket
        from presage import Service, System
        class Node(Service):
            sock: object = None
            def start(self) -> None: self.sock = socket.socket()
        def system() -> System: return System(nodes={"n0": Node()})
        """,
        3,
        "bad.py:6: a handler calls `socket.socket`",
    ),
    "an endless handler": (
        "bad.py",
        """
        from presage import Service, System
        class Node(Service):
            def start(self) -> None:
                while True: pass
        def system() -> System: return System(nodes={"n0": Node()})
        """,
        2,
        "bad.py:5: still running after 1 s",
    ),
    "reads the clock": (
        "bad.py",
        """
        import time
        from presage import Service, System
        class Node(Service):
            read: float = 0.0
            def start(self) -> None: self.read = time.time()
        def system() -> System: return System(nodes={"n0": Node()})
        """,
        3,
        "bad.py:6: a handler calls `time.time`",
    ),
    "reads the global random": (
        "bad.py",
        """
        import random
        from presage import Service, System
        class Node(Service):
            drawn: int = 0
            def start(self) -> None: self.drawn = random.randint(1, 6)
        def system() -> System: return System(nodes={"n0": Node()})
        """,
        3,
        "bad.py:6: a handler calls `random.",
    ),
}


@pytest.mark.parametrize(("target", "text", "status", "said"), BAD.values(), ids=BAD.keys())
def test_what_cannot_be_checked_says_why(target: str, text: str, status: int, said: str) -> None:
    write(text, name="bad.py")
    fails(run("check", target, "--handler-seconds", "1", "--json"), status, said)


def test_a_handler_that_raises_is_a_violation() -> None:
    write(
        """
        from presage import Service, System, action
        class Node(Service):
            @action
            def go(self) -> None: raise ValueError("no such peer")
        def system() -> System: return System(nodes={"n0": Node()})
        """
    )
    result = run("check", "counter.py")
    assert (result.returncode, result.stderr) == (1, "")
    assert "violation[exception] no_exception fails at step 1" in result.stdout
    assert "ValueError: no such peer at counter.py:5 in go" in result.stdout


def test_a_property_that_raises_is_an_error_of_that_property() -> None:
    write(COUNTER.replace('world["n0"].count <= LIMIT', "1 / 0"))
    result = run("check", "counter.py")
    assert result.returncode == 2
    assert "! small error" in result.stdout
    assert "counter.py:14" in result.stdout and "ZeroDivisionError" in result.stdout


def test_our_own_fault_ends_with_status_4_and_no_traceback() -> None:
    program = """
import sys, presage.search.check as module
from presage.cli import main
def broken(*_, **__): raise KeyError("lost")
module.check = broken
sys.exit(main(["check", "counter"]))
"""
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    fails(result, 4, "presage itself failed: KeyError: 'lost'", "`PRESAGE_TRACEBACK=1`")
    shown = subprocess.run(
        command,
        env=os.environ | {"PRESAGE_TRACEBACK": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 4
    assert "in broken" in shown.stderr
