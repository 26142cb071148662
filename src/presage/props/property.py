"""A property is a named claim: a plain predicate, and when it has to hold.

`always` is asked of every world, `sometimes` must hold in at least one, `eventually` again and
again on every execution, `step` relates one node before and after each of its steps, and
`no_deadlock` says at which rest is fine. A predicate answers with a bool, or with a `Verdict` that
also says why.

Invariant: a property is immutable and its predicate pure, so its verdict on a world depends on
nothing but the values it reads there. Whoever evaluates predicates calls `Property.judge`.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any, Literal, overload

from msgspec import Struct

from presage.errors import BadProperty, PropertyError
from presage.model.functions import check_call, is_plain, names_of
from presage.model.source import place
from presage.records import record

Kind = Literal["always", "sometimes", "eventually", "step", "deadlock", "seal"]
Fairness = Literal["weak", "strong", "none"]
FAIRNESSES = ("weak", "strong", "none")
NUMPY_BOOLS = ("bool", "bool_")


class Verdict(Struct, frozen=True):
    """What a property said of one world, and why. Its truth value is `holds`."""

    holds: bool
    why: str = ""

    def __bool__(self) -> bool:
        return self.holds

    @classmethod
    def fails(cls, why: str) -> Verdict:
        """The property does not hold; `why` names the witnesses."""
        return cls(False, why)


HOLDS = Verdict(True)

Predicate = Callable[..., "bool | Verdict"]


def verdict_of(answer: object) -> Verdict | None:
    """A predicate's answer as a `Verdict`; None if it is neither one nor True or False.

    So must be what a `Verdict` holds. NumPy compares arrays with truth values of its own.
    """
    said = answer.holds if isinstance(answer, Verdict) else answer
    kind = type(said)
    if kind is not bool and (kind.__module__ != "numpy" or kind.__name__ not in NUMPY_BOOLS):
        return None
    if isinstance(answer, Verdict):
        return answer
    return HOLDS if said else Verdict(False)


@record(frozen=True)
class Property:
    """A named claim about worlds. Made by `always`, `sometimes`, `eventually`, `step`."""

    name: str
    kind: Kind
    predicate: Predicate
    source: str = ""  # file:line of the predicate, "" if it has none
    signature: str = ""  # how the predicate begins: `def one_root(world)`
    of: type | None = None  # `step` only: the service class whose nodes are meant
    fairness: Fairness = "weak"  # `eventually` only: which endless executions are counted

    def judge(self, *seen: Any) -> Verdict:
        """The predicate's answer as a `Verdict`; what it raises is the caller's to catch."""
        answer = self.predicate(*seen)
        if (verdict := verdict_of(answer)) is not None:
            return verdict
        what = "the condition of seal" if self.kind == "seal" else "property"
        inside = f" of a `{type(answer.holds).__name__}`" if isinstance(answer, Verdict) else ""
        raise PropertyError(
            f"{self.source}: {what} `{self.name}` returned a `{type(answer).__name__}`{inside}",
            "a branch without `return`"
            if answer is None
            else "a value meant to be tested: a number, a collection, an array",
            "return a bool: `return x == 0`, `bool(...)`, `all(...)`; or `HOLDS`,"
            " `Verdict.fails(why)`",
        )

    def __call__(self, *seen: Any) -> Verdict:
        """A decorated predicate can still be called, for instance in a unit test."""
        return self.judge(*seen)


class NoDeadlock(Property):
    """The claim that the world never stops; called with `unless`, that it stops only then."""

    def __call__(self, *, unless: Predicate) -> Property:  # type: ignore[override]
        """The same claim, where rest is fine in worlds of which `unless` is true."""
        predicate = _function(unless, "no_deadlock")
        _check_signature(predicate, "no_deadlock", 1)

        def rests_only_where_allowed(world: Any) -> bool | Verdict:
            answer = predicate(world)
            allowed = verdict_of(answer)
            if allowed is None:
                return answer  # which is refused where it is judged, as from any other property
            return HOLDS if allowed else _STOPPED

        return NoDeadlock(
            self.name,
            self.kind,
            rests_only_where_allowed,
            source=_source(predicate),
            signature=_signature(predicate),
        )


_STOPPED = Verdict.fails("nothing can happen any more: no message, timer, action or call is left")


def _always_stopped(world: Any) -> Verdict:
    return _STOPPED


no_deadlock = NoDeadlock("no_deadlock", "deadlock", _always_stopped)
Decorator = Callable[[Predicate], Property]


@overload
def always(predicate: Predicate, *, name: str | None = None) -> Property: ...
@overload
def always(*, name: str | None = None) -> Decorator: ...
def always(predicate: Predicate | None = None, *, name: str | None = None) -> Property | Decorator:
    """`predicate(world)` holds in every reachable world."""
    return _define("always", predicate, name)


@overload
def sometimes(predicate: Predicate, *, name: str | None = None) -> Property: ...
@overload
def sometimes(*, name: str | None = None) -> Decorator: ...
def sometimes(
    predicate: Predicate | None = None, *, name: str | None = None
) -> Property | Decorator:
    """`predicate(world)` holds in at least one reachable world."""
    return _define("sometimes", predicate, name)


@overload
def eventually(
    predicate: Predicate, *, fairness: Fairness = "weak", name: str | None = None
) -> Property: ...
@overload
def eventually(*, fairness: Fairness = "weak", name: str | None = None) -> Decorator: ...
def eventually(
    predicate: Predicate | None = None, *, fairness: Fairness = "weak", name: str | None = None
) -> Property | Decorator:
    """`predicate(world)` holds again and again: whatever happened, it will hold once more.

    It fails in a world at rest without it, and on a cycle without it that is fair: `weak`, what is
    enabled all along is done; `strong`, what is enabled again and again is; `none`, any cycle.
    """
    if fairness not in FAIRNESSES:
        raise BadProperty(
            f"`eventually(fairness={fairness!r})` names no fairness",
            "a misspelt name, or True for `strong`",
            "give one of " + ", ".join(f'`"{name}"`' for name in FAIRNESSES),
        )
    return _define("eventually", predicate, name, fairness=fairness)


@overload
def step(predicate: Predicate, *, of: type | None = None, name: str | None = None) -> Property: ...
@overload
def step(*, of: type | None = None, name: str | None = None) -> Decorator: ...
def step(
    predicate: Predicate | None = None, *, of: type | None = None, name: str | None = None
) -> Property | Decorator:
    """`predicate(before, after)` holds on every step of a node that is up before and after it.

    `of` restricts it to nodes of one service class, subclasses included.
    """
    if of is not None and not isinstance(of, type):
        raise BadProperty(
            f"`step(of={of!r})` does not name a class",
            "an instance, or a node's name, given instead of its class",
            "give the service class: `@step(of=Server)`",
        )
    return _define("step", predicate, name, of)


def _define(
    kind: Kind,
    predicate: Predicate | None,
    name: str | None,
    of: type | None = None,
    fairness: Fairness = "weak",
) -> Property | Decorator:
    def build(predicate: Predicate) -> Property:
        return claim_of(kind, predicate, name, of, fairness)

    return build if predicate is None else build(predicate)


def claim_of(
    kind: Kind,
    predicate: Predicate,
    name: str | None,
    of: type | None = None,
    fairness: Fairness = "weak",
) -> Property:
    """The property of this kind that `predicate` is; refuses what cannot be one."""
    function = _function(predicate, kind)
    _check_signature(function, kind, 2 if kind == "step" else 1)
    return Property(
        name or _name(function, kind),
        kind,
        function,
        source=_source(function),
        signature=_signature(function),
        of=of,
        fairness=fairness,
    )


def _name(function: Predicate, kind: str) -> str:
    name = str(getattr(function, "__name__", type(function).__name__))
    if name != "<lambda>":
        return name
    raise BadProperty(
        f"{_source(function)}: a lambda given to `{kind}` has no name to report it by",
        "a short predicate written in place",
        f'name it: `{kind}({_signature(function)}: ..., name="...")`',
    )


def _function(predicate: Any, kind: str) -> Predicate:
    """The plain callable behind `predicate`, which may itself be a property."""
    if isinstance(predicate, Property):
        return predicate.predicate
    if callable(predicate):
        return predicate  # type: ignore[no-any-return]
    raise BadProperty(
        f"`{kind}` was given {predicate!r}, which cannot be called",
        "the result of a predicate given instead of the predicate",
        f"decorate a function: `@{kind}` above `def claim(world): ...`",
    )


def _check_signature(predicate: Predicate, kind: str, count: int) -> None:
    """Refuse now what would fail, or silently be true, on every world."""
    takes = "(before, after)" if count == 2 else "(world)"
    if not is_plain(predicate):
        raise BadProperty(
            f"{_written(predicate)} is asynchronous or a generator, so it never answers",
            "`async def`, or `yield` in the body",
            f"make it a plain function of {takes}",
        )
    try:
        check_call(predicate, *range(count))
    except ValueError:  # written in C, and nobody can tell what it takes
        return
    except TypeError:
        raise BadProperty(
            f"{_written(predicate)} cannot be called as a property `{kind}`",
            "too many or too few parameters",
            f"give it the parameters {takes}",
        ) from None


def _written(predicate: Predicate) -> str:
    return f"{_source(predicate)}: `{_signature(predicate)}`"


def _signature(predicate: Predicate) -> str:
    name = getattr(predicate, "__name__", type(predicate).__name__)
    try:
        parameters = ", ".join(names_of(predicate))
    except (TypeError, ValueError):
        parameters = "..."
    return f"lambda {parameters}" if name == "<lambda>" else f"def {name}({parameters})"


def _source(predicate: Predicate) -> str:
    """`file:line` of the `def`, or "" if it was not written in Python."""
    code = getattr(predicate, "__code__", None)
    if code is None:
        return ""
    line = code.co_firstlineno
    # The first line of a decorated function is its decorator's; people look for the `def`.
    for number in range(line, line + 10):
        if linecache.getline(code.co_filename, number).lstrip().startswith("def "):
            return place(code.co_filename, number)
    return place(code.co_filename, line)
