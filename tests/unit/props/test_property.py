"""Properties: what the decorators make of a predicate, and what they refuse."""

from pathlib import Path
from typing import Any

import pytest

from presage.errors import BadProperty, PropertyError
from presage.props.property import (
    HOLDS,
    Property,
    Verdict,
    always,
    eventually,
    no_deadlock,
    sometimes,
    step,
)


class Server:
    """Stands for a service class."""


@always
def one_root(world: Any) -> bool:
    return bool(world)


@step(of=Server, name="grows")
def monotone(before: Any, after: Any) -> Verdict:
    return Verdict(before <= after, f"{before} became {after}")


def test_a_decorated_predicate_is_a_property_with_the_name_of_the_function() -> None:
    assert isinstance(one_root, Property)
    assert (one_root.name, one_root.kind, one_root.of) == ("one_root", "always", None)
    assert one_root.signature == "def one_root(world)"


def test_the_source_is_the_line_of_the_def_and_not_of_the_decorator() -> None:
    file, line = one_root.source.rsplit(":", 1)
    assert Path(file).name == Path(__file__).name
    text = Path(__file__).read_text().splitlines()[int(line) - 1]
    assert text.startswith("def one_root(world")


def test_a_step_property_may_be_restricted_to_a_class_and_renamed() -> None:
    assert (monotone.name, monotone.kind, monotone.of) == ("grows", "step", Server)
    assert monotone(1, 2)
    assert monotone(2, 1) == Verdict.fails("2 became 1")


@pytest.mark.parametrize("kind", [always, sometimes, eventually])
def test_every_kind_can_be_called_with_a_function_and_a_name(kind: Any) -> None:
    named = kind(lambda world: True, name="fine")
    assert (named.name, named.kind) == ("fine", kind.__name__)
    assert named.signature == "lambda world"


def test_a_property_can_be_claimed_again_under_another_kind() -> None:
    again = eventually(one_root, name="in_the_end")
    assert (again.kind, again.predicate) == ("eventually", one_root.predicate)


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (True, HOLDS),
        (False, Verdict(False)),
        (HOLDS, HOLDS),
        (Verdict.fails("why"), Verdict(False, "why")),
    ],
)
def test_a_bool_or_a_verdict_is_an_answer(answer: Any, verdict: Verdict) -> None:
    assert always(lambda world: answer, name="answers").judge(None) == verdict


@pytest.mark.parametrize("answer", [None, 0, "yes", []])
def test_any_other_answer_is_an_error_that_names_the_property(answer: Any) -> None:
    with pytest.raises(PropertyError, match=r"`forgetful` returned a"):
        always(lambda world: answer, name="forgetful").judge(None)


def test_the_truth_value_of_a_verdict_is_whether_it_holds() -> None:
    assert HOLDS
    assert not Verdict.fails("why")


def test_no_deadlock_refuses_every_rest_unless_told_otherwise() -> None:
    assert no_deadlock.kind == "deadlock"
    assert not no_deadlock.judge(None)
    allowed = no_deadlock(unless=lambda world: world == "done")
    assert (allowed.name, allowed.kind) == ("no_deadlock", "deadlock")
    assert allowed.judge("done")
    assert "nothing can happen" in allowed.judge("stuck").why


def test_no_deadlock_takes_a_property_as_its_exception() -> None:
    assert no_deadlock(unless=one_root).judge(True)
    assert no_deadlock(unless=one_root).source == one_root.source


def test_a_lambda_needs_a_name() -> None:
    with pytest.raises(BadProperty, match="has no name"):
        always(lambda world: True)


def two(before: Any, after: Any) -> bool:
    return True


async def later(world: Any) -> bool:
    return True


def lazily(world: Any) -> Any:
    yield True


@pytest.mark.parametrize(
    ("make", "predicate"),
    [(always, two), (step, one_root.predicate), (always, later), (sometimes, lazily)],
)
def test_a_predicate_that_cannot_answer_is_refused_when_it_is_defined(
    make: Any, predicate: Any
) -> None:
    with pytest.raises(BadProperty, match=r"test_property\.py:\d+: `def "):
        make(predicate)


def test_what_is_not_a_function_is_refused() -> None:
    with pytest.raises(BadProperty, match="cannot be called"):
        always(True)  # type: ignore[call-overload]
    with pytest.raises(BadProperty, match="does not name a class"):
        step(of="server")  # type: ignore[call-overload]
