"""The doctor: under two hash seeds, what differs is named; what is sound is left alone."""

import pytest
from whole.commands.harness import refused, run, told, write

# Under the doctor's two hash seeds the first of these is another one.
NODES = """
    PEERS = [f"peer{i}" for i in range(6)]

    class Node(Service):
        peers: frozenset[str] = frozenset()
        chosen: object = None
        heard: object = None
        @action(when=lambda self: self.peers and self.chosen is None)
        def go(self) -> None:
            self.chosen = True
            {body}
        @on(str)
        def hear(self, message) -> None:
            {hear}
        @timer
        def retry(self, peer) -> None:
            pass

    def system() -> System:
        nodes = {"boss": Node(peers=frozenset(PEERS))} | {name: Node() for name in PEERS}
        return System(nodes=nodes)
"""


def examined(body: str, hear: str = "self.heard = message") -> tuple[int, str]:
    write(NODES.replace("{body}", body).replace("{hear}", hear))
    result = run("doctor", "bad.py", "--json")
    findings = told(result, result.returncode)["findings"]
    return result.returncode, "\n".join(findings)


FIRST = "next(iter(set(PEERS)))"  # no part of the state
SEEDED = {
    "a field": (f"self.chosen = {FIRST}", "boss: Node, action go: differed in `chosen`: 'peer"),
    "a timer": (f"self.arm('retry', {FIRST})", "boss: Node, action go: differed in timers"),
    "what is sent first": (
        "[self.send('peer0', peer) for peer in set(PEERS) if peer != 'peer1']",
        "boss: Node, action go: differed in what it sent: ",
    ),
    "to whom it is sent": (
        f"self.send({FIRST}, 'hello')",
        "boss: Node, action go: differed in what it sent: ",
    ),
}


@pytest.mark.parametrize(("body", "said"), SEEDED.values(), ids=SEEDED.keys())
def test_the_doctor_names_what_depends_on_the_hash_seed(body: str, said: str) -> None:
    status, finding = examined(body)
    assert status == 3
    assert "under hash seeds 1 and 2" in finding
    assert said in finding


def test_the_doctor_names_what_depends_on_the_order_of_a_field() -> None:
    status, finding = examined("self.chosen = next(iter(self.peers))")
    assert status == 3
    assert "bad.py:9: `Node.go` depends on the order of `self.peers`" in finding


def test_the_doctor_sees_to_whom_a_message_goes_even_if_nobody_reacts() -> None:
    status, finding = examined(f"self.send({FIRST}, 'hello')", hear="pass")
    assert (status, "what it sent" in finding) == (3, True)


def test_the_doctor_leaves_sound_systems_alone() -> None:
    status, finding = examined("self.chosen = sorted(self.peers); self.send('peer0', 'hello')")
    assert (status, finding) == (0, "")


def test_the_doctor_names_an_impure_call_with_its_line() -> None:
    status, finding = examined("import time; self.chosen = time.time()")
    assert status == 3
    assert "bad.py:12: a handler calls `time.time`" in finding


def test_the_doctor_names_the_field_that_differs_between_two_runs() -> None:
    status, finding = examined("import datetime; self.chosen = str(datetime.datetime.now())")
    assert status == 3
    assert "run twice from the same state, differed in `chosen`" in finding


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("self.send('nobody', 1)", "bad.py:12: `send`: there is no node 'nobody'"),
        ("import threading; self.chosen = threading.Lock()", "Node.chosen` holds a `_thread.lock`"),
    ],
    ids=["unknown node", "lock"],
)
def test_the_doctor_refuses_what_cannot_be_checked(body: str, said: str) -> None:
    write(NODES.replace("{body}", body).replace("{hear}", "pass"))
    refused(run("doctor", "bad.py", "--json"), 2, said)
