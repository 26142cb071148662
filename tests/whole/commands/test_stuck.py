"""Code that never returns is reported with its line after a limit; presage itself never hangs.

The processes mostly wait for their limit, so they are started together and looked at one by one.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from whole.commands.harness import ONE_NODE, end, refused, run, start, write

LOOP = """
    import select, threading

    LOCK = threading.Lock()

    class Node(Service):
        n: int = 0
        @action(when=lambda self: GUARD)
        def go(self) -> None:
            BODY

    @always
    def fine(world):
        CLAIM
"""
BUILT = """
    def system() -> System:
        return System(nodes={"n0": Node()}, properties=[fine])
"""
FINE = {"BODY": "self.n = 1", "GUARD": "self.n == 0", "CLAIM": "return world['n0'].n < 2"}

Running = tuple[subprocess.Popen[str], str]

STUCK = {
    "an endless loop": {"BODY": "while True: pass  # HERE"},
    "a lock that is never released": {"BODY": "LOCK.acquire(); LOCK.acquire()  # HERE"},
    "a wait in native code": {"BODY": "select.select([], [], [], 1000)  # HERE"},
    "an endless guard": {"GUARD": "all(True for _ in iter(int, 1))"},
    "an endless property": {"CLAIM": "while True: pass  # HERE"},
}


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Running]]:
    """One running check for each way to be stuck, with the place it should name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("stuck"))
        started = {}
        for number, (name, parts) in enumerate(STUCK.items()):
            text = LOOP
            for part, code in (FINE | parts).items():
                text = text.replace(part, code)
            place = write(text + BUILT, f"stuck{number}.py")
            limit = ["--handler-seconds", "1"]
            started[name] = (start("check", f"stuck{number}.py", "--json", *limit), place)
        yield started
        for process, _ in started.values():
            process.kill()
            process.wait()


@pytest.mark.parametrize("name", STUCK)
def test_what_never_returns_is_reported_with_its_line(
    name: str, processes: dict[str, Running]
) -> None:
    process, place = processes[name]
    refused(end(process), 2, f"{place}:", "still running after 1 s")


STARTS = """
    import select

    class Node(Service):
        def start(self) -> None:
            select.select([], [], [], 1000)  # HERE
"""


@pytest.mark.slow
@pytest.mark.parametrize("command", ["doctor", "replay"])
def test_a_blocked_handler_ends_the_other_commands_too(command: str) -> None:
    write(STARTS.replace("select.select([], [], [], 1000)", "raise ValueError") + ONE_NODE)
    assert run("check", "bad.py", "--traces", "kept").returncode == 1
    [trace] = Path("kept").iterdir()
    place = write(STARTS + ONE_NODE)
    target = {"doctor": "bad.py", "replay": str(trace)}[command]
    refused(run(command, target), 2, f"{place}: still running after")
