"""A predicate that answers anything but True or False never makes a check pass."""

import pytest

from presage import (
    Call,
    Service,
    System,
    Verdict,
    always,
    check,
    eventually,
    no_deadlock,
    sometimes,
    step,
)
from presage.errors import PropertyError


class Node(Service):
    n: int = 0

    def begin(self) -> None:
        self.n += 1

    def ready(self) -> bool:
        return False


async def later() -> bool:
    return False


ODD = {
    "a generator": lambda *seen: (False for _ in seen),
    "a coroutine": lambda *seen: later(),
    "a method that was not called": lambda *seen: Node.ready,
    "a list": lambda *seen: [False],
    "a text": lambda *seen: "no",
    "None": lambda *seen: None,
    "a number": lambda *seen: 1,
    "a verdict of a text": lambda *seen: Verdict("no"),  # type: ignore[arg-type]
    "a verdict of None": lambda *seen: Verdict(None),  # type: ignore[arg-type]
    "a verdict of a coroutine": lambda *seen: Verdict(later()),  # type: ignore[arg-type]
}
KINDS = {
    "always": lambda odd: always(lambda world: odd(world), name="p"),
    "sometimes": lambda odd: sometimes(lambda world: odd(world), name="p"),
    "eventually": lambda odd: eventually(lambda world: odd(world), name="p"),
    "step": lambda odd: step(lambda before, after: odd(before, after), name="p"),
    "no_deadlock": lambda odd: no_deadlock(unless=lambda world: odd(world)),
}


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_an_odd_answer_is_an_error_of_its_property(kind, odd):
    system = System({"a": Node()}, calls={"a": [Call("begin")]}, properties=[kind(odd)])
    report = check(system, traces=None)
    assert set(report.properties.values()) == {"error"}
    assert report.exit_status != 0
    assert "test_odd_answers.py" in report.errors[0]
    assert "returned a `" in report.errors[0]


def test_what_rest_may_be_is_judged_as_any_property():
    def report(unless):
        calls = {"a": [Call("begin")]}
        properties = [no_deadlock(unless=unless)]
        return check(System({"a": Node()}, calls=calls, properties=properties), traces=None)

    report(lambda world: world["a"].n == 1).assert_holds()
    report(lambda world: Verdict(world["a"].n == 1)).assert_holds()
    assert report(lambda world: Verdict.fails("no")).violations
    with pytest.raises(PropertyError, match="returned a `method`"):
        report(lambda world: world["a"].ready).assert_holds()


def test_a_predicate_that_is_written_in_c_is_taken():
    system = System({"a": Node()}, properties=[always(bool, name="truth")])
    assert check(system, traces=None).properties == {"truth": "held"}
