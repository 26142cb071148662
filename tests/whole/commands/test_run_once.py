"""`presage run-once`: one random execution, shown and saved."""

from whole.commands.harness import run, told, write

RELAY = """
    class Relay(Service):
        got: int = 0

        def start(self) -> None:
            if self.name == "a":
                self.send("b", 2)

        @on(int)
        def take(self, number: int, source: str) -> None:
            self.got += 1
            if number:
                self.send(source, number - 1)

    def system(most: int = 9) -> System:
        few = always(lambda world: world["b"].got <= most, name="few")
        return System({"a": Relay(), "b": Relay()}, properties=[few])
"""
SCRIPT = """
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    print("rank", comm.rank)
    if comm.rank:
        comm.send(comm.rank, 0)
    else:
        comm.recv(source=1)
"""


def test_a_run_is_shown_saved_and_replayed():
    write(RELAY, "relay.py")
    done = run("run-once", "relay.py")
    assert done.returncode == 0, done.stderr
    assert "1  b  deliver    2 a -> b" in done.stdout
    assert "nothing more happens after 3 steps" in done.stdout
    data = told(run("run-once", "relay.py", "--json"), 0)
    assert (data["steps"], data["at_rest"], data["violated"]) == (3, True, None)
    again = run("replay", data["trace"])
    assert again.returncode == 0
    assert "replay of an ordinary run: nothing more happens after 3 steps" in again.stdout
    assert "reproduced: 3 steps, every state the same" in again.stdout


def test_its_trace_is_a_trace_for_every_command():
    write(RELAY, "relay.py")
    path = told(run("run-once", "relay.py", "--json"), 0)["trace"]
    assert run("graph", path).returncode == 0
    assert run("report", path, "--out", "page.html").returncode == 0
    assert run("report", path, "--pytest", "test_run.py").returncode == 0
    assert run("debug", path, "--do", "last", "--do", "help").returncode == 0
    refused = run("explain", path)
    assert refused.returncode == 2
    assert "nothing breaks in it" in refused.stderr


def test_a_run_that_breaks_something_ends_with_status_1_and_its_trace_reproduces_that():
    write(RELAY, "relay.py")
    done = run("run-once", "relay.py", "--set", "most=1", "--json")
    assert done.returncode == 1
    assert told(done, 1)["violated"] == "few"
    assert run("replay", told(done, 1)["trace"]).returncode == 1


def test_a_script_is_run_once_by_its_ranks():
    write(SCRIPT, "script.py")
    done = run("run-once", "script.py", "--mpi", "2")
    assert done.returncode == 0, done.stderr
    assert "rank 1" in done.stdout
    assert "`presage check script.py --mpi 2` looks at all" in " ".join(done.stdout.split())


def test_seeds_and_steps_that_mean_nothing_are_refused():
    write(RELAY, "relay.py")
    for wrong in (["--seed", "-1"], ["--steps", "0"], ["--steps", "many"]):
        done = run("run-once", "relay.py", *wrong)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
