"""What a search finds: handlers that raise, properties that raise or cheat, goals never reached."""

from textwrap import indent
from typing import Any

import pytest
from whole.commands.harness import ONE_NODE, run, told, write

COUNTER = """
    import asyncio, sys

    class Node(Service):
        n: int = 0
        items: list[int] = state(list)
        @action(when=lambda self: self.n < 3)
        def go(self) -> None:
            self.n += 1

    @always
    def small(world):
        return world["n0"].n < 3

    @sometimes
    def grown(world):
        return world["n0"].n == 2

    @{kind}
    def bad(world):
        {body}  # HERE

    def system() -> System:
        return System(nodes={"n0": Node()}, properties=[bad, small, grown])
"""


def checked(body: str, kind: str = "always", *options: str, status: int) -> dict[str, Any]:
    """What is reported of a system with a property `bad`; its errors call its line PLACE."""
    place = write(COUNTER.replace("{body}", body).replace("{kind}", kind))
    report = told(run("check", "bad.py", "--json", *options), status)
    report["errors"] = [error.replace(place, "PLACE") for error in report["errors"]]
    return report


def test_a_handler_that_raises_breaks_no_exception_at_its_line() -> None:
    place = write(
        """
        class Node(Service):
            @action
            def go(self) -> None:
                self.deeper({})
            def deeper(self, peers) -> None:
                peers["n1"]  # HERE
        """
        + indent(ONE_NODE, "    ")
    )
    report = told(run("check", "bad.py", "--json"), 1)
    [violation] = report["violations"]
    assert (violation["property"], violation["kind"]) == ("no_exception", "exception")
    assert violation["message"] == f"KeyError: 'n1' at {place} in deeper"
    assert (violation["step"], violation["steps"]) == (1, 1)
    assert report["properties"] == {"no_exception": "violated"}


@pytest.mark.parametrize("raised", ["SystemExit(0)", "asyncio.CancelledError('late')"])
def test_a_handler_that_raises_what_is_no_exception_is_not_presages_fault(raised: str) -> None:
    place = write(
        f"""
        import asyncio

        class Node(Service):
            @action
            def go(self) -> None:
                raise {raised}  # HERE
        """
        + indent(ONE_NODE, "    ")
    )
    report = told(run("check", "bad.py", "--json"), 1)
    [violation] = report["violations"]
    assert violation["property"] == "no_exception"
    assert place in violation["message"]


def test_a_message_nobody_handles_breaks_no_exception() -> None:
    write(
        """
        class Node(Service):
            def start(self) -> None:
                self.send("n0", b"hello")
        """
        + indent(ONE_NODE, "    ")
    )
    [violation] = told(run("check", "bad.py", "--json"), 1)["violations"]
    assert violation["message"] == "Unhandled: `Node` has no handler for `bytes`, sent by n0"


def test_a_property_that_raises_is_an_error_and_the_others_are_still_judged() -> None:
    report = checked("return 1 / 0", status=1)
    assert report["properties"] == {"bad": "error", "small": "violated", "grown": "reached"}
    [error] = report["errors"]
    assert error.startswith("PLACE: property `bad` raised ZeroDivisionError: division by zero")


def test_a_property_that_raises_is_an_error_even_if_all_others_hold() -> None:
    report = checked("return world['n9'].up", status=1)
    assert report["errors"][0].startswith("PLACE: `world['n9']`: there is no node 'n9'")
    report = checked("return 1 / 0", "always", "--depth", "2", status=2)
    assert report["properties"] == {"bad": "error", "small": "held", "grown": "unreached"}


CHEATING = {
    "sets a field": ("world['n0'].n = 5", "PLACE: a property changes the world: `n`"),
    "runs a handler": ("world['n0'].go()", "bad.py:10: a property changes the world: `n`"),
    "forgets to return": ("world['n0'].n", "bad.py:21: property `bad` returned a `NoneType`"),
    "exits": ("sys.exit(0)", "PLACE: property `bad` raised SystemExit"),
}


@pytest.mark.parametrize(("body", "said"), CHEATING.values(), ids=CHEATING.keys())
def test_a_property_that_does_more_than_answer_is_an_error(body: str, said: str) -> None:
    report = checked(body, status=1)
    assert [error.partition("\n")[0][: len(said)] for error in report["errors"]] == [said]
    assert report["properties"]["small"] == "violated"


def test_a_property_that_changes_a_copy_changes_nothing() -> None:
    report = checked("world['n0'].items.append(1); return world['n0'].items == []", status=1)
    assert report["errors"] == []
    assert (report["properties"]["bad"], report["states"]["unique"]) == ("held", 4)


def test_a_goal_that_is_never_reached_is_a_violation_without_a_trace() -> None:
    report = checked("return world['n0'].n == 4", "sometimes", "--keep-going", status=1)
    assert (report["exhausted"], report["properties"]["bad"]) == (True, "unreached")
    violations = {each["property"]: each for each in report["violations"]}
    assert violations["bad"] == {
        "property": "bad",
        "kind": "unreached",
        "cause": "bad",
        "message": "none of the 4 reachable states satisfies it",
        "step": 0,
        "steps": 0,
        "delays": None,
        "critical": None,
        "loop": None,
        "fairness": None,
        "dead": None,
        "evidence": "exact",
        "walked": None,
        "recovery": [],
        "trace": None,
        "live": None,
        "differs_at": None,
        "found": None,
    }


def test_a_goal_beyond_the_limit_is_no_violation() -> None:
    report = checked("return world['n0'].n == 4", "sometimes", "--depth", "2", status=0)
    assert (report["exhausted"], report["violations"]) == (False, [])
    assert report["properties"]["bad"] == "unreached"


def test_a_property_that_reads_the_clock_ends_the_search_with_status_3() -> None:
    place = write(
        COUNTER.replace("{body}", "import time; return time.time() > 0").replace("{kind}", "always")
    )
    result = run("check", "bad.py", "--json")
    assert (result.returncode, result.stdout) == (3, "")
    assert f"{place}: " in result.stderr and "`time.time`" in result.stderr
