"""What was found before the checked code ended the search is told with what ended it."""

from pathlib import Path

import pytest
from whole.commands.harness import refused, run, told, write

TEXT = """
    import ctypes, os

    STRLEN = ctypes.CDLL(None).strlen

    class Node(Service):
        n: int = 0
        @action(when=lambda self: self.n < 9)
        def go(self) -> None:
            self.n += 1
            if self.n == 5:
                BODY  # HERE

    @always
    def small(world):
        return world["n0"].n < 3

    def system() -> System:
        return System(nodes={"n0": Node()}, properties=[small])
"""


ENDS = ["STRLEN(8)", "os.listdir('.')", "os._exit(0)"]


def trace_in(text: str) -> str:
    """The path of the trace that a message names."""
    (line,) = [line for line in text.splitlines() if line.startswith("  found before: ")]
    assert line.startswith("  found before: `small` fails at step 3; its trace: `")
    return line.split("`")[-2]


@pytest.mark.parametrize(
    ("body", "search"),
    [*((body, "bfs") for body in ENDS), *((ENDS[0], search) for search in ("dfs", "tree", "walk"))],
)
def test_a_violation_is_not_lost_by_what_comes_after_it(body: str, search: str) -> None:
    place = write(TEXT.replace("BODY", body))
    ended = run("check", "bad.py", "--json", "--keep-going", "--search", search)
    refused(ended, 3, f"{place}: ", "  found before: `small` fails at step 3")
    assert run("replay", trace_in(ended.stderr)).returncode == 1
    assert run("check", "bad.py", "--json").returncode == 1


@pytest.mark.parametrize("body", ENDS)
def test_a_violation_of_a_checkpoint_is_not_lost_by_what_comes_after_it(body: str) -> None:
    place = write(TEXT.replace("BODY", body))
    kept = ["check", "bad.py", "--json", "--keep-going", "--checkpoint", "kept"]
    first = told(run(*kept, "--states", "4"), 1)
    assert [found["property"] for found in first["violations"]] == ["small"]
    Path(first["violations"][0]["trace"]).unlink()
    ended = run(*kept, "--resume")
    refused(ended, 3, f"{place}: ", "  found before: `small` fails at step 3")
    assert run("replay", trace_in(ended.stderr)).returncode == 1


def test_a_resumed_search_reports_the_violations_of_its_checkpoint() -> None:
    write(TEXT.replace("BODY", "pass"))
    kept = ["check", "bad.py", "--json", "--keep-going", "--checkpoint", "kept"]
    whole = told(run("check", "bad.py", "--json", "--keep-going"), 1)
    told(run(*kept, "--states", "4"), 1)
    resumed = told(run(*kept, "--resume"), 1)
    for key in ("violations", "properties", "states", "exhausted"):
        assert resumed[key] == whole[key]


def test_a_trace_saved_early_gives_way_to_the_whole_one() -> None:
    write(TEXT.replace("BODY", "pass"))
    report = told(run("check", "bad.py", "--json", "--keep-going", "--search", "walk"), 1)
    saved = [found[name] for found in report["violations"] for name in ("trace", "live")]
    assert sorted(map(str, Path(".presage/traces").iterdir())) == sorted(filter(None, saved))


PROGRAM = """
    import ctypes
    from presage.mailbox import Mailbox

    STRLEN = ctypes.CDLL(None).strlen

    def sender(name):
        Mailbox.by_name("box").put(name)

    def receiver():
        first = Mailbox.by_name("box").get()
        Mailbox.by_name("box").get()
        if first == "b":
            STRLEN(8)  # HERE
        raise ValueError(first)

    def system() -> Program:
        return Program({"a": Process(sender, "a"), "b": Process(sender, "b"), "r": receiver})
"""


def test_what_a_program_breaks_is_not_lost_either() -> None:
    place = write(PROGRAM)
    ended = run("check", "bad.py", "--json", "--keep-going", "--reduction", "none")
    refused(ended, 3, f"{place}: ", "  found before: `no_exception` fails at step")
    path = ended.stderr.rsplit("`", 2)[-2]
    assert run("replay", path).returncode == 1


def test_nothing_is_said_of_findings_where_there_are_none() -> None:
    write(TEXT.replace("BODY", "STRLEN(8)").replace("< 3", "< 30"))
    ended = run("check", "bad.py", "--json", "--keep-going")
    assert ended.returncode == 3 and "found before" not in ended.stderr
