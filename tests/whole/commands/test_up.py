"""`presage up` and the commands to its nodes: started, killed, started again, ended."""

import json
import os
import signal
from pathlib import Path

import pytest
from whole.commands.harness import end, run, start, worker, write
from whole.commands.living import (
    all_run,
    config,
    descendants,
    free_port,
    is_gone,
    names_of,
    status,
    stopped,
    until,
    up,
)


def test_a_tree_is_built_a_node_is_killed_and_comes_back_from_its_disk():
    with up("randtree", "--set", "nodes=5") as process:
        nodes = until(lambda: all_run(5), "all nodes")
        assert set(nodes) == {f"n{at}" for at in range(5)}
        until(lambda: "joined" in run("status", "n1").stdout, "a node that has joined")
        first = status()["n1"]["pid"]
        assert run("kill", "n1").returncode == 0
        assert is_gone(first)
        down = status()["n1"]
        assert not down["running"] and down["status"] == -signal.SIGKILL
        assert "ended, SIGKILL" in run("status", "n1").stdout
        assert "there is no node `n11` in `data`; did you mean" in run("status", "n11").stderr
        assert run("start", "n1").returncode == 0
        again = until(lambda: status()["n1"].get("steps") and status()["n1"], "n1")
        assert again["life"] == 2 and again["pid"] != first
        until(lambda: "joined" in run("status", "n1").stdout, "a node that has joined again")
        assert "presage_steps_total" in run("status", "--metrics").stdout
        ended = stopped(process)
    assert ended.returncode == 0, ended.stderr
    assert "5 nodes ran" in ended.stdout and "failed: none" in ended.stdout
    judged = run("logs", "--judge", "--json")
    assert judged.returncode == 0, judged.stderr
    assert json.loads(judged.stdout)["broken"] == {}
    assert json.loads(judged.stdout)["steps"] > 20
    assert "n1 2.1 restart" in run("logs").stdout


def test_logs_are_followed_until_somebody_ends_that():
    with up("ping_pong") as process:
        until(lambda: all_run(2), "all nodes")
        follows = start("logs", "--follow", PYTHONUNBUFFERED="1")
        try:
            assert follows.stdout is not None
            assert " 1.1 start" in follows.stdout.readline()
            assert run("kill", "left").returncode == 0
            assert run("start", "left").returncode == 0
            while "left 2.1 restart" not in (line := follows.stdout.readline()):
                assert line, "it has ended"
            os.kill(follows.pid, signal.SIGINT)
            ended = end(follows)
        finally:
            follows.kill()
        assert (ended.returncode, ended.stderr) == (0, "")
        assert run("logs").stdout.count("left 2.1 restart") == 1
        stopped(process)


@pytest.mark.slow
def test_twenty_five_nodes_build_a_tree_and_their_logs_merge():
    with up("randtree", "--set", "nodes=25", "--set", "degree=5") as process:
        until(lambda: all_run(25), "all nodes")
        for name in ("n07", "n12"):
            assert run("kill", name).returncode == 0
            assert run("start", name).returncode == 0
        until(lambda: all_run(25), "all nodes again")
        ended = stopped(process, signal.SIGTERM)
    assert ended.returncode == 0, ended.stderr
    judged = run("logs", "--judge", "--json")
    assert judged.returncode in (0, 1), judged.stderr


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, marks=pytest.mark.slow),
    ],
)
def test_every_way_to_end_it_ends_all_nodes(number):
    with up("ping_pong") as process:
        nodes = until(lambda: all_run(2), "all nodes")
        ended = stopped(process, number)
        assert ended.returncode == 0, ended.stderr
        assert all(is_gone(node["pid"]) for node in nodes.values())


@pytest.mark.parametrize(
    "which",
    [
        "parent",
        pytest.param("command", marks=pytest.mark.slow),
        pytest.param("nursery", marks=pytest.mark.slow),
    ],
)
def test_whoever_is_killed_nobody_is_left(which):
    with up("ping_pong") as process:
        nodes = until(lambda: all_run(2), "all nodes")
        processes = descendants(process.pid)
        command_pid = worker(process)
        nursery = descendants(command_pid)[0]
        os.kill({"parent": process.pid, "command": command_pid, "nursery": nursery}[which], 9)
        ended = end(process)
        until(lambda: all(is_gone(pid) for pid in processes), "the end of all processes")
        assert all(is_gone(node["pid"]) for node in nodes.values())
        assert ended.returncode != 0


@pytest.mark.slow
def test_a_snapshot_of_running_nodes_is_a_state_to_look_ahead_from():
    with up("randtree", "--set", "nodes=3") as process:
        until(lambda: all_run(3), "all nodes")
        until(lambda: "joined" in run("status", "n1").stdout, "a node that has joined")
        assert "n1 and its neighbours" in run("snapshot", "n1", "--out", "whole.trace").stderr
        assert run("kill", "n2").returncode == 0
        assert run("snapshot", "n0", "--out", "part.trace").returncode == 0
        assert "nobody answers" in run("snapshot", "n2").stderr
        assert run("snapshot", "n9").returncode == 2
        assert stopped(process).returncode == 0
    for trace in ("whole.trace", "part.trace"):
        ahead = run("predict", trace, "--seconds", "0.5")
        assert ahead.returncode == 0, ahead.stderr
        assert "nothing found" in ahead.stdout


FAILING = """
    from presage import Service, System, durable, state, timer

    class Node(Service):
        count: int = durable(0)

        def start(self):
            self.count += 1
            self.arm("boom")

        @timer(after=0.05)
        def boom(self):
            raise RuntimeError("on purpose")  # HERE

    def system() -> System:
        return System(nodes={"n0": Node()})
"""


def test_a_node_that_fails_stays_down_and_the_status_tells():
    write(FAILING, "failing.py")
    ended = run("up", "failing.py", "--for", "0.5")
    assert ended.returncode == 1
    assert "RuntimeError: on purpose" in ended.stderr
    assert "n0: ended (exit status 1); `presage start n0` starts it again" in ended.stderr
    assert "failed: `n0`" in ended.stdout


@pytest.mark.slow
def test_a_node_that_fails_is_started_again_if_the_cluster_says_so():
    write(FAILING, "failing.py")
    config("failing.py", more='failure = "restart"', n0=f"127.0.0.1:{free_port()}")
    ended = run("up", "--config", "cluster.toml", "--for", "3", "--json")
    assert ended.returncode == 1
    assert ended.stderr.count("starts again in") >= 2
    assert json.loads(ended.stdout)["failed"] == {"n0": 1}
    logs = run("logs", "--config", "cluster.toml").stdout
    assert "n0 1.1 start" in logs and "n0 2.1 restart" in logs


ENDLESS = """
    class Node(Service):
        def start(self):
            self.arm("spin")

        @timer(after=0.05)
        def spin(self):
            while True:
                pass

    def system() -> System:
        return System(nodes={"n0": Node()})
"""


@pytest.mark.slow
def test_an_endless_handler_ends_its_node():
    write(ENDLESS, "endless.py")
    config("endless.py", more="handler_seconds = 0.3", n0=f"127.0.0.1:{free_port()}")
    ended = run("up", "--config", "cluster.toml", "--for", "5")
    assert ended.returncode == 1, ended.stderr
    assert "still running after 0.3 s" in ended.stderr
    assert "failed: `n0`" in ended.stdout


@pytest.mark.slow
def test_nodes_of_a_cluster_file_run_one_by_one():
    addresses = {n: f"127.0.0.1:{free_port()}" for n in names_of("ping_pong")}
    config("ping_pong", more="steps = false", **addresses)
    names = names_of("ping_pong")
    processes = [start("run", "--node", name, "--config", "cluster.toml") for name in names]
    try:
        until(lambda: all_run(len(names)), "all nodes")
        twice = run("run", "--node", names[0], "--config", "cluster.toml")
        assert twice.returncode == 2
        assert "cannot listen on" in twice.stderr
        assert run("kill", names[0]).returncode == 0
        assert end(processes[0]).returncode != 0
        assert "nobody starts nodes in `data`" in run("start", names[0]).stderr
    finally:
        for process in processes[1:]:  # the whole group, as service managers do it: twice, so
            os.killpg(process.pid, signal.SIGTERM)
        ended = [end(process) for process in processes[1:]]
    assert [each.returncode for each in ended] == [0] * (len(names) - 1), ended[0].stderr
    assert not any("Traceback" in each.stderr for each in ended)
    assert {each.name for each in Path("data").glob("*/*")} <= {"lock", "log", "control"}
    assert "there are no logs in `data`" in run("logs").stderr


CALLED = """
    from presage import Service, System, durable

    class Counter(Service):
        count: int = durable(0)

        def add(self, number: int, tags: frozenset[str] = frozenset()) -> int:
            self.count += number
            return self.count

    def system() -> System:
        return System(nodes={"n0": Counter()})
"""


def test_methods_are_called_and_what_is_durable_survives():
    write(CALLED, "called.py")
    with up("called.py") as process:
        until(lambda: all_run(1), "the node")
        assert run("call", "n0", "add", "5").stdout == "5\n"
        assert run("call", "n0", "add", "2", '["a", "b"]').stdout == "7\n"
        bad = run("call", "n0", "add", '"many"')
        assert bad.returncode == 2 and "Expected `int`, got `str`" in bad.stderr
        bad = run("call", "n0", "add", "many")
        assert bad.returncode == 2 and "is not JSON; a text needs quotes of its own" in bad.stderr
        missing = run("call", "n0", "ad", "1")
        assert missing.returncode == 2 and "did you mean `add`?" in missing.stderr
        assert run("kill", "n0").returncode == 0
        gone = run("call", "n0", "add", "1")
        assert gone.returncode == 2 and "nobody answers" in gone.stderr
        with Path("data/n0/log").open("ab") as log:
            log.write(b"torn")
        assert run("start", "n0").returncode == 0
        until(lambda: all_run(1), "the node")
        assert run("call", "n0", "add", "1").stdout == "8\n"
        unknown = run("kill", "n1")
        assert unknown.returncode == 2 and "did you mean `n0`?" in unknown.stderr
        ended = stopped(process)
    assert ended.returncode == 0
    assert "n0: warning: the last 4 bytes of its log mean nothing" in ended.stderr
    assert Path("data/n0").stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_two_clusters_cannot_share_a_folder():
    with up("ping_pong") as process:
        until(lambda: all_run(2), "all nodes")
        second = run("up", "randtree", "--for", "5")
        assert second.returncode == 2
        assert second.stderr.startswith("error: `data` is in use")
        assert run("logs", "--judge").returncode == 0  # by the system of the first
        assert stopped(process).returncode == 0


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("up",), "no system was named"),
        (("up", "nothing"), "there is no system `nothing`"),
        (("up", "randtree", "--config", "none.toml"), "`none.toml` cannot be read"),
        (("up", "randtree", "--steer", "maybe"), "--steer: there is no 'maybe'"),
        (("run", "randtree", "--node", "n0"), "`presage run` needs a cluster file"),
        (("run", "randtree"), "--node"),
        (("call", "n0", "x"), "there is no data folder `data`"),
        (("status",), "there is no data folder `data`"),
        (("logs",), "there is no data folder `data`"),
    ],
)
def test_mistakes_are_told(arguments, said):
    ended = run(*arguments)
    assert ended.returncode == 2
    assert said in ended.stderr


def test_a_file_of_another_system_is_told():
    config("ping_pong", nobody="127.0.0.1:7100")
    ended = run("up", "--config", "cluster.toml")
    assert ended.returncode == 2
    assert "[nodes]: the system has no node `nobody`" in ended.stderr


@pytest.mark.slow
def test_the_control_socket_is_for_its_owner():
    with up("ping_pong") as process:
        until(lambda: all_run(2), "all nodes")
        for path in Path("data").glob("**/control"):
            assert path.stat().st_mode & 0o777 == 0o600
        assert stopped(process).returncode == 0
    assert not list(Path("data").glob("**/control"))


NOTICED = """
    class Node(Service):
        heard: int = 0

        @on(Down)
        def down(self, message: Down) -> None:
            self.heard += 1

    def system() -> System:
        return System(nodes={"n0": Node(), "n1": Node()}, faults=Faults(crash=1, notices=True))
"""


def test_a_node_that_waits_for_notices_says_that_nobody_sends_them():
    write(NOTICED, "noticed.py")
    ended = run("up", "noticed.py:system", "--for", "0.3")
    assert ended.returncode == 0, ended.stderr
    for name in ("n0", "n1"):
        assert f"{name}: warning: it handles `Down`, which nobody sends live" in ended.stderr
