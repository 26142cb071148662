"""`presage simulate`: the text, one JSON object, a Chrome trace, and what is refused."""

import json

import pytest
from simulate.talking import MB, get, pair, put

from presage import Process, Program, simulate
from presage.cli import main

PROGRAM = """
import time
from presage import Process, Program
from presage.process.context import blocking, exchange
from presage.process.ops import Recv, Send

def sender(size):
    print("off it goes")
    blocking(exchange(Send("box", b"x", size=size)))

def receiver():
    blocking(exchange(Recv("box")))
    assert time.monotonic() < 60, "too slow"

def program(size: float = 1e6):
    return Program({"sender": Process(sender, size), "receiver": receiver})
"""
PLATFORM = """
[hosts."host-{0..1}"]
speed = "1Gf"
[links.wire]
bandwidth = "1MBps"
[default_route]
links = ["wire"]
"""


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "talk.py").write_text(PROGRAM)
    (tmp_path / "two.toml").write_text(PLATFORM)


def run(capsys, *arguments):
    status = main(["simulate", *arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_the_text(capsys):
    status, out, err = run(capsys, "talk.py:program", "--platform", "two.toml", "--ascii")
    assert (status, err) == (0, "")
    assert out.startswith(
        "finished after 1 s: talk.py:program\n2 processes, 1 message, on two.toml"
    )
    assert "0 s  sender  off it goes" in out


def test_json_and_parameters(capsys):
    given = ("talk.py:program", "--platform", "two.toml", "--set", "size=4e6", "--json")
    status, out, _ = run(capsys, *given)
    told = json.loads(out)
    assert status == told["exit_status"] == 0
    assert (told["makespan"], told["outcome"]) == (4.0, "finished")
    assert told["processes"][1]["intervals"] == [
        {"kind": "recv", "start": 0.0, "end": 4.0, "what": "from sender at `box`"}
    ]


def test_a_failure_ends_with_status_1_and_until_with_0(capsys):
    given = ("talk.py:program", "--platform", "two.toml", "--set", "size=1e8")
    status, out, _ = run(capsys, *given)
    assert status == 1 and out.startswith("failed at 100 s") and "too slow" in out
    status, out, _ = run(capsys, *given, "--until", "10")
    assert status == 0 and out.startswith("stopped at 10 s")


def test_a_trace_for_chrome(capsys, tmp_path):
    status, _, _ = run(
        capsys, "talk.py:program", "--platform", "two.toml", "--chrome", "trace.json"
    )
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert status == 0
    assert {event["ph"] for event in events} == {"M", "X", "i", "s", "f"}
    [box] = [event for event in events if event["ph"] == "X" and event["tid"] == 1]
    assert (box["name"], box["ts"], box["dur"]) == ("send to receiver at `box`", 0.0, 1e6)
    arrows = [(event["ph"], event["pid"], event["tid"]) for event in events if "id" in event]
    assert arrows == [("s", 1, 1), ("f", 2, 2)]


SCRIPT = """
from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.Get_rank() == 0:
    comm.Send([bytearray(1_000_000), MPI.BYTE], dest=1)
else:
    comm.Recv([bytearray(1_000_000), MPI.BYTE], source=0)
    print(f"got it after {MPI.Wtime():.3f} s")
"""


def test_an_mpi_script(capsys, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    given = ("script.py", "--mpi", "2", "--platform", "two.toml", "--json")
    status, out, _ = run(capsys, *given)
    told = json.loads(out)
    assert (status, told["outcome"]) == (0, "finished")
    assert told["makespan"] == pytest.approx(1.0, rel=1e-3)
    assert [each["process"] for each in told["processes"]] == ["rank 0", "rank 1"]
    assert len(told["log"]) == 1
    assert told["processes"][0]["ended"] == told["makespan"]
    told = json.loads(run(capsys, *given, "--buffering", "eager")[1])
    assert told["processes"][0]["ended"] == 0.0


def test_what_was_still_under_way_has_no_arrow():
    bodies = {"s": Process(put, "box", None, MB), "r": Process(get, "box")}
    done = simulate(Program(bodies), pair(), until=0.5)
    assert done.transfers[0].end is None
    assert not [event for event in done.to_chrome()["traceEvents"] if "id" in event]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("talk.py:program",), "--platform"),
        (("talk.py:program", "--platform", "three.toml"), "`three.toml` cannot be read"),
        (("talk.py:program", "--platform", "talk.py"), "talk.py: this is not TOML"),
        (
            ("talk.py", "--mpi", "2", "--platform", "two.toml", "--set", "size=1"),
            "`talk.py` is a script, so `size` cannot be set",
        ),
        (("paxos", "--platform", "two.toml"), "`paxos` is a `System`, and cannot be simulated"),
        (("nothing", "--platform", "two.toml"), "there is no system `nothing`"),
        (("talk.py:program", "--platform", "two.toml", "--until", "0"), "--until"),
        (
            ("talk.py:program", "--platform", "two.toml", "--chrome", "no/where.json"),
            "`no/where.json` cannot be written",
        ),
    ],
)
def test_what_is_refused(arguments, told, capsys):
    try:
        status = main(["simulate", *arguments])
    except SystemExit as usage:
        status = usage.code
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert told in err and "way out" in err
