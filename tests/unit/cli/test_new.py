"""`presage new`: a project that runs as it was written, and writes over nothing."""

import subprocess
import sys
from pathlib import Path

import pytest
from unit.cli.command import fails, run

from presage import check
from presage.cli.project import FILES
from presage.cli.target.load import load


def test_a_new_project_holds_and_its_own_test_passes() -> None:
    told = run("new", "my-shop")
    assert told.returncode == 0 and told.stdout.endswith("presage check my_shop.py\n  pytest\n")
    project = Path("my-shop")
    written = {str(path.relative_to(project)) for path in project.rglob("*") if path.is_file()}
    assert written == {name.replace("$name", "my_shop") for name in FILES}
    check(load("my-shop/my_shop.py").system, traces=None).assert_holds()
    pytest_run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(pytest_run, cwd=project, capture_output=True, text=True)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


def test_the_commands_in_the_readme_of_a_new_project_work(monkeypatch) -> None:
    run("new", "shop")
    monkeypatch.chdir("shop")
    lines = Path("README.md").read_text(encoding="utf-8").splitlines()
    commands = [line.split("#")[0].split()[1:] for line in lines if line[:12] == "    presage "]
    assert len(commands) == 4
    for words in commands:
        told = run(*words)
        assert told.returncode == 0, told.stderr


def test_what_a_comment_of_it_says_breaks_it_breaks_it() -> None:
    run("new", "shop")
    service = Path("shop/shop.py")
    text = service.read_text(encoding="utf-8")
    service.write_text(text.replace('durable("")', '""'), encoding="utf-8")
    assert run("check", "shop/shop.py").returncode == 1
    pytest_run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(pytest_run, cwd="shop", capture_output=True, text=True)
    assert "one_leader fails at step 6" in done.stdout
    assert "report.py" not in done.stdout  # what is shown is the test that failed, not presage


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("3x", "`3x` is not a name in Python"),
        ("class", "`class` is not a name in Python"),
        ("json", "`json` is the name of a module that is installed here"),
        ("presage", "`presage` is the name of a module that is installed here"),
        ("taken", "`taken` exists already"),
        ("taken/file", "`taken/file` exists already"),
        ("taken/file/below", "cannot be written: Not a directory"),
    ],
)
def test_a_folder_that_cannot_be_is_refused(name: str, said: str) -> None:
    Path("taken").mkdir()
    Path("taken/file").write_text("kept", encoding="utf-8")
    fails(run("new", name), 2, said)
    assert Path("taken/file").read_text(encoding="utf-8") == "kept"
