"""The documentation runs: every Python block, every `presage` command, every link.

The blocks of a page share one namespace, in order. A block that begins with a comment naming a
file, `# lock.py`, is also saved there, so that commands further down the page can use it; so is
a block of TOML, `# net.toml`, and later blocks can import it. A block that imports mpi4py is a
script, and only saved. Of a whole workflow, a block of YAML, the lines `presage ...` of its steps
are run. In a `console` block a line `$ presage ...` is run in the page's own folder, and must end
with status 0, or with N if the line ends in `# exit N`. One that ends in `&` goes on while the
rest of the page runs; then it is asked to end, and must do so with status 0.
"""

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from whole.commands.harness import end, run, start

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted(
    path
    for path in [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *(ROOT / "docs").rglob("*.md")]
    if path.is_file()
)

SLOW = ("docs/tutorial/a-bug-of-zookeeper.md", "docs/howto/semantic-reduction.md")

FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\s*$")
FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r"# (?P<name>\w+\.(?:py|toml))$")
COMMAND = re.compile(r"\$ presage (?P<arguments>.*?)(?:\s+# exit (?P<status>\d+))?\s*$")
PATIENCE = 30  # seconds until nodes run; only a guard against a hang
LINK = re.compile(r"\]\((?P<path>[^)\s#:]+)(?:#[^)\s]*)?\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line of the page it begins on."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    language, lines, start = "", [""], 0
    inside = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if fence and not inside:
            inside, language, lines, start = True, fence["language"], [], number + 1
        elif fence:
            inside = False
            yield Block(language, "\n".join(lines) + "\n", start)
        elif inside:
            lines.append(line)
    assert not inside, f"{page}: a block that begins on line {start} never ends"


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def save(block: Block) -> None:
    if saved := SAVED.match(block.text.partition("\n")[0]):
        with Path(saved["name"]).open("a", encoding="utf-8") as file:
            file.write(block.text)


def run_python(page: Path, block: Block, module: ModuleType) -> None:
    save(block)
    if "\nfrom mpi4py" in block.text:
        return
    # Empty lines in front make tracebacks and properties name the page's own lines.
    padded = "\n" * (block.line - 1) + block.text
    exec(compile(padded, str(page), "exec"), module.__dict__)


class Background:
    """Commands that go on while the rest of a page runs."""

    def __init__(self) -> None:
        self._processes: list[subprocess.Popen[str]] = []

    def start(self, arguments: list[str]) -> None:
        """Start nodes, and wait until all of them have taken a step."""
        self._processes.append(start(*arguments))
        last = time.monotonic() + PATIENCE
        while not self._runs():
            assert time.monotonic() < last, f"`presage {shlex.join(arguments)}` does not come up"
            time.sleep(0.05)

    def _runs(self) -> bool:
        told = run("status", "--json")
        if told.returncode != 0:
            return False
        return all(node.get("steps") for node in json.loads(told.stdout)["nodes"].values())

    def stop(self) -> None:
        """Ask them to end."""
        for process in self._processes:
            process.send_signal(signal.SIGTERM)
        for process in self._processes:
            ended = end(process)
            assert ended.returncode == 0, ended.stderr


def run_commands(page: Path, block: Block, background: Background) -> None:
    for offset, line in enumerate(block.text.splitlines()):
        if not (command := COMMAND.match(line)):
            continue
        arguments = shlex.split(command["arguments"])
        if arguments[-1] == "&":
            background.start(arguments[:-1])
            continue
        done = run(*arguments)
        assert done.returncode == int(command["status"] or 0), (
            f"{name_of(page)}:{block.line + offset}: exit status {done.returncode}\n"
            f"{done.stdout}{done.stderr}"
        )


def run_workflow(page: Path, block: Block) -> None:
    workflow = yaml.safe_load(block.text)
    for job in workflow["jobs"].values() if "jobs" in workflow else ():
        scripts = "\n".join(step.get("run", "") for step in job["steps"])
        for line in filter(lambda line: line.startswith("presage "), scripts.splitlines()):
            done = run(*shlex.split(line)[1:])
            assert done.returncode == 0, f"{name_of(page)}: {line}\n{done.stdout}{done.stderr}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a page, from which its blocks import what was saved there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if Path(getattr(module, "__file__", None) or "/").parent == tmp_path:
            del sys.modules[name]


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] * (name_of(page) in SLOW), id=name_of(page))
        for page in PAGES
    ],
)
def test_every_block_of_a_page_runs(
    page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("page_" + re.sub(r"\W", "_", name_of(page)))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    background = Background()
    try:
        for block in blocks(page):
            if block.language == "python":
                run_python(page, block, module)
            elif block.language == "toml":
                save(block)
            elif block.language == "yaml":
                run_workflow(page, block)
            elif block.language == "console":
                run_commands(page, block, background)
    finally:
        background.stop()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    prose = FENCED.sub("", page.read_text(encoding="utf-8"))
    paths = [link["path"] for link in LINK.finditer(prose)]
    missing = [path for path in paths if not (page.parent / path).exists()]
    assert not missing, f"{name_of(page)}: {', '.join(missing)}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_says_what_it_is(page: Path) -> None:
    unnamed = [block.line for block in blocks(page) if not block.language]
    assert not unnamed, f"{name_of(page)}: no language on the blocks of lines {unnamed}"
