"""What each command says and how it ends."""

import json
import re
from pathlib import Path

import pytest
from unit.cli.command import COUNTER, fails, run, write

import presage
from presage.cli import main
from presage.search.check import check
from presage.systems import SHIPPED
from presage.trace import codec


def test_what_holds_ends_with_status_0_and_one_summary() -> None:
    write(COUNTER)
    result = run("check", "counter.py:system", "--set", "nodes=2")
    assert result.returncode == 0
    assert "1 property held, exhaustively  16 states, 25 transitions, depth 7" in result.stdout
    assert ", seed 0\n  ✓ small\n" in result.stdout
    assert "counting" in result.stderr and "counting" not in result.stdout


def test_a_violation_ends_with_status_1_and_replays_until_it_is_corrected() -> None:
    write(COUNTER, limit=2)
    found = run("check", "counter.py", COLUMNS="120")
    assert found.returncode == 1
    assert (
        "violation[safety] small fails at step 3\n  --> counter.py:13   def small" in found.stdout
    )
    assert "= why: the count is 3" in found.stdout
    assert "= changed: n0.count  2 -> 3" in found.stdout
    command = re.search(r"presage (replay \S+)", found.stdout)
    assert command is not None
    again = run(*command[1].split())
    assert again.returncode == 1
    assert "= why: the count is 3\nreproduced: 3 steps, every state the same" in again.stdout

    write(COUNTER, limit=3)
    corrected = run(*command[1].split())
    assert corrected.returncode == 0
    assert "not reproduced: small is not violated by the same 3 steps" in corrected.stdout
    told = json.loads(run(*command[1].split(), "--json").stdout)
    assert (told["reproduced"], told["property"], told["steps"]) == (False, "small", 3)


def test_a_replay_uses_the_parameters_of_the_trace() -> None:
    write(COUNTER, limit=2)
    found = run("check", "counter.py", "--set", "nodes=2", "--json", "--traces", "kept")
    [violation] = json.loads(found.stdout)["violations"]
    assert violation["trace"].startswith("kept/small-")
    assert violation["step"] == violation["steps"] == 3
    assert run("replay", violation["trace"]).returncode == 1


def test_a_trace_saved_from_python_needs_a_target() -> None:
    from presage.systems.counter import system

    [violation] = check(system(), traces="traces").violations
    assert violation.trace_path is not None
    fails(run("replay", violation.trace_path), 2, "--target TARGET")
    assert run("replay", violation.trace_path, "--target", "counter").returncode == 1


def test_a_trace_of_a_changed_system_is_refused() -> None:
    write(COUNTER, limit=2)
    run("check", "counter.py", "--traces", "kept")
    [path] = Path("kept").iterdir()
    write(COUNTER.replace("self.count += 1", "self.count += 2"), limit=2)
    result = run("replay", str(path))
    assert result.returncode == 2
    assert "error: step 1 (`increment` at n0) leads to another state" in result.stderr
    assert "the system was edited" in result.stderr
    path.write_bytes(codec.encode(codec.read(path))[:-9])
    fails(run("replay", str(path)), 2, "is damaged", "make it again with `presage check`")
    fails(run("replay", "none.trace"), 2, "cannot be read: no such file or directory")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check"], "the following arguments are required: TARGET, such as `paxos`"),
        (["chekc", "paxos"], "there is no 'chekc'; did you mean `check`?"),
        (["check", "paxos", "--dept", "3"], "unrecognized arguments: --dept 3"),
        (["check", "paxos", "--depth", "0"], "argument --depth: 0 is not between 1 and 4294967295"),
        (["check", "paxos", "--depth", "x"], "argument --depth: 'x' is not a whole number"),
        (["check", "paxos", "--states", "1" + "0" * 30], "is not between 1 and"),
        (["check", "paxos", "--seed", "-1"], "argument --seed: -1 is not between 0 and"),
        (["check", "paxos", "--seconds", "-1"], "-1 is not a positive number of seconds"),
        (["check", "paxos", "--seconds", "x"], "'x' is not a number of seconds"),
        (["check", "paxos", "--search", "hope"], "--search: there is no 'hope' (choose from bfs,"),
        (["check", "paxos", "--set", "clients"], "'clients' is not of the form KEY=VALUE"),
        (["check", "paxos", "--set", "a=1", "--set", "a=2"], "`a` is set more than once"),
        (["replay"], "the following arguments are required: TRACE"),
    ],
)
def test_wrong_usage_ends_with_status_2(arguments: list[str], said: str) -> None:
    fails(run(*arguments), 2, said, "way out: ")


def test_without_a_command_the_help_is_shown() -> None:
    result = run()
    assert (result.returncode, result.stdout) == (2, "")
    for command in ("check", "replay", "report", "explore", "systems", "doctor"):
        assert f"\n    {command} " in result.stderr
    first, core, built, running = run("--version").stdout.splitlines()
    assert first == f"presage {presage.__version__}"
    assert core.startswith(f"core {presage.__version__}: release, opt-level ")
    assert built.startswith("built by rustc 1.") and running.startswith("running on cpython 3.")
    assert run("check", "--help").returncode == 0


def test_the_help_of_check_fits_a_screen() -> None:
    lines = run("check", "--help", COLUMNS="80").stdout.splitlines()
    assert len(lines) <= 48 and max(map(len, lines)) < 80


def test_hunt_is_check_with_the_search_hunt_and_its_help_lists_what_belongs_to_it() -> None:
    system = ("mace_transport", "--set", "bug=MT-5", "--set", "messages=2", "--set", "drops=1")
    how = (*system, "--walks", "500", "--samples", "0", "--json")
    alone, old = run("hunt", *how), run("check", *how, "--search", "hunt")
    assert alone.returncode == old.returncode == 1

    def facts(text: str) -> object:
        report = json.loads(text)
        return report["properties"], report["states"], report["search"]

    assert facts(alone.stdout) == facts(old.stdout)
    assert "--walk-length" in run("hunt", "--help").stdout
    assert "--walk-length" not in run("check", "--help").stdout
    assert "unrecognized arguments: --spill" in run("hunt", "counter", "--spill", "x").stderr


def test_systems_lists_what_can_be_checked() -> None:
    result = run("systems", COLUMNS="80")
    assert (result.returncode, result.stderr) == (0, "")
    for name in SHIPPED:
        assert re.search(rf"^{name} ", result.stdout, re.MULTILINE)
    assert re.search(r"^  bug=none +bug switch: ", result.stdout, re.MULTILINE)
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert run("systems", "--ascii").stdout.isascii()


def test_the_doctor_finds_nothing_in_a_sound_system() -> None:
    result = run("doctor", "two_phase_commit")
    assert (result.returncode, result.stderr) == (0, "")
    assert "nothing found in " in result.stdout
    told = json.loads(run("doctor", "two_phase_commit", "--set", "rms=2", "--json").stdout)
    assert (told["target"], told["findings"], told["hash_seeds"]) == (
        "two_phase_commit",
        [],
        [1, 2],
    )


def test_the_doctor_names_the_field_that_depends_on_the_hash_seed() -> None:
    write(
        """
        from presage import Service, System, action
        class Node(Service):
            order: tuple[str, ...] = ()
            @action(when=lambda self: not self.order)
            def go(self) -> None:
                print("noise")
                self.order = tuple({f"peer{i}" for i in range(20)})
        def system() -> System: return System(nodes={"n0": Node()})
        """
    )
    result = run("doctor", "counter.py")
    assert (result.returncode, result.stderr) == (3, "")
    assert "nondeterminism in counter.py" in result.stdout
    assert "differed in `order`" in result.stdout
    result = run("doctor", "counter.py", "--json")
    assert result.returncode == 3
    assert len(json.loads(result.stdout)["findings"]) == 1


def test_the_doctor_says_what_it_cannot_examine() -> None:
    fails(run("doctor", "paxoss"), 2, "did you mean `paxos`?")


def test_an_interrupt_that_python_wraps_is_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr("presage.cli.collect_garbage", interrupted)
    assert main(["systems"]) == 130
    assert capsys.readouterr().err == "error: interrupted before there was anything to report\n"
