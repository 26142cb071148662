"""The left sides of implications that predicates are written as: `not A or B`, `B if A else True`.

A predicate is not run differently for this. Its left sides are evaluated once more in the same
world, until each was true once. What they read there is not recorded as read by the predicate.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from presage.execution.conjuncts import Function, Unclear, definition, flat
from presage.model.functions import closed_over
from presage.props.nodes import forall

TEXT_MAX = 60
SIMPLE = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom)


class Condition(Struct, frozen=True):
    """One left side: its text, and a function of what the predicate is given."""

    text: str
    holds: Callable[..., Any]


def conditions(predicate: Any) -> list[Condition]:
    """The left sides of `predicate`; none where its source is not there or is not so simple."""
    try:
        function = definition(predicate)
        before, answer = _answer(function)
        names = {**predicate.__globals__, **closed_over(predicate)}
        found = [left for part in flat(answer) for left in _lefts(part, names)]
        return [Condition(_text(left), _compiled(function, before, left, names)) for left in found]
    except (Unclear, OSError, TypeError, SyntaxError, ValueError, AttributeError):
        return []


def _answer(function: Function) -> tuple[list[ast.stmt], ast.expr]:
    """What is returned, and the assignments before."""
    if isinstance(function, ast.Lambda):
        return [], function.body
    body = function.body
    if ast.get_docstring(function, clean=False) is not None:
        body = body[1:]
    *before, last = body
    if not isinstance(last, ast.Return) or last.value is None:
        raise Unclear
    early = [each for each in before if not isinstance(each, SIMPLE)]
    if before[len(before) - len(early) :] != early:
        raise Unclear  # something is assigned in between
    values = []
    for statement in early:  # `if A: return True` is `A or ...`
        if not isinstance(statement, ast.If) or not _passes(statement):
            raise Unclear
        values.append(ast.UnaryOp(ast.Not(), _denied(statement.test)))
    answer = ast.BoolOp(ast.Or(), [*values, last.value]) if values else last.value
    return before[: len(before) - len(early)], answer


def _denied(expression: ast.expr) -> ast.expr:
    """`not A`; of `not A` it is `A`."""
    if isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.Not):
        return expression.operand
    return ast.UnaryOp(ast.Not(), expression)


def _passes(statement: ast.If) -> bool:
    """Whether all that a branch does is to say that the claim holds."""
    if statement.orelse or len(statement.body) != 1:
        return False
    answer = statement.body[0]
    return isinstance(answer, ast.Return) and answer.value is not None and _is_true(answer.value)


def _is_true(expression: ast.expr) -> bool:
    if isinstance(expression, ast.Constant):
        return expression.value is True
    return isinstance(expression, ast.Name) and expression.id == "HOLDS"


def _lefts(expression: ast.expr, names: dict[str, Any]) -> Iterator[ast.expr]:
    if isinstance(expression, ast.BoolOp) and isinstance(expression.op, ast.Or):
        yield from _of_or(expression.values)
    elif isinstance(expression, ast.IfExp) and _is_true(expression.orelse):
        yield expression.test
    elif isinstance(expression, ast.IfExp) and _is_true(expression.body):
        yield _denied(expression.test)
    elif isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name):
        yield from _of_call(expression, expression.func.id, names)


def _of_or(values: list[ast.expr]) -> Iterator[ast.expr]:
    """Of `not A or not B or C`: `A and B`. Of `not A or not B` nothing: that excludes both."""
    denied = []
    for value in values:
        if not isinstance(value, ast.UnaryOp) or not isinstance(value.op, ast.Not):
            break
        denied.append(value.operand)
    if denied and len(denied) < len(values):
        yield denied[0] if len(denied) == 1 else ast.BoolOp(ast.And(), denied)


def _of_call(call: ast.Call, name: str, names: dict[str, Any]) -> Iterator[ast.expr]:
    """Of `all(...)` and `forall(...)`: that there is something it speaks of."""
    if name == "all" and name not in names and len(call.args) == 1:
        asked = call.args[0]
        if isinstance(asked, ast.GeneratorExp | ast.ListComp):
            inner = list(_lefts(asked.elt, names)) or [ast.Constant(True)]
            for left in inner:
                yield _any(left, asked.generators)
    elif names.get(name) is forall and len(call.args) == 2:
        nodes, asked = call.args
        if isinstance(asked, ast.Lambda):
            target = ast.Name(asked.args.args[0].arg, ast.Store())
            for left in _lefts(asked.body, names):
                yield _any(left, [ast.comprehension(target, nodes, [], 0)])


def _any(left: ast.expr, generators: list[ast.comprehension]) -> ast.expr:
    wanted = ast.GeneratorExp(left, generators)
    return ast.Call(ast.Name("any", ast.Load()), [wanted], [])


def _compiled(
    function: Function, before: list[ast.stmt], left: ast.expr, names: dict[str, Any]
) -> Callable[..., Any]:
    """A function of the same parameters that says whether `left` is true."""
    made = ast.FunctionDef(
        name="left", args=function.args, body=[*before, ast.Return(left)], decorator_list=[]
    )
    if hasattr(made, "type_params"):
        made.type_params = []
    module = ast.fix_missing_locations(ast.Module([made], []))
    space = dict(names)
    exec(compile(module, "<property>", "exec"), space)
    holds: Callable[..., Any] = space["left"]
    return holds


def _text(expression: ast.expr) -> str:
    text = re.sub(r"^any\(\((.*)\)\)$", r"any(\1)", ast.unparse(expression))
    return text if len(text) <= TEXT_MAX else text[: TEXT_MAX - 3] + "..."
