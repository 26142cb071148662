"""`presage completion`: scripts that know what the command line knows."""

import shutil
import subprocess
from pathlib import Path

import pytest
from unit.cli.command import fails, run

from presage.cli import LAZY

ASK = """
source ./script
COMP_WORDS=({words})
COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_presage
echo "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("presage comp", "completion"),
        ("presage check --swe", "--sweep"),
        ("presage check --search d", "dfs delay"),
        ("presage check two_ph", "two_phase_commit"),
        ("presage check --junit here", "here.xml"),
        ("presage completion z", "zsh"),
    ],
)
def test_bash_is_offered_what_fits(words: str, offered: str) -> None:
    Path("script").write_text(run("completion", "bash").stdout, encoding="utf-8")
    Path("here.xml").touch()
    ask = ["bash", "--norc", "-c", ASK.format(words=words)]
    told = subprocess.run(ask, capture_output=True, text=True, check=True)
    assert sorted(told.stdout.split()) == sorted(offered.split()), told.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_every_command_and_what_it_can_read(shell: str) -> None:
    script = run("completion", shell).stdout
    for name in ("check", "replay", "systems", *LAZY):
        assert name in script
    for flag in ("sweep", "baseline", "eager-limit", "steer"):  # also what the help leaves out
        assert flag in script
    Path("script").write_text(script, encoding="utf-8")
    if shutil.which(shell):  # the syntax, where the shell is installed
        subprocess.run([shell, "-n", "./script"], check=True)


def test_other_shells_are_refused() -> None:
    fails(run("completion", "csh"), 2, "there is no 'csh'", "choose from bash, zsh, fish")
