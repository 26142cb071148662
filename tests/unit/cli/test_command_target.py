"""A command line as a target: `presage check --nodes 2 -- python kv.py {name}`."""

import textwrap

import pytest

from presage.cli import main

PROGRAM = """
    import socket, sys

    name, port, *peers = sys.argv[1:]
    box = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    box.bind(("", int(port)))
    for peer in peers:
        box.sendto(name.encode(), (peer, int(port)))
    for peer in peers:
        if box.recv(9).decode() not in peers:
            raise RuntimeError("a stranger")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "hello.py").write_text(textwrap.dedent(PROGRAM), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_node_runs_the_command_with_its_own_names(folder, capsys):
    command = ["python", "hello.py", "{name}", "7", "{peers}"]
    assert main(["check", "--nodes", "3", "--", *command]) == 0
    assert "no exception, exhaustively" in capsys.readouterr().out


def test_what_goes_wrong_in_a_program_is_a_violation_with_its_line(folder, capsys):
    assert main(["check", "--nodes", "2", "--", "python", "hello.py", "x", "7", "{peers}"]) == 1
    out = capsys.readouterr().out
    assert "RuntimeError: a stranger" in out and "hello.py" in out


def test_a_trace_of_a_command_is_replayed(folder, capsys):
    main(["check", "--nodes", "2", "--", "python", "hello.py", "x", "7", "{peers}"])
    (trace,) = (folder / ".presage" / "traces").glob("no_exception-*.trace")
    capsys.readouterr()
    assert main(["replay", str(trace)]) == 1
    assert "reproduced" in capsys.readouterr().out


def test_what_is_no_script_is_refused(folder, capsys):
    assert main(["check", "--", "python", "-c", "pass"]) == 2
    assert "neither a script nor a module" in capsys.readouterr().err
