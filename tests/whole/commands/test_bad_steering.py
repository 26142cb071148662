"""What is said where nodes cannot look ahead, or a page cannot be served."""

import os
import signal
import socket

import pytest
from whole.commands.harness import end, refused, run, write
from whole.commands.living import all_run, config, descendants, free_port, is_gone, until, up


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("evry = 2.0", "there is no `evry`; did you mean `every`?"),
        ('every = "often"', "`steer.every`: Expected `float`, got `str`"),
        ("deadline = 0", "`steer.deadline`: Expected `float` > 0"),
        ('mode = "of"', "`steer.mode`: Invalid enum value 'of'"),
        ("nodes_max = 0", "`steer.nodes_max`: Expected `int` >= 1"),
        ("bytes_per_second = -1", "`steer.bytes_per_second`: Expected `float` > 0"),
    ],
)
def test_a_mistake_in_the_table_is_named_with_its_line(line, said):
    config("ping_pong", more=f"[steer]\nhold = 0.5\n{line}\n", ping="127.0.0.1:7100")
    refused(run("up", "--config", "cluster.toml"), 2, "error: cluster.toml:8: ", said)


def test_a_mode_that_does_not_exist_is_refused():
    ended = run("up", "ping_pong", "--steer", "yes")
    assert ended.returncode == 2
    assert "--steer" in ended.stderr and "off, watch, on" in ended.stderr


def test_a_page_on_a_port_that_is_taken_is_refused_and_nothing_is_left():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = run("up", "ping_pong", "--page", str(port))
    assert ended.returncode == 2
    assert f"the page cannot be served on port {port}: " in ended.stderr
    assert "way out: `--page` without a port takes a free one" in ended.stderr


SEALED = """
    class Node(Service):
        @on(str)
        def hear(self, message: str) -> None: ...

    def never(world):
        return False

    def system() -> System:
        return System(nodes={"n0": Node()}, seals=[Seal(when=never, only=str)])
"""


def test_a_system_with_seals_is_not_steered():
    write(SEALED, "sealed.py")
    refused(run("up", "sealed.py", "--steer", "watch"), 2, "`sealed.py` has seals, and cannot be")
    assert run("up", "sealed.py", "--for", "0.1").returncode == 0


OBSERVED = """
    class Count:
        def initial(self):
            return 0

        def observe(self, state, node, record):
            return state + 1

    class Node(Service):
        def start(self) -> None:
            self.record("started")

    @always
    def at_most_one_start(world):
        return world.observer("count") < 2

    def system() -> System:
        properties, observers = [at_most_one_start], {"count": Count()}
        return System(nodes={"n0": Node()}, properties=properties, observers=observers)
"""


def test_what_asks_an_observer_is_said_not_to_be_judged():
    write(OBSERVED, "observed.py")
    ended = run("up", "observed.py", "--steer", "on", "--for", "0.2")
    assert ended.returncode == 0, ended.stderr
    assert "note: observers hear nothing while nodes run (`count`)" in ended.stderr
    assert "`presage logs --judge` judges them afterwards" in ended.stderr
    assert "note" not in run("up", "observed.py", "--for", "0.1").stderr


def test_a_program_of_processes_is_not_run_live():
    refused(
        run("up", "simgrid.bugged1", "--steer", "on"), 2, "is a program, and cannot be run live"
    )


UNSENDABLE = """
    from uuid import UUID

    class Node(Service):
        peers: frozenset[str] = frozenset()
        token: object = None

        def neighbours(self):
            return self.peers

        def start(self) -> None:
            self.token = UUID(int=5)

    @always
    def fine(world):
        return all(node.token != 7 for node in world.nodes)

    def system() -> System:
        nodes = {"n0": Node(peers=frozenset({"n1"})), "n1": Node(peers=frozenset({"n0"}))}
        return System(nodes=nodes, properties=[fine])
"""


@pytest.mark.slow
def test_a_state_that_cannot_be_sent_is_said_and_the_nodes_go_on():
    write(UNSENDABLE, "unsendable.py")
    table = "[steer]\nevery = 0.3\n"
    config("unsendable.py", more=table, **{n: f"127.0.0.1:{free_port()}" for n in ("n0", "n1")})
    ended = run("up", "--config", "cluster.toml", "--for", "4")
    assert ended.returncode == 0, ended.stderr
    said = "n1: warning: the state of `n0` cannot be taken from a socket"
    assert ended.stderr.count(said) == 1, ended.stderr


@pytest.mark.slow
def test_a_signal_to_the_whole_group_ends_all_in_order():
    with up("ping_pong", "--steer", "on") as process:
        until(lambda: all_run(2), "all nodes")
        processes = descendants(process.pid)
        os.killpg(process.pid, signal.SIGTERM)
        ended = end(process)
        until(lambda: all(map(is_gone, processes)), "the end of all processes")
    assert ended.returncode == 0, ended.stderr
    assert "error" not in ended.stderr and "warning" not in ended.stderr
