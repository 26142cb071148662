"""`presage report`: the page, beside it the live path, and the other forms."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from unit.cli.command import COUNTER, PRESAGE, fails, run, write

from presage.trace import codec


@pytest.fixture
def trace(folder: Path) -> str:
    write(COUNTER, limit=2)
    found = run("check", "counter.py", "--json", "--traces", "kept")
    [violation] = json.loads(found.stdout)["violations"]
    path: str = violation["trace"]
    return path


def page_of(path: str) -> dict:
    text = Path(path).read_text(encoding="utf-8")
    return json.loads(text.split('id="data">')[1].split("</script>")[0])


def test_a_page_is_written_under_the_name_of_the_trace(trace: str) -> None:
    result = run("report", trace)
    name = f"{Path(trace).stem}.html"
    assert (result.returncode, result.stdout) == (0, f"page: {name}\n")
    data = page_of(name)
    assert data["fact"] == "small fails at step 3"
    assert data["opens"] == 3 and data["command"] == f"presage replay {trace}"
    assert data["main"]["says"][data["main"]["steps"][3]["verdicts"][0]][1] == "the count is 3"
    assert data["main"]["steps"][1]["source"].startswith("counter.py:")


def test_a_note_is_on_the_page_and_another_trace_beside(trace: str) -> None:
    codec.write(codec.read(trace).with_note(2, "look"), "noted.trace")
    run("report", trace, "--out", "page.html", "--with", "noted.trace")
    [other] = page_of("page.html")["others"]
    assert (other["label"], other["kind"], other["from"]) == ("noted.trace", "with", 4)
    assert other["story"]["notes"] == [[2, "look"]]


def test_the_nearest_live_path_is_found_by_itself() -> None:
    found = run(
        *("check", "mace_transport", "--set", "bug=MT-3", "--search", "hunt", "--json"),
        *("--walks", "60000", "--traces", "kept"),
    )
    [violation] = json.loads(found.stdout)["violations"]
    run("report", violation["trace"], "--out", "page.html")
    data = page_of("page.html")
    assert data["opens"] == violation["critical"]
    [other] = data["others"]
    assert other["label"] == "nearest live path"
    assert other["from"] <= violation["critical"] and other["diffs"][str(violation["critical"])]


def test_every_form_is_written_and_no_page(trace: str) -> None:
    forms = ("shiviz", "perfetto", "mermaid", "itf", "pytest")
    arguments = [part for form in forms for part in (f"--{form}", f"{form}.out")]
    result = run("report", trace, *arguments)
    assert result.returncode == 0 and len(result.stdout.splitlines()) == 5
    assert sorted(path.name for path in Path().glob("*.out")) == sorted(f"{f}.out" for f in forms)
    assert not list(Path().glob("*.html"))


def outcome() -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_it.py"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_the_pytest_file_fails_until_the_violation_is_corrected(trace: str) -> None:
    Path("tests").mkdir()
    run("report", trace, "--pytest", "tests/test_it.py")
    failed = outcome()
    assert failed.returncode == 1 and "the count is 3" in failed.stdout
    write(COUNTER, limit=3)
    passed = outcome()
    assert passed.returncode == 0 and "1 passed" in passed.stdout and "warn" not in passed.stdout
    write(COUNTER.replace("self.count += 1", "self.count += 2"), limit=3)
    changed = outcome()
    assert changed.returncode == 0 and "the trace no longer fits" in changed.stdout


def test_without_a_browser_the_page_is_written_all_the_same(trace: str) -> None:
    result = run("report", trace, "--open", BROWSER="none", PATH="", DISPLAY="")
    assert result.returncode == 0 and result.stdout.startswith("page: ")
    assert "no browser was found" in result.stderr


def test_what_cannot_be_reported_is_said(trace: str) -> None:
    fails(run("report", "none.trace"), 2, "cannot be read")
    nowhere = run("report", trace, "--out", "no/such/page.html")
    assert nowhere.returncode == 2 and "`no/such/page.html` cannot be written" in nowhere.stderr
    write(COUNTER.replace("self.count += 1", "self.count += 2"), limit=2)
    changed = run("report", trace)
    assert changed.returncode == 2 and "leads to another state" in changed.stderr


def test_a_page_names_no_folder_of_the_machine(trace: str, folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    found = subprocess.run(
        [*PRESAGE, "check", str(folder / "counter.py"), "--json", "--traces", str(folder / "far")],
        capture_output=True,
        text=True,
        cwd=folder / "elsewhere",
    )
    [violation] = json.loads(found.stdout)["violations"]
    far = folder / "elsewhere" / violation["trace"]
    assert run("report", str(far), "--out", "far.html").returncode == 0
    assert str(folder) not in Path("far.html").read_text(encoding="utf-8")
    data = page_of("far.html")
    assert data["source"].startswith("counter.py:")
    assert data["command"] == f"presage replay {far.name}"
    assert data["main"]["steps"][1]["source"] in data["sources"]


@pytest.mark.parametrize("command", ["replay", "graph"])
def test_traces_are_told_on_the_whole_width_and_cut_nowhere(command: str) -> None:
    options = ["--set", "clients=2", "--set", "bug=last_promise", "--json", "--traces", "kept"]
    found = run("check", "paxos", *options)
    [violation] = json.loads(found.stdout)["violations"]
    for columns in (60, 100, 200):
        told = run(command, violation["trace"], COLUMNS=str(columns)).stdout
        lines = [line for line in told.splitlines() if " --> " not in line]
        assert max(map(len, lines)) <= columns
        flat = " ".join(told.split())
        assert flat.count(" s0 -> s1") >= 2 and flat.count(" s2 -> s1") >= 2
    assert max(map(len, lines)) > 120
    assert "proposal=Proposal(request=0, client='c0', value='A')) s0 -> s1" in told
