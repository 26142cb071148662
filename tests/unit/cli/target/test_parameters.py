"""Text from the command line becomes the type that a factory's parameter asks for."""

from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest

from presage.cli.target.parameters import Parameter, parameters_of, takes_any, write
from presage.errors.base import did_you_mean

if TYPE_CHECKING:
    from nowhere import Unknown


class Mode(Enum):
    FAST = "f"
    SLOW = "s"


READ: list[tuple[Any, str, Any]] = [
    (int, "3", 3),
    (int, "-3", -3),
    (int, "1_000", 1000),
    (int, "0x10", 16),
    (float, "0.5", 0.5),
    (float, "inf", float("inf")),
    (bool, "true", True),
    (bool, "No", False),
    (bool, "1", True),
    (str, "3", "3"),
    (str, "", ""),
    (str, "none", "none"),
    (int | None, "none", None),
    (int | None, "3", 3),
    (str | None, "null", None),
    (str | int, "3", 3),
    (bool | int, "1", 1),
    (bool | int, "on", True),
    (int | float, "2", 2),
    (int | float, "inf", float("inf")),
    (Literal["a", "b"], "b", "b"),
    (Literal["a", 1, None, True], "1", 1),
    (Literal["a", 1, None, True], "none", None),
    (Literal["a", "b"] | None, "none", None),
    (Mode, "FAST", Mode.FAST),
    (Mode, "slow", Mode.SLOW),
    (Mode, "s", Mode.SLOW),
    (Annotated[int, "how many"], "3", 3),
    (list[int] | int, "3", 3),
]


@pytest.mark.parametrize(("annotation", "text", "value"), READ)
def test_text_is_read_by_the_annotation(annotation: Any, text: str, value: Any) -> None:
    got = Parameter("x", annotation).read(text)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("annotation", "text", "expected"),
    [
        (int, "two", "x is a whole number, not 'two'"),
        (int, "1.5", "x is a whole number, not '1.5'"),
        (float, "nan", "x is a number, not 'nan'"),
        (bool, "maybe", "x is one of true, false, not 'maybe'"),
        (int | None, "x", "x is a whole number or none, not 'x'"),
        (Literal["a", "b"], "c", "x is one of a, b, not 'c'"),
        (Literal["a"] | None, "c", "x is one of none, a, not 'c'"),
        (Mode, "other", "x is one of FAST, SLOW, not 'other'"),
        (list[int], "3", "x is another type than text can give, not '3'"),
    ],
)
def test_what_a_parameter_does_not_take_is_refused(
    annotation: Any, text: str, expected: str
) -> None:
    with pytest.raises(ValueError) as refused:
        Parameter("x", annotation).read(text)
    assert str(refused.value) == expected


@pytest.mark.parametrize(
    ("default", "text", "value"),
    [
        (1, "2", 2),
        (False, "yes", True),
        ("a", "2", "2"),
        (0.5, "2", 2.0),
        (Mode.FAST, "SLOW", Mode.SLOW),
        (None, "2", 2),
        (None, "none", None),
        (None, "x", "x"),
    ],
)
def test_without_an_annotation_the_default_tells_the_type(
    default: Any, text: str, value: Any
) -> None:
    got = Parameter("x", default=default).read(text)
    assert got == value
    assert type(got) is type(value)


def test_parameters_come_with_what_the_docstring_says_of_them() -> None:
    def system(fixed: int, /, rms: int, *, bug: str = "none", other: "Unknown" = 2) -> None:
        """Some nodes.

        rms: how many
            resource managers.
        `bug`: which one.

        Not: a parameter.
        """

    known = parameters_of(system)
    assert list(known) == ["rms", "bug", "other"]
    assert known["rms"].about == "how many resource managers."
    assert known["rms"].required and known["rms"].default_text == "..."
    assert (known["bug"].about, known["bug"].default_text) == ("which one.", "none")
    assert known["other"].read("3") == 3  # its annotation cannot be resolved, its default can
    assert not takes_any(system)
    assert takes_any(lambda **more: None)


def test_what_is_written_is_read_back() -> None:
    for value in (3, -1, 0.5, True, False, None, "a"):
        assert Parameter("x").read(write(value)) == value
    assert Parameter("x", Mode).read(write(Mode.FAST)) is Mode.FAST


def test_only_a_close_name_is_suggested() -> None:
    assert did_you_mean("client", ["clients", "servers"]) == "; did you mean `clients`?"
    assert did_you_mean("zzz", ["clients", "servers"]) == ""
