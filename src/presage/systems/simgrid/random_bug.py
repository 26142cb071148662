"""One process, two random numbers, and one pair of them that is wrong.

After SimGrid's test `random-bug`.
"""

from __future__ import annotations

from presage import Process, Program
from presage.mailbox import choose, this_actor


def app(sides: int, fails: bool) -> None:
    """Throws two dice."""
    x, y = choose(sides), choose(sides)
    this_actor.debug(f"got {x} {y}")
    assert not fails or (x, y) != (3, 4), "three and four"


def program(*, sides: int = 6, fails: bool = True) -> Program:
    """A single process.

    sides: how many numbers there are to choose from, each time.
    fails: whether the wrong pair is wrong.
    """
    return Program({"app": Process(app, sides, fails)}, name="random_bug")
