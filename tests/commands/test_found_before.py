"""What was found before the checked code ended the search is told with what ended it."""

import pytest
from commands.harness import refused, run, write

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


@pytest.mark.parametrize("body", ["STRLEN(8)", "os.listdir('.')"])
def test_a_violation_is_not_lost_by_what_comes_after_it(body: str) -> None:
    place = write(TEXT.replace("BODY", body))
    ended = run("check", "bad.py", "--json", "--keep-going")
    refused(ended, 3, f"{place}: ", "  found before: `small` broke in the search")
    assert run("check", "bad.py", "--json").returncode == 1


def test_nothing_is_said_of_findings_where_there_are_none() -> None:
    write(TEXT.replace("BODY", "STRLEN(8)").replace("< 3", "< 30"))
    ended = run("check", "bad.py", "--json", "--keep-going")
    assert ended.returncode == 3 and "found before" not in ended.stderr
