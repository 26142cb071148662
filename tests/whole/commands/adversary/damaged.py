"""Damaged and forged files, by number: what an accident or an attacker makes of a good one.

`python -m commands.adversary.damaged FOLDER FIRST LAST` tries the cases from FIRST to before LAST
on the files in FOLDER, in one process, and prints one JSON object for each that ended as no
command may: with a traceback, with status 4, or with another one that no command has.
"""

import contextlib
import io
import json
import os
import random
import struct
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from presage._core import Codec
from presage.cli import main

STATUSES = (0, 1, 2, 3)
SIGNATURE, DIGEST = 32, 8  # bytes, at the end of a checkpoint
CANARY = "canary"  # a module that leaves a file behind if it is imported
RAN = "ran"
SYSTEM = ("two_phase_commit", "--set", "rms=3")
KEPT = ("--checkpoint", "kept", "--json")
FORGED = (
    "os:system",
    "builtins:exec",
    "subprocess:run",
    f"{CANARY}:system",
    f"{CANARY}.py:system",
    f"{CANARY}.py",
    f"./{CANARY}.py",
    f"{CANARY}.py --mpi 2 --buffering zero",
    f"'{CANARY}.py --mpi 2",
    " --mpi ",
    "x --mpi 99999999999999999999 --buffering zero",
    "paxos --mpi 2 --buffering zero",
    "",
    ":",
    "\0:x",
    "\x1b[2J",
    "a.py:" + "b." * 5_000,
    "x" * 100_000,
    "presage.cli:main",
    "two_phase_commit:system",
)
ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 2**63 - 1, -(2**63), 2**64 - 1, 10**30, 1e308, -0.5),
    *("", "\0", "\x1b[31m", "../../etc/passwd", "x" * 70_000, "\ud800"),
    *([], {}, [[]], {"a": {"a": {}}}, [None] * 1_000),
)

Bytes = Callable[[random.Random, bytes], bytes]


def flipped(chance: random.Random, whole: bytes) -> bytes:
    damaged = bytearray(whole)
    for _ in range(chance.choice((1, 1, 3, 30))):
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def cut(chance: random.Random, whole: bytes) -> bytes:
    return whole[: chance.randrange(len(whole))]


def holed(chance: random.Random, whole: bytes) -> bytes:
    at = chance.randrange(len(whole))
    return whole[:at] + whole[at + chance.randrange(1, 200) :]


def repeated(chance: random.Random, whole: bytes) -> bytes:
    at = chance.randrange(len(whole))
    return whole[:at] + whole[max(0, at - chance.randrange(1, 200)) :]


def stuffed(chance: random.Random, whole: bytes) -> bytes:
    at = chance.randrange(len(whole))
    stuff = chance.choice((b"\0", b"\xff\xfe", b"\xc3\x28", b"\xed\xa0\x80", b"[" * 50_000, b'"'))
    return whole[:at] + stuff * chance.choice((1, 5)) + whole[at:]


def replaced(chance: random.Random, whole: bytes) -> bytes:
    return chance.choice((b"", b"\0" * 100, b"{" * 100_000, chance.randbytes(500), whole[::-1]))


ANY: tuple[Bytes, ...] = (flipped, cut, holed, repeated, stuffed, replaced)


def leaves(inside: Any) -> list[tuple[Any, Any]]:
    """Every place in a JSON document, as a container and a key of it."""
    keys = list(inside) if isinstance(inside, dict) else range(len(inside))
    found = [(inside, key) for key in keys]
    for key in keys:
        if isinstance(inside[key], dict | list):
            found += leaves(inside[key])
    return found


def altered(chance: random.Random, whole: bytes) -> bytes:
    """Another value, or another type, somewhere."""
    document = json.loads(whole)
    for _ in range(chance.choice((1, 1, 4))):
        container, key = chance.choice(leaves(document))
        container[key] = chance.choice(ODD)
    return json.dumps(document).encode()


def swapped(chance: random.Random, whole: bytes) -> bytes:
    """Two values in each other's place."""
    document = json.loads(whole)
    (one, first), (other, second) = chance.choices(leaves(document), k=2)
    one[first], other[second] = other[second], one[first]
    try:
        return json.dumps(document).encode()
    except ValueError:  # one was inside the other
        return b"{}"


def forged(chance: random.Random, whole: bytes) -> bytes:
    """A stranger's target, with what it would take."""
    document = json.loads(whole)
    document["trace"]["target"] = chance.choice(FORGED)
    order = f"touch {RAN}"
    document["trace"]["parameters"] = chance.choice(
        ({}, {"command": order}, {"args": order, "shell": True}, {"rms": 10**18}, {"rms": "x" * 99})
    )
    return json.dumps(document).encode()


def trace_case(number: int, whole: bytes) -> tuple[list[str], bytes]:
    """A command line, and the trace it is given."""
    chance = random.Random(number)
    damage = chance.choice((*ANY, altered, altered, swapped, forged, forged))
    command = chance.choice(("replay", "explain", "report", "debug", "graph"))
    options = {"debug": ["--do", "list"], "report": ["--out", "page.html"]}.get(command, [])
    if damage is not forged and command != "graph" and chance.random() < 0.5:
        options = [*options, "--trust"]
    return [command, "damaged.trace", *options], damage(chance, whole)


def resealed(content: bytes) -> bytes:
    """A checkpoint of `content` without damage, as anybody can make one who has no key."""
    unsigned = content + bytes(SIGNATURE)
    return unsigned + Codec().digest(unsigned).to_bytes(DIGEST, "little")


def lengthened(chance: random.Random, content: bytes) -> bytes:
    """A huge number where a length may be."""
    at = chance.randrange(len(content) - 8)
    huge = chance.choice((2**63, 2**64 - 1, 2**32, len(content), 10**6))
    return content[:at] + struct.pack("<Q", huge) + content[at + 8 :]


def checkpoint_case(number: int, whole: bytes) -> tuple[list[str], bytes]:
    """A command line, and the checkpoint that it goes on from."""
    chance = random.Random(number)
    content = whole[: -SIGNATURE - DIGEST]
    if chance.random() < 0.2:
        damaged = chance.choice(ANY)(chance, whole)
    else:
        damaged = resealed(chance.choice((*ANY, lengthened, lengthened))(chance, content))
    trust = ["--trust"] if chance.random() < 0.7 else []
    return ["check", *SYSTEM, *KEPT, "--resume", *trust], damaged


def attempt(arguments: list[str]) -> tuple[int, str]:
    """Run a command here; its status and what it said."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            status = main(arguments)
        except SystemExit as ended:
            status = int(ended.code or 0)
        except BaseException:
            status = 4
            said.write(traceback.format_exc())
    return status, said.getvalue()


def work(folder: str, first: int, last: int) -> None:
    """Try the cases, in a folder with a good trace and a good checkpoint."""
    os.chdir(folder)
    trace, kept = Path("good.trace").read_bytes(), Path("good.checkpoint").read_bytes()
    for number in range(first, last):
        if number % 2:
            arguments, damaged = trace_case(number, trace)
            Path("damaged.trace").write_bytes(damaged)
        else:
            arguments, damaged = checkpoint_case(number, kept)
            Path("kept/search.checkpoint").write_bytes(damaged)
        status, said = attempt(arguments)
        if status not in STATUSES or "Traceback" in said or "\x1b" in said or Path(RAN).exists():
            told = {"case": number, "arguments": arguments, "status": status, "said": said[-2_000:]}
            print(json.dumps(told), flush=True)
            Path(RAN).unlink(missing_ok=True)


if __name__ == "__main__":
    work(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
