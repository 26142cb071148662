"""The nearest good run of a safety violation, from the check to the page."""

import json
from pathlib import Path

from whole.commands.harness import run, told, write

VOTE = """
    class Node(Service):
        vote: str = ""
        leads: bool = False

        def start(self) -> None:
            self.send("a", "vote for me")

        @on(str)
        def heard(self, word: str, source: str) -> None:
            if word == "elected":
                self.leads = True
            elif not self.vote:
                self.vote = source
                self.send(source, "elected")

    def system() -> System:
        safe = always(lambda world: sum(n.leads for n in world.nodes) <= 1, name="one_leader")
        faults = Faults(crash=1, restart=1)
        return System({n: Node() for n in "abc"}, faults=faults, properties=[safe])
"""


def test_a_check_tells_which_step_decides_and_saves_the_run_that_keeps_the_property():
    write(VOTE, "vote.py")
    shown = " ".join(run("check", "vote.py").stdout.split())
    assert "= why: `sum(n.leads for n in world.nodes) <= 1` is false: sum(...) is 2, of a" in shown
    assert "= nearest good run: step 4 decides: after deliver 'elected' a -> a instead" in shown
    [found] = told(run("check", "vote.py", "--json"), 1)["violations"]
    assert (found["step"], found["differs_at"]) == (6, 4)
    again = run("replay", found["live"])
    assert again.returncode == 0
    assert "replay of a trace in which one_leader is kept to the end, step 5" in again.stdout
    assert "none of 12 random runs kept it" in again.stdout
    explained = " ".join(run("explain", found["trace"]).stdout.split())
    assert "The nearest good run takes deliver 'elected' a -> a as step 4 instead" in explained
    assert "and `one_leader` is kept to the end, step 5" in explained
    assert run("graph", found["live"]).returncode == 0


def test_the_page_shows_the_good_run_beside_the_violation():
    write(VOTE, "vote.py")
    [found] = told(run("check", "vote.py", "--json"), 1)["violations"]
    assert run("report", found["trace"], "--out", "page.html").returncode == 0
    assert "nearest good run" in Path("page.html").read_text()
    beside = json.loads(Path(found["trace"]).read_text())["trace"]["live"]
    assert beside == Path(found["live"]).name


def test_the_debugger_compares_with_the_good_run():
    write(VOTE, "vote.py")
    [found] = told(run("check", "vote.py", "--json"), 1)["violations"]
    done = run("debug", found["trace"], "--do", "jump 4", "--do", "diff live")
    assert done.returncode == 0, done.stdout
    assert "a.vote" in done.stdout
