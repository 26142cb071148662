"""`presage explore`: what is in flight, one step back, and the path kept as a file."""

import subprocess
import sys
import urllib.request

import pytest
from msgspec.structs import replace
from whole.browser.test_explore import asked, served, wait_for_steps

from presage.debug.explore import texts
from presage.debug.saved_path import kept
from presage.trace import codec
from presage.trace.export.standalone import standalone

RAFT = """
from dataclasses import dataclass

from presage import Service, System, always, on


@dataclass(frozen=True)
class Append:
    term: int
    entries: tuple[str, ...]


class Node(Service):
    entries: tuple[str, ...] = ()

    def start(self) -> None:
        if self.name == "n0":
            self.send("n1", Append(1, ("put x",)))
            self.send("n1", Append(2, ("put y",)))

    @on(Append)
    def append(self, append: Append) -> None:
        self.entries += append.entries


@always
def short(world) -> bool:
    return len(world["n1"].entries) < 2


def system() -> System:
    return System({"n0": Node(), "n1": Node()}, properties=[short], name="log")
"""


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.py").write_text(RAFT)
    with served("log.py") as server:
        server.explorer.target = "log.py"
        yield server


def test_what_can_happen_is_told_with_what_messages_hold(log):
    assert texts(log.explorer.options)[:2] == [
        "n1 deliver Append(term=1, entries=('put x',)) n0 -> n1",
        "n1 deliver Append(term=2, entries=('put y',)) n0 -> n1",
    ]
    log.explorer.take(0)
    log.explorer.go(0)
    log.explorer.take(1)
    [other] = log.explorer.branches.values()
    assert other == "step 1: n1 deliver Append(term=1, entries=('put x',)) n0 -> n1"


def test_messages_in_flight_are_listed_and_the_last_step_is_undone(log, browser):
    page = browser.new_page()
    page.goto(log.address)
    assert page.locator("#flying li").all_inner_texts() == [
        "n0 -> n1 Append(term=1, entries=('put x',))",
        "n0 -> n1 Append(term=2, entries=('put y',))",
    ]
    assert page.locator("#undo").count() == 0
    page.get_by_role("button", name="term=1").click()
    wait_for_steps(page, 2)
    assert page.locator("#flying li").count() == 1
    page.get_by_role("button", name="undo the last step").click()
    wait_for_steps(page, 1)
    assert page.locator("#flying li").count() == 2
    page.close()


def test_a_path_is_saved_as_a_trace_that_replays(log, browser, tmp_path):
    page = browser.new_page()
    page.goto(log.address)
    page.get_by_role("button", name="term=1").click()
    wait_for_steps(page, 2)
    with page.expect_download() as saved:
        page.get_by_role("link", name="save the path as a trace").click()
    file = tmp_path / saved.value.suggested_filename
    saved.value.save_as(file)
    page.close()
    trace = codec.read(file)
    assert (trace.prop, trace.kind, trace.target) == ("no_exception", "live", "log.py")
    done = presage("replay", file.name)
    assert done.returncode == 0, done.stderr
    assert "reproduced: 1 step, every state the same" in done.stdout
    assert presage("graph", file.name).returncode == 0
    assert presage("report", file.name).returncode == 0


def test_a_path_is_saved_as_a_test_that_needs_no_other_file(log, browser, tmp_path):
    page = browser.new_page()
    log.explorer.take(0)
    log.explorer.take(0)
    page.goto(log.address)
    with page.expect_download() as saved:
        page.get_by_role("link", name="save it as a pytest test").click()
    assert saved.value.suggested_filename == "test_log.py"
    saved.value.save_as(tmp_path / "test_log.py")
    page.close()
    trace = kept(log.explorer)
    assert (trace.prop, trace.kind, trace.step) == ("short", "safety", 2)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_log.py"]
    failed = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert failed.returncode == 1 and "short_is_not_broken_on_this_path" in failed.stdout
    mended = RAFT.replace("< 2", "< 3")
    (tmp_path / "log.py").write_text(mended)
    passed = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert passed.returncode == 0, passed.stdout


def test_files_are_given_to_who_knows_the_address_only(log):
    for name in ("path.trace", "test_path.py"):
        assert asked(log.address + name)[0] == 200
        assert asked(log.address.replace(log.token, "guess") + name)[0] == 403
    with urllib.request.urlopen(log.address + "path.trace", timeout=20) as answer:
        assert answer.headers["Content-Disposition"].startswith("attachment; filename=")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert asked(log.address + "other.py")[0] == 404


def test_hostile_names_stay_in_their_strings(log):
    hostile = "\"\"\"\n'''); import os; os.abort() #\\"
    trace = replace(kept(log.explorer), system=hostile, prop=hostile, target=hostile)
    made = standalone(trace)
    names = compile(made, "test.py", "exec").co_names
    assert "abort" not in names and "os" not in names
    assert max(map(len, made.splitlines())) < 400


def test_processes_have_what_waits_at_each_mailbox(browser):
    with served("simgrid.bugged1") as server:
        sends = [k for k, text in enumerate(texts(server.explorer.options)) if " send " in text]
        server.explorer.take(sends[0])
        page = browser.new_page()
        page.goto(server.address)
        assert page.locator("#flying li").all_inner_texts() == ["at server: 1 of client 1"]
        page.close()


def presage(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "presage", *words]
    return subprocess.run(command, capture_output=True, text=True)
