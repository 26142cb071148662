"""`presage check` of folders and sweeps, with baselines, and what it leaves for machines."""

import json
from pathlib import Path
from xml.etree import ElementTree as xml

import pytest
from unit.cli.command import COUNTER, fails, run, write

TWO = """
    from presage import Service, System, action, always

    class Counter(Service):
        count: int = 0

        @action(when=lambda self: self.count < 3)
        def increment(self) -> None:
            self.count += 1
            if self.count == 3:
                raise ValueError(f"three is too many: {self.count}")

    @always
    def small(world):
        return all(n.count != 1 for n in world.nodes) and all(n.count != 2 for n in world.nodes)

    def system(nodes: int = 1) -> System:
        return System({f"n{i}": Counter() for i in range(nodes)}, properties=[small])
"""
ALL = {
    ("small", "all(n.count != 1 for n in world.nodes)"),
    ("small", "all(n.count != 2 for n in world.nodes)"),
    ("no_exception", "ValueError in increment"),
}


def causes_of(*arguments: str) -> set[tuple[str, str]]:
    report = json.loads(run("check", *arguments, "--json").stdout)
    return {(found["property"], found["cause"]) for found in report["violations"]}


def test_several_causes_are_found_in_one_run_each_with_a_trace_that_replays() -> None:
    write(TWO, name="two.py")
    assert causes_of("two.py", "--causes", "9") == ALL
    assert len(causes_of("two.py", "--keep-going")) == 2  # one of each property
    told = run("check", "two.py", "--causes", "9")
    assert told.returncode == 1
    assert "3 causes found; behind them nothing else breaks in what was searched" in told.stdout
    assert "there may be more behind them" in run("check", "two.py", "--causes", "2").stdout
    for path in Path(".presage/traces").glob("*.trace"):
        assert run("replay", str(path)).returncode in (0, 1), path  # 0: the nearest good runs


def test_a_baseline_hides_what_it_names_and_nothing_else() -> None:
    write(TWO, name="two.py")
    fails(run("check", "two.py", "--baseline", "known.json"), 2, "there is no baseline", "--accept")
    fails(run("check", "two.py", "--accept"), 2, "`--accept` is given, and no baseline")
    accepted = run("check", "two.py", "--causes", "2", "--baseline", "known.json", "--accept")
    assert accepted.returncode == 0
    assert "known.json has 2 known violations now" in accepted.stderr
    again = run("check", "two.py", "--baseline", "known.json", "--json")
    report = json.loads(again.stdout)
    assert again.returncode == 1 and len(report["violations"]) == 1 and len(report["known"]) == 2
    run("check", "two.py", "--baseline", "known.json", "--accept")
    held = run("check", "two.py", "--baseline", "known.json")
    assert held.returncode == 0 and held.stdout.startswith("3 known violations  ")
    assert "held" not in held.stdout  # what is known to break does not hold
    entries = json.loads(Path("known.json").read_text(encoding="utf-8"))["violations"]
    assert {(entry["property"], entry["cause"]) for entry in entries} == ALL
    assert {entry["target"] for entry in entries} == {"two.py"}


def test_a_baseline_is_known_from_any_folder_and_forgets_what_was_mended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(TWO, name="two.py")
    run("check", "two.py", "--causes", "9", "--baseline", "known.json", "--accept")
    write(TWO.replace("three is", "not").replace("self.count == 3", "False"), name="two.py")
    Path("sub").mkdir()
    monkeypatch.chdir("sub")
    told = run("check", "../two.py", "--baseline", "../known.json")
    monkeypatch.chdir("..")
    assert told.returncode == 0
    assert "note: known, and gone: no_exception: ValueError in increment" in told.stderr
    run("check", "two.py", "--baseline", "known.json", "--accept")
    assert "ValueError" not in Path("known.json").read_text(encoding="utf-8")
    Path("known.json").write_text("{}", encoding="utf-8")
    fails(run("check", "two.py", "--baseline", "known.json"), 2, "is no baseline", "--accept")


def test_a_sweep_grows_a_parameter_and_says_what_was_cut() -> None:
    write(COUNTER)
    told = run("check", "counter.py", "--sweep", "nodes=1..5", "--states", "70")
    assert told.returncode == 0
    assert "exhausted up to: nodes=3" in told.stdout  # 4 ** 3 states
    assert "  cut: nodes=4\n  not tried: nodes=5\n" in told.stdout
    assert "not tried: behind nodes=4" in told.stdout
    sized = run("check", "counter.py", "--sweep", "nodes=1..2", "--budget", "1m", "--json")
    found = json.loads(sized.stdout)
    assert found["frontier"] == [{"nodes": "2"}] and found["causes"] == []
    assert [item["report"]["states"]["unique"] for item in found["items"]] == [4, 16]


def test_a_sweep_ends_at_the_smallest_size_that_breaks() -> None:
    write(TWO, name="two.py")
    told = run("check", "two.py", "--sweep", "nodes=1..3")
    assert told.returncode == 1
    assert "cause: small: all(n.count != 1 for n in world.nodes); at nodes=1\n" in told.stdout
    assert "not tried: nodes=2; nodes=3" in told.stdout


def test_bad_sweeps_are_refused() -> None:
    write(COUNTER)
    fails(run("check", "counter.py", "--sweep", "nodes=4..1"), 2, "4..1 has 0 values")
    fails(run("check", "counter.py", "--sweep", "nodes=a..b"), 2, "is not two whole numbers")
    fails(run("check", "counter.py", "--sweep", "nodes"), 2, "not of the form KEY=A..B")
    fails(run("check", "counter.py", "--budget", "5x"), 2, "'5x' is not a number of seconds")
    twice = ("--sweep", "nodes=1..2", "--set", "nodes=1")
    fails(run("check", "counter.py", *twice), 2, "`nodes` is given more than once")
    Path("empty").mkdir()
    fails(run("check", "empty", "--sweep", "nodes=1..2"), 2, "is a folder, and has no parameters")
    fails(
        run("check", "paxos", "--causes", "2", "--checkpoint", "c"), 2, "leave out `--checkpoint`"
    )


def test_a_folder_is_searched_for_systems_and_runs_nothing_else() -> None:
    write(COUNTER, name="good.py")
    write(TWO, name="deep_two.py")
    Path("deep").mkdir()
    Path("deep_two.py").rename("deep/two.py")
    Path("script.py").write_text("raise SystemExit('I am run')\n", encoding="utf-8")
    text = "import presage\nraise SystemExit('I am run')\nsystem = presage.System({})\n"
    for place in (".hidden", "venv"):
        Path(place).mkdir()
        Path(place, "other.py").write_text(text, encoding="utf-8")
    Path("venv/pyvenv.cfg").touch()
    Path("test_other.py").write_text(text, encoding="utf-8")
    told = run("check", ".", "--junit", "result.xml", GITHUB_ACTIONS="true")
    assert told.returncode == 1 and "I am run" not in told.stdout + told.stderr
    assert "✗ deep/two.py:system  1 violation" in told.stdout
    assert "✓ good.py:system" in told.stdout
    [line] = [line for line in told.stderr.splitlines() if line.startswith("::")]
    assert line.startswith(
        "::error file=deep/two.py,line=14,title=small fails at step 1::deep/two.py:system: "
    )
    assert "%0A" in line
    root = xml.fromstring(Path("result.xml").read_text(encoding="utf-8"))
    assert [suite.get("failures") for suite in root] == ["1", "0"]
    assert root.get("tests") == "2" and root.get("failures") == "1"
    fails(run("check", ".", "--set", "nodes=2"), 2, "is a folder, and --set is given")
    fails(run("check", ".hidden/no"), 2, "there is no system `.hidden/no`")


def test_a_junit_file_tells_what_could_not_be_judged_and_what_could_not_be_loaded() -> None:
    write(TWO, name="two.py")
    run("check", "two.py", "--causes", "9", "--baseline", "known.json", "--accept")
    run("check", "two.py", "--baseline", "known.json", "--junit", "known.xml")
    root = xml.fromstring(Path("known.xml").read_text(encoding="utf-8"))
    skipped = [case.find("skipped") for case in root.iter("testcase")]
    assert all(each is not None and "known: " in each.get("message", "") for each in skipped)
    fails(run("check", "none.py", "--junit", "none.xml"), 2, "`none.py` is not a file")
    root = xml.fromstring(Path("none.xml").read_text(encoding="utf-8"))
    assert root.get("errors") == "1"
    fails(run("check", "two.py", "--junit", "no/such/file.xml"), 2, "cannot be written")
