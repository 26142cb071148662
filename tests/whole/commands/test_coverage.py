"""What a check covered, as its summary, its JSON, its file and its page tell."""

import json
from pathlib import Path

import pytest
from whole.commands.harness import run, told, write
from whole.commands.relay import RELAY

QUIET = """
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Ping:
        n: int = 0

    class Node(Service):
        count: int = 0
        most: int = 3

        @on(Ping)
        def ping(self, ping):
            self.count += 1

        @timer
        def beat(self):
            pass

        @action(when=lambda self: self.count < self.most)
        def tick(self):
            if self.count > 100_000:
                self.send("a", Ping())
            self.count += 1

    def system(most: int = 3, broken: bool = False) -> System:
        claims = [
            always(lambda w: w["a"].most == w["b"].most, name="same"),
            always(lambda w: not w["a"].count > 1_000_000 or False, name="large"),
            always(lambda w: w["a"].count < (2 if broken else 99), name="small"),
        ]
        return System({"a": Node(most=most), "b": Node(most=most)}, properties=claims)
"""


@pytest.fixture
def quiet():
    write(QUIET, "quiet.py")
    return "quiet.py:system"


def test_the_summary_names_what_never_ran_and_what_says_nothing(quiet):
    ended = run("check", quiet)
    assert ended.returncode == 0
    text = " ".join(ended.stdout.split())
    assert (
        "never ran: `Node.ping` (no `Ping` was ever sent), `Node.beat` (timer never armed)" in text
    )
    assert "warning: `same` read nothing that ever changed: it cannot fail here" in text
    assert (
        "`large` holds vacuously: its left side (`w['a'].count > 1000000`) was never true" in text
    )
    assert "coverage: 1 of 3 ran (distinct steps): Node.tick 6" in text
    assert "unbounded?" not in text


def test_a_search_that_a_limit_ended_says_so_far_and_asks_about_growth(quiet):
    text = " ".join(run("check", quiet, "--set", "most=100000", "--depth", "30").stdout.split())
    assert "never ran so far: `Node.ping`" in text
    assert "unbounded? `a.count` reached 29" in text


def test_json_has_every_count(quiet):
    coverage = told(run("check", quiet, "--json"), 0)["coverage"]
    assert coverage["counted"] == "distinct steps" and coverage["partial"] is False
    ran = {each["name"]: each for each in coverage["ran"]}
    assert ran["Node.tick"] == {
        "name": "Node.tick",
        "kind": "action",
        "source": ran["Node.tick"]["source"],
        "steps": 6,
        "why": "",
    }
    assert ran["Node.tick"]["source"].startswith("quiet.py:")
    assert ran["Node.beat"]["why"] == "timer never armed"
    assert coverage["guards"] == [{"name": "Node.tick", "true": 6, "false": 2}]
    assert [each["property"] for each in coverage["vacuous"]] == ["same", "large"]
    assert coverage["growing"] == [] and coverage["lines"] == []


def test_a_file_has_the_source_lines_with_their_marks(quiet):
    assert run("check", quiet, "--coverage", "covered.txt").returncode == 0
    text = Path("covered.txt").read_text()
    marks = {line[0] for line in text.splitlines() if line.rstrip().endswith("self.count += 1")}
    assert marks == {">", "!"}
    [never] = [line for line in text.splitlines() if "self.send" in line]
    [guard] = [line for line in text.splitlines() if "@action" in line]
    [field] = [line for line in text.splitlines() if "most: int" in line]
    assert (never[0], guard[0], field[0]) == ("!", ">", "-")
    assert "Node.beat" in text and "timer never armed" in text


def test_a_json_file_has_the_numbers_of_the_lines(quiet):
    assert run("check", quiet, "--coverage", "covered.json").returncode == 0
    [lines] = json.loads(Path("covered.json").read_text())["lines"]
    source = Path("quiet.py").read_text().splitlines()
    assert lines["file"] == "quiet.py"
    assert any("self.send" in source[number - 1] for number in lines["never"])
    assert any("def tick" in source[number - 1] for number in lines["ran"])


def test_the_lines_of_threads_and_of_processes_are_noted_too(quiet):
    run("check", quiet, "--coverage", "one.txt")
    run("check", quiet, "--coverage", "two.txt", "--threads", "2")
    assert Path("one.txt").read_text() == Path("two.txt").read_text()
    write(
        """
        def main(n):
            if n > 3:
                print("never")
            return n

        def program() -> Program:
            return Program({"main": Process(main, 1)})
        """,
        "program.py",
    )
    assert run("check", "program.py:program", "--coverage", "three.txt").returncode == 0
    marks = {line[5:].strip(): line[:1] for line in Path("three.txt").read_text().splitlines()}
    assert (marks["if n > 3:"], marks['print("never")'], marks["return n"]) == (">", "!", ">")


def test_a_script_of_ranks_has_the_lines_that_any_rank_ran():
    text = "from mpi4py import MPI\nif MPI.COMM_WORLD.rank > 5:\n    print(1)\nx = 1\n"
    Path("script.py").write_text(text)
    assert run("check", "script.py", "--mpi", "2", "--coverage", "script.txt").returncode == 0
    assert Path("script.txt").read_text().splitlines()[-4:] == [
        "> 1  from mpi4py import MPI",
        "> 2  if MPI.COMM_WORLD.rank > 5:",
        "! 3      print(1)",
        "> 4  x = 1",
    ]


def test_a_file_that_cannot_be_written_is_refused_before_the_search(quiet):
    ended = run("check", quiet, "--coverage", "nowhere/covered.txt")
    assert ended.returncode == 2
    assert "the coverage cannot be written to `nowhere/covered.txt`" in ended.stderr


def test_the_page_of_a_violation_shows_what_the_search_covered(quiet):
    ended = run("check", quiet, "--set", "broken=true", "--coverage", "covered.txt", "--json")
    [violation] = told(ended, 1)["violations"]
    assert run("report", violation["trace"], "--out", "page.html").returncode == 0
    page = Path("page.html").read_text()
    assert '<details id="coverage"><summary>Coverage</summary>' in page
    assert "timer never armed" in page and "&quot;a&quot;, Ping()" in page


def test_a_search_that_a_violation_ended_does_not_speak_of_what_it_never_met(quiet):
    ended = run("check", quiet, "--set", "broken=true")
    assert ended.returncode == 1 and "never ran" not in ended.stdout


def test_a_search_that_was_resumed_counts_each_step_once():
    write(RELAY, "relay.py")
    whole = told(run("check", "relay.py", "--keep-going", "--json"), 1)["coverage"]
    kept = ("check", "relay.py", "--keep-going", "--json", "--checkpoint", "kept")
    part = told(run(*kept, "--states", "2000"), 1)["coverage"]
    rest = told(run(*kept, "--resume"), 1)["coverage"]
    assert part["partial"] and not rest["partial"]
    assert rest == whole
    assert sum(each["steps"] for each in part["ran"]) < sum(each["steps"] for each in rest["ran"])


VACUOUS = """
    class Node(Service):
        count: int = 0

        @action(when=lambda self: self.count < 30)
        def tick(self):
            self.count += 1

    def system() -> System:
        claims = [
            always(lambda w: not w["a"].count == 2 or True, name="early"),
            always(lambda w: implies(w["a"].count == 2, True), name="early_word"),
            always(lambda w: not w["a"].count == 99 or True, name="never"),
            always(lambda w: implies(w["a"].count == 99, True), name="never_word"),
        ]
        return System({"a": Node()}, properties=claims)
"""


def test_a_left_side_that_was_true_before_a_checkpoint_is_remembered():
    write(VACUOUS, "vacuous.py")
    kept = ("check", "vacuous.py", "--json", "--checkpoint", "kept")
    told(run(*kept, "--states", "20"), 0)
    rest = told(run(*kept, "--resume"), 0)["coverage"]
    assert [each["property"] for each in rest["vacuous"]] == ["never", "never_word"]


def test_the_page_says_what_to_know_of_the_search(quiet):
    report = told(run("check", quiet, "--json", "--keep-going", "--set", "broken=true"), 1)
    (violation,) = report["violations"]
    assert run("report", violation["trace"], "--out", "page.html").returncode == 0
    page = Path("page.html").read_text()
    remarks = page[
        page.index('<details id="remarks" open>') : page.index('<details id="coverage">')
    ]
    assert "<b>never ran</b> `Node.ping` (no `Ping` was ever sent)" in remarks
    assert '<li class="loud"><b>warning</b> `same` read nothing that ever changed' in remarks


ORDER = """
    class Node(Service):
        peers: set[str] = state(set)
        chosen: str = ""

        @action(when=lambda self: not self.chosen)
        def choose_one(self):
            self.chosen = next(iter(self.peers))

    def system() -> System:
        claim = always(lambda w: not w["n"].chosen, name="nobody")
        return System({"n": Node(peers={"a", "b", "c"})}, properties=[claim])
"""


def test_the_page_says_that_code_depends_on_an_order():
    write(ORDER, "order.py")
    report = told(run("check", "order.py:system", "--json"), 3)
    (violation,) = report["violations"]
    assert run("report", violation["trace"], "--out", "page.html").returncode == 0
    page = Path("page.html").read_text()
    assert '<li class="loud"><b>order</b> order.py:' in page
    remarks = page[
        page.index('<details id="remarks" open>') : page.index('<details id="coverage">')
    ]
    assert "peers" in remarks
