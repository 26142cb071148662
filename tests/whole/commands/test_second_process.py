"""What a set made in a handler, an address or a clock does to a step: seen by a second process."""

import os
import signal
import time
from pathlib import Path

import pytest
from whole.commands.harness import end, run, start, told, worker, write

PEERS = 'frozenset({"ann", "bob", "cyd"})'
SPELLINGS = {
    "difference": 'next(iter(self.peers - {"ann"}))',
    "display": 'list({"x", "y"})[0]',
    "comprehension": "tuple({name.upper() for name in self.peers})[0]",
    "pop": "set(self.peers).pop()",
    "union": 'min(self.peers.union({"dan"}), key=len)',
    "text": '",".join(self.peers & {"bob", "cyd"})',
    "constant": "next(iter(NAMES))",
    "unpacked": '(lambda first, *others: first)(*(self.peers | {"eve"}))',
    "function": 'next(iter(operator.sub({"a": 1, "b": 2}.keys(), ("c",))))',
    "views": 'next(iter({"a": 1, "b": 2}.keys() - {"c"}))',
}
# Found by a second run in the same process, if not by the second process.
FLICKERING = {
    "objects": "[each.n for each in {Thing(1), Thing(2), Thing(3)}][0]",
    "identity": "str(id(object()))",
    "plain text": "str(Thing(1))",
    "clock": "str(datetime.datetime.now())",
}
CLEAN = {
    "sorted": 'sorted(self.peers - {"ann"})[0]',
    "least": 'min(self.peers | {"dan"})',
    "length": 'str(len(self.peers | {"dan"}))',
    "member": 'str("bob" in self.peers - {"ann"})',
    "choice": 'self.choose(sorted(self.peers - {"ann"}))',
    "any order": '[self.send("n1", each) for each in self.peers - {"ann"}] and ""',
}


def system(expression, claim="True"):
    """One handler that evaluates `expression`, and a property that is `claim`."""
    return write(
        f"""
        import datetime
        import operator

        NAMES = {{"ann", "bob"}}

        class Thing:
            def __init__(self, n):
                self.n = n

        class Node(Service):
            peers: frozenset[str] = {PEERS}
            first: str = ""

            @action(when=lambda self: self.name == "n0" and not self.first)  # HERE
            def pick(self) -> None:
                self.first = str({expression}) or "-"

            @on(str)
            def hear(self, text: str) -> None:
                pass

        @always
        def claimed(world):
            return {claim}

        def system() -> System:
            return System({{"n0": Node(), "n1": Node()}}, properties=[claimed])
        """
    )


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def found(report):
    return {each["code"]: each for each in report["order_dependence"]}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_set_made_in_a_handler_is_exit_status_3(spelling):
    place = system(SPELLINGS[spelling])
    report = told(run("check", "bad.py", "--json"), 3)
    assert found(report)["Node.pick"]["place"] == place
    assert not report["exhausted"]


@pytest.mark.parametrize("spelling", FLICKERING)
def test_a_clock_or_an_address_is_exit_status_3(spelling):
    system(FLICKERING[spelling])
    result = run("check", "bad.py", "--json")
    assert result.returncode == 3
    assert "n0: Node, action pick" in result.stdout + result.stderr


@pytest.mark.parametrize("spelling", CLEAN)
def test_a_set_whose_order_does_not_show_is_no_finding(spelling):
    system(CLEAN[spelling])
    report = told(run("check", "bad.py", "--json"), 0)
    assert report["order_dependence"] == []
    assert report["exhausted"]


def test_all_distinct_steps_of_a_small_system_are_compared_and_counted():
    system('sorted(self.peers - {"ann"}, key=str)[0]')
    compared = told(run("check", "bad.py", "--json"), 0)["second_process"]
    assert compared["steps"] == compared["of_steps"] > 2
    assert compared["verdicts"] == compared["of_verdicts"] > 0
    assert (compared["sample"], compared["why"]) == (False, None)
    text = " ".join(run("check", "bad.py").stdout.split())
    assert "compared with a second process under another hash seed: all" in text


def test_the_text_names_the_line_the_step_and_the_way_out():
    place = system(SPELLINGS["difference"])
    result = run("check", "bad.py")
    text = " ".join(result.stdout.split())
    assert result.returncode == 3
    assert f"{place}: `Node.pick` depends on the process it runs in: n0: Node, action pick" in text
    assert "differed in `first`: 'bob' and 'cyd'" in text or "'cyd' and 'bob'" in text
    assert "`sorted(...)`" in text
    assert "exhaustively" not in text


def test_a_property_that_depends_on_a_set_of_its_own_is_named():
    system("'x'", 'next(iter(world["n0"].peers - {"ann"})) == "bob"')
    report = told(run("check", "bad.py", "--json", "--keep-going"), 3)
    assert found(report)["claimed"]["between"] == "processes"


def test_a_guard_that_depends_on_a_set_of_its_own_is_named():
    write(
        """
        class Node(Service):
            peers: frozenset[str] = frozenset({"ann", "bob", "cyd"})
            done: bool = False

            @action(when=lambda self: next(iter(self.peers - {"ann"})) == "bob" and not self.done)
            def never(self) -> None:
                self.done = True

            @action(when=lambda self: next(iter(self.peers - {"ann"})) == "cyd" and not self.done)
            def ever(self) -> None:
                self.done = True

        def system() -> System:
            return System({"n0": Node()})
        """
    )
    (code,) = found(told(run("check", "bad.py", "--json"), 3))
    assert code.endswith("`when` and `over`")


def test_first_values_that_differ_under_another_seed_are_named():
    write(
        """
        class Node(Service):
            order: tuple[str, ...] = ()

            @action(when=lambda self: self.order != ())
            def drop(self) -> None:
                self.order = tuple(sorted({*self.order[1:]}, key=str))

        def system() -> System:
            return System({"n0": Node(order=tuple({"a", "b", "c", "d", "e", "f"}))})
        """
    )
    report = told(run("check", "bad.py", "--json"), 3)
    assert any("first values of n0" in each["step"] for each in report["order_dependence"])


def test_a_violation_is_told_beside_what_depends_on_the_process():
    system(SPELLINGS["difference"], 'not world["n0"].first')
    report = told(run("check", "bad.py", "--json", "--keep-going"), 3)
    assert [each["property"] for each in report["violations"]] == ["claimed"]
    assert "Node.pick" in found(report)


def test_code_that_makes_no_set_needs_no_second_process():
    write(
        """
        class Node(Service):
            seen: set[str] = state(set)

            @action(when=lambda self: len(self.seen) < 2)
            def pick(self) -> None:
                self.seen.add("a" if "b" in self.seen else "b")

        def system() -> System:
            return System({"n0": Node()})
        """
    )
    assert told(run("check", "bad.py", "--json"), 0)["second_process"] is None


def test_a_second_process_that_cannot_load_the_system_is_told_in_a_line():
    write(
        """
        import os
        if os.environ.get("PYTHONHASHSEED") == "1":
            raise RuntimeError("not here")

        class Node(Service):
            peers: frozenset[str] = frozenset({"ann", "bob", "cyd"})
            first: str = ""

            @action(when=lambda self: not self.first)
            def pick(self) -> None:
                self.first = next(iter(self.peers - {"ann"}))

        def system() -> System:
            return System({"n0": Node()})
        """
    )
    report = told(run("check", "bad.py", "--json"), 0)
    assert "not here" in report["second_process"]["why"]
    assert report["second_process"]["steps"] == 0
    text = " ".join(run("check", "bad.py").stdout.split())
    assert "not compared with a second process under another hash seed: " in text


SLOW = """
    import os, signal, time
    if os.environ.get("PYTHONHASHSEED") == "1":
        open("started", "w").close()
        time.sleep(50)

    class Node(Service):
        peers: frozenset[str] = frozenset({"ann", "bob", "cyd"})
        first: str = ""

        @action(when=lambda self: not self.first)
        def pick(self) -> None:
            self.first = next(iter(self.peers - {"ann"}))

    def system() -> System:
        return System({"n0": Node()})
"""


def wait_for(happened):
    ends = time.monotonic() + 50
    while not happened():
        assert time.monotonic() < ends
        time.sleep(0.01)


def children(pid):
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_the_second_process_runs_leaves_nothing_behind(number):
    write(SLOW)
    process = start("check", "bad.py", "--json")
    wait_for(lambda: Path("started").exists())
    (twin,) = children(worker(process))
    process.send_signal(number)
    report = told(end(process), 0)
    assert report["second_process"]["why"] == "interrupted"
    assert not Path(f"/proc/{twin}").exists()


def test_a_killed_command_leaves_no_second_process_behind():
    write(SLOW)
    process = start("check", "bad.py", "--json")
    wait_for(lambda: Path("started").exists())
    (twin,) = children(worker(process))
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    wait_for(lambda: not Path(f"/proc/{twin}").exists())


def test_the_seconds_of_a_command_bound_its_second_process_too():
    write(SLOW)
    report = told(run("check", "bad.py", "--json", "--seconds", "6"), 0)
    assert report["second_process"]["why"] == "it did not answer in time"


def seeds(numbers):
    system(SPELLINGS["difference"], 'not world["n0"].first == "bob"')
    reports = []
    for seed in numbers:
        result = run("check", "bad.py", "--json", "--keep-going", PYTHONHASHSEED=str(seed))
        report = told(result, 3)
        reports.append([report[name] for name in ("order_dependence", "violations", "properties")])
    assert all(report == reports[0] for report in reports)


def test_the_hash_seed_of_the_shell_changes_nothing():
    seeds((1, 7, 11))


@pytest.mark.slow
def test_twenty_hash_seeds_change_nothing():
    seeds(range(20))
