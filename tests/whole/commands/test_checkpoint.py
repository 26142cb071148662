"""What lies in the folder of a checkpoint is the same search, or is refused with the reason."""

import struct
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from whole.commands.harness import end, refused, run, start, told, write
from whole.commands.relay import RELAY

from presage._core import Codec

FILE = Path("kept/search.checkpoint")
STOPPED = ("--states", "2000", "--keep-going", "--checkpoint", "kept", "--json")
RESUMED = ("--checkpoint", "kept", "--resume", "--keep-going", "--json")


@pytest.fixture
def stopped():
    write(RELAY, "relay.py")
    return told(run("check", "relay.py", *STOPPED), 1)


def resume(*options):
    return run("check", "relay.py", *RESUMED, *options)


def test_a_limit_is_no_end(stopped):
    assert stopped["stopped_by"] == "states"
    assert stopped["resumed_from"] is None and stopped["checkpoints"] == 1
    report = told(resume(), 1)
    assert report["resumed_from"] == stopped["states"]["unique"]
    assert report["exhausted"] and report["states"]["unique"] == 31_895
    assert report["handler_runs"] >= stopped["handler_runs"]
    assert report["seconds"] > stopped["seconds"]
    again = told(resume("--threads", "2"), 1)
    for key in ("states", "faults", "properties", "exhausted"):
        assert again[key] == report[key]


def test_resuming_nothing_begins_afresh_and_says_so():
    write(RELAY, "relay.py")
    report = told(resume(), 1)
    assert report["resumed_from"] is None and report["exhausted"]
    assert "held no checkpoint" in " ".join(report["notes"])


def test_an_unfinished_search_is_not_overwritten(stopped):
    refused(run("check", "relay.py", *STOPPED), 2, "unfinished search", "`--resume` goes on")
    told(resume(), 1)
    told(run("check", "relay.py", *STOPPED), 1)  # a finished one may be


def test_a_damaged_file_is_refused(stopped):
    whole = FILE.read_bytes()
    for at in (30, len(whole) // 2, len(whole) - 1):
        FILE.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        refused(resume(), 2, "kept/search.checkpoint", "is damaged", "digest")
    for length in (0, 10, 40, len(whole) // 2, len(whole) - 1):
        FILE.write_bytes(whole[:length])
        refused(resume(), 2, "is damaged")
    FILE.write_bytes(whole)
    told(resume(), 1)


def test_a_foreign_file_is_refused(stopped):
    FILE.write_text("This is not a checkpoint at all, it is a letter.\n")
    refused(resume(), 2, "is not a checkpoint of presage")
    FILE.unlink()
    FILE.mkdir()
    refused(resume(), 2, "cannot be read: is a directory")


def test_another_version_of_the_file_is_refused(stopped):
    whole = FILE.read_bytes()
    magic = len(b"presage-checkpoint\n")
    changed = whole[:magic] + struct.pack("<I", 99) + whole[magic + 4 : -8]
    FILE.write_bytes(changed + Codec().digest(changed).to_bytes(8, "little"))
    refused(resume(), 2, "is of version 99", "another presage wrote it")


EDITS = [
    ("self.heard = note.count", "self.heard = note.count % 3"),  # a handler
    ("node.heard < 2", "node.heard < 3"),  # a property
    ("% 5", "% 6"),  # an observer
    ("drop=2", "drop=1"),  # a fault
    ("max(self.kept, note.count)", "larger(self.kept, note.count)"),  # a function it calls
    ("self.count < self.most", "self.count < self.most + 1"),  # a guard
    ("count: int = 0", "count: int = 1"),  # a default
    ('"c": "a"', '"c": "b"'),  # the data of a node
]


@pytest.mark.parametrize("old, new", EDITS)
def test_an_edited_system_is_refused(stopped, old, new):
    helper = "def larger(a, b): return a if a > b else b"
    text = Path("relay.py").read_text()
    assert old in text
    Path("relay.py").write_text(f"{text.replace(old, new)}\n{helper}\n")
    refused(resume(), 2, "another version of `Node`", "was edited")


def test_a_comment_is_no_edit_and_the_folder_no_part_of_the_system(stopped, monkeypatch):
    text = Path("relay.py").read_text()
    Path("elsewhere").mkdir()
    Path("elsewhere/relay.py").write_text(f"# A comment.\n\n\n{text}")
    Path("kept").rename("elsewhere/kept")
    monkeypatch.chdir("elsewhere")
    told(resume(), 1)


def test_a_helper_in_another_module_counts_as_well():
    write(RELAY.replace("max(self", "helper.larger(self"), "relay.py")
    text = Path("relay.py").read_text()
    Path("relay.py").write_text(f"import helper\n{text}")
    Path("helper.py").write_text("def larger(a, b): return a if a > b else b\n")
    told(run("check", "relay.py", *STOPPED), 1)
    told(resume("--depth", "12"), 1)
    Path("helper.py").write_text("def larger(a, b): return a if a >= b else b\n")
    refused(resume(), 2, "another version of `Node`")


HIDDEN = """
    from dataclasses import dataclass
    from functools import cache

    @cache
    def word():
        @dataclass(frozen=True)
        class Word:
            text: str

        return Word

    class Node(Service):
        heard: tuple = ()

        @action(when=lambda self: len(self.heard) < 3)
        def speak(self):
            self.heard += (word()(str(len(self.heard))),)

    def system() -> System:
        return System({"a": Node(), "b": Node()})
"""


def test_values_of_a_class_that_cannot_be_found_are_refused():
    write(HIDDEN, "hidden.py")
    told(run("check", "hidden.py", "--depth", "3", "--checkpoint", "kept", "--json"), 0)
    ended = run("check", "hidden.py", "--checkpoint", "kept", "--resume")
    refused(ended, 2, "presage_target_hidden:word.<locals>.Word", "the level of its module")


def test_other_parameters_are_refused(stopped):
    refused(resume("--set", "most=3"), 2, "`Node`, bfs, and this is `Node most=3`, bfs")


def test_a_limit_of_depth_may_grow_but_not_shrink(stopped):
    refused(resume("--depth", "3"), 2, "beyond the limit given now", "smaller `--depth`")
    report = told(resume("--depth", "13"), 1)
    assert report["stopped_by"] == "depth" and report["states"]["depth"] == 13
    assert told(resume(), 1)["states"]["unique"] == 31_895


@pytest.mark.parametrize(
    "options, said",
    [
        (("--resume",), "no checkpoint to go on from"),
        (("--checkpoint", "kept", "--search", "dfs"), "`checkpoint` is given for the search `dfs`"),
        (("--spill", "kept", "--search", "walk", "--memory", "900"), "`spill` is given for the"),
        (("--spill", "kept"), "no limit of memory"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, said):
    refused(run("check", "counter", *options), 2, said)


def test_a_folder_that_cannot_be_written_is_refused_before_the_search(tmp_path):
    Path("file").write_text("")
    refused(run("check", "counter", "--checkpoint", "file"), 2, "no checkpoint can be written")
    refused(run("check", "counter", "--checkpoint", "file/x"), 2, "no checkpoint can be written")
    refused(run("check", "counter", "--spill", "file", "--memory", "900"), 2, "no file can be made")


def test_a_folder_is_used_by_one_search_at_a_time():
    write(RELAY, "relay.py")
    arguments = ("check", "relay.py", "--set", "most=5", "--keep-going", "--checkpoint", "kept")
    process = start(*arguments)
    try:
        while not Path("kept/search.lock").exists():
            assert process.poll() is None
        refused(run(*arguments), 2, "another search writes its checkpoints", "runs twice")
    finally:
        process.kill()
        end(process)


SMALL_FILES = """
    import resource, sys
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
    from presage.cli import main
    sys.exit(main(sys.argv[1:]))
"""


def limited(*arguments):
    """The command in a process whose files may not grow beyond 50 kB."""
    program = textwrap.dedent(SMALL_FILES)
    command = [sys.executable, "-c", program, "check", *arguments, "--json"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_a_full_disk_costs_the_checkpoint_and_not_the_result():
    report = told(limited("paxos", "--set", "clients=2", "--checkpoint", "kept"), 0)
    assert report["exhausted"] and report["states"]["unique"] == 16_668
    assert report["checkpoints"] == 0
    assert "could not be written" in report["notes"][0]
    assert "file too large" in report["notes"][0].lower()
    assert sorted(path.name for path in Path("kept").iterdir()) == ["search.lock"]


def test_a_full_disk_ends_a_search_in_files_with_what_it_knows():
    arguments = ("paxos", "--set", "clients=3", "--memory", "60", "--spill", "spilled")
    report = told(limited(*arguments), 0)
    assert report["stopped_by"] == "memory" and not report["exhausted"]
    assert "could not go on in files" in report["notes"][0]


@pytest.mark.parametrize(
    "arguments, memory, unique",
    [
        pytest.param(("paxos", "--set", "clients=3"), "60", 1_194_428, marks=pytest.mark.slow),
        (("two_phase_commit", "--set", "rms=7"), "44", 296_448),
        pytest.param(
            ("two_phase_commit", "--set", "rms=8"), "50", 1_745_408, marks=pytest.mark.slow
        ),
    ],
)
def test_a_search_larger_than_its_memory_is_exact(arguments, memory, unique, record_property):
    limits = ("--memory", memory, "--spill", "spilled", "--json")
    report = told(run("check", *arguments, *limits), 0)
    assert report["exhausted"] and report["states"]["unique"] == unique
    assert list(Path("spilled").iterdir()) == []
    record_property("peak_mib", report["peak_mib"])


def test_a_search_in_files_is_gone_on_with_in_files():
    limits = ("--memory", "44", "--spill", "spilled", "--checkpoint", "kept", "--json")
    arguments = ("check", "two_phase_commit", "--set", "rms=7", *limits)
    first = told(run(*arguments, "--states", "200000"), 0)
    report = told(run(*arguments, "--resume", "--threads", "2"), 0)
    assert report["resumed_from"] == first["states"]["unique"]
    assert report["states"] == {"unique": 296_448, "generated": 2_744_706, "depth": 23}
