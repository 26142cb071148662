"""`flock` excludes what it excludes on a real host: random scripts on both; threads wait."""

import errno
import fcntl
import os
import random
import threading
from pathlib import Path
from typing import Any

import pytest
from unit.frontends.real.machine.fair_driver import process_of, run, table

from presage.frontends.real.machine.standing import standing

pytestmark = pytest.mark.usefixtures(table.__name__)
WAYS = (fcntl.LOCK_SH, fcntl.LOCK_EX, fcntl.LOCK_UN)


def script(seed: int) -> list[tuple[str, int, int]]:
    chance = random.Random(seed)
    names = chance.choices(
        ("open", "folder", "dup", "close", "lock", "wrong"), (2, 1, 1, 1, 9, 1), k=60
    )
    return [(name, chance.randrange(6), chance.choice(WAYS)) for name in names]


def play(root: str, steps: list[tuple[str, int, int]]) -> list[Any]:
    """What each step gave: an error number, or nothing."""
    numbers, results = [os.open(f"{root}/0", os.O_CREAT | os.O_RDWR)], []
    for name, at, way in steps:
        number = numbers[at % len(numbers)]
        try:
            if name == "open":
                numbers.append(os.open(f"{root}/{at % 2}", os.O_CREAT | os.O_RDWR))
            elif name == "folder":
                numbers.append(os.open(root, os.O_RDONLY))
            elif name == "dup":
                numbers.append(os.dup(number))
            elif name == "close" and len(numbers) > 1:
                numbers.remove(number)
                os.close(number)
            elif name == "lock":
                fcntl.flock(number, way | fcntl.LOCK_NB)
            elif name == "wrong":
                fcntl.flock(number, 0)
            results.append(None)
        except OSError as error:
            results.append(error.errno)
    for number in numbers:
        os.close(number)
    return results


def test_random_scripts_give_what_they_give_on_a_real_host(tmp_path: Path) -> None:
    contended = 0
    for seed in range(100):
        steps, root = script(seed), tmp_path / str(seed)
        root.mkdir()
        expected, got = play(str(root), steps), []

        def program(steps: Any = steps, got: list[Any] = got) -> None:
            os.mkdir("/data")
            got.extend(play("/data", steps))

        run(program)
        assert got == expected, f"seed {seed}"
        contended += got.count(errno.EAGAIN)
    assert contended > 100


def test_a_thread_waits_until_the_lock_is_free() -> None:
    seen: list[str] = []

    def second() -> None:
        with open("/lock", "w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            seen.append("second")

    def main() -> None:
        with open("/lock", "w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            thread = threading.Thread(target=second)
            thread.start()
            threading.Event().wait(1)
            seen.append("first")
        thread.join()

    process = run(main)
    assert seen == ["first", "second"] and process.ended


def test_who_holds_a_lock_tells_two_standings_apart() -> None:
    def holds(way: int) -> bytes:
        def main() -> None:
            fcntl.flock(os.open("/lock", os.O_CREAT), way)
            threading.Event().wait()

        process = process_of(main)
        process.begin()
        return standing(process)

    assert holds(fcntl.LOCK_EX) == holds(fcntl.LOCK_EX)
    assert len({holds(way) for way in WAYS}) == 3
