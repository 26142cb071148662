"""Numbers, names and files that nobody means: one clear line, the right status, nothing lost."""

import subprocess
from pathlib import Path

import pytest
from whole.commands.harness import command, refused, run, told, write

ODD = [
    ["check", "counter", "--checkpoint", "kept", "--checkpoint-seconds", "1e300"],
    ["check", "counter", "--seconds", "1e300"],
    ["check", "script.py", "--mpi", "4294967295"],
    ["mpirun", "-n", "4294967295", "script.py"],
]


@pytest.mark.parametrize("arguments", ODD, ids=" ".join)
def test_a_number_beyond_all_use_is_refused_in_one_line(arguments: list[str]) -> None:
    Path("script.py").write_text("print(1)\n", encoding="utf-8")
    ended = run(*arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("error: argument -")
    assert ended.stderr.count("\n") == 2


TARGETS = [
    "x.py --mpi ",
    "a --mpi b",
    "x.py --mpi 2 --buffering zero 'unclosed",
    "x.py --mpi two --buffering zero",
    "x.py --mpi 2 --buffer zero",
    "x.py --mpi 999999999999 --buffering zero",
]


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_that_looks_like_a_script_with_options_is_refused(target: str) -> None:
    refused(run("check", target, "--json"), 2, "`")


def damaged(old: bytes, new: bytes) -> str:
    """A trace of which every `old` has become `new`."""
    [trace] = told(run("check", "counter", "--json"), 1)["violations"]
    content = Path(trace["trace"]).read_bytes()
    Path("bad.trace").write_bytes(content.replace(old, new))
    return "bad.trace"


@pytest.mark.parametrize("new", [b"c\xffunter", b"c\x00unter", rb"c\u0000unter"])
def test_a_trace_that_is_no_text_or_names_none_is_refused(new: bytes) -> None:
    ended = run("replay", damaged(b"counter", new))
    assert "presage itself failed" not in ended.stderr
    refused(ended, 2)


@pytest.mark.parametrize("arguments", [["check", "counter"], ["check", "counter", "--json"]])
def test_a_full_disk_on_standard_output_loses_nothing(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            command(*arguments), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ended.returncode == 2
    assert "error: standard output cannot be written: no space left on device" in ended.stderr
    assert "no_lost_increment" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert list(Path().rglob("*.trace"))


def test_a_name_of_a_folder_that_is_no_text_can_be_reported() -> None:
    write("print('x')\n")
    arguments = [part.encode() for part in command("check", "counter", "--json", "--traces")]
    ended = subprocess.run([*arguments, b"a\xffb"], capture_output=True, check=False)
    assert ended.returncode == 1 and b"itself" not in ended.stderr
