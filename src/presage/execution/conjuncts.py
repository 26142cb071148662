"""Which part of a predicate is false, and of which nodes: its own source, asked piece by piece.

A predicate that ends in `return a and b and all(... for x in xs)` is a conjunction; each part is
evaluated in the same world, and of a part about many things those are named it is false of. Where
the source is not there, or is more than assignments, conditions and a `return`, nothing is said:
the predicate's own `Verdict` has to do.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from types import CodeType
from typing import Any

from msgspec import Struct

from presage.model.functions import arguments_of, closed_over
from presage.model.trees import functions
from presage.model.world.view import name_of
from presage.props.nodes import at_least, at_most, exactly, exists, forall
from presage.props.property import Property, Verdict
from presage.trace.show import show

WITNESSES_MAX = 4
TEXT_MAX = 200
Function = ast.FunctionDef | ast.Lambda
OVER_NODES = (forall, exists, exactly, at_least, at_most)


class Part(Struct, frozen=True):
    """One conjunct: its source, whether it is true, and what makes it false."""

    text: str
    holds: bool | None  # None: asking it raised
    why: str = ""


class Unclear(Exception):
    """The source is not there, or not simple enough."""


def conjuncts(prop: Property, *seen: Any) -> list[Part]:
    """The parts of `prop`'s predicate, asked of what it sees; none if it cannot be taken apart.

    Runs the user's code: call it under a watch.
    """
    try:
        body, names = _source(prop.predicate, seen)
        answer = _answer(body, names)
    except (Unclear, OSError, TypeError, SyntaxError):
        return []
    except Exception:  # the predicate itself raises here: there is no part to blame
        return []
    parts = [_part(each, names) for each in flat(answer)]
    return parts if any(part.holds is not True for part in parts) else []


def because(prop: Property, *seen: Any) -> str:
    """Why `prop` is false of what it sees, where its predicate does not say; runs user code."""
    for part in conjuncts(prop, *seen):
        if part.holds is False:
            return f"`{part.text}` is false{f': {part.why}' if part.why else ''}"
    return f"`{prop.name}` is False"


def asserted(file: str, line: int) -> str:
    """The condition of the `assert` at a line of a file; "" if there is none."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return ""
    found = [
        each
        for each in ast.walk(tree)
        if isinstance(each, ast.Assert) and each.lineno <= line <= (each.end_lineno or line)
    ]
    return _text(found[0].test) if found else ""


def _source(predicate: Any, seen: tuple[Any, ...]) -> tuple[list[ast.stmt], dict[str, Any]]:
    found = definition(predicate)
    closed = closed_over(predicate)
    names = {**predicate.__globals__, **closed, **arguments_of(predicate, *seen)}
    if isinstance(found, ast.FunctionDef):
        return found.body, names
    return [ast.Return(found.body)], names


def definition(predicate: Any) -> Function:
    """The one function in the file of `predicate` that it can be."""
    code: CodeType = predicate.__code__
    names = code.co_varnames[: code.co_argcount]
    found = [
        node
        for node in functions(code.co_filename).get(code.co_firstlineno, ())
        if isinstance(node, Function)
        and tuple(arg.arg for arg in node.args.args) == names
        and (isinstance(node, ast.Lambda) or node.name == code.co_name)
        and _contains(node, code)
    ]
    if len(found) != 1:
        raise Unclear
    return found[0]


def _contains(node: Function, code: CodeType) -> bool:
    """Whether the instructions of `code` stand where `node` does: two lambdas may share a line."""
    if isinstance(node, ast.FunctionDef):
        return True
    body, ends = node.body, (node.body.end_lineno or 0, node.body.end_col_offset or 0)
    places = [
        ((line, column), (end_line, end_column))
        for line, end_line, column, end_column in code.co_positions()
        if None not in (line, end_line, column, end_column)
        and (line, column) < (end_line, end_column)
    ]
    begins = (body.lineno, body.col_offset)
    return min(place for place, _ in places) == begins and max(end for _, end in places) == ends


def _answer(body: list[ast.stmt], names: dict[str, Any]) -> ast.expr:
    """The expression that is returned, after everything before it was done in `names`."""
    for statement in body:
        if isinstance(statement, ast.Return):
            if statement.value is None:
                raise Unclear
            return statement.value
        if isinstance(statement, ast.If):
            taken = statement.body if _value(statement.test, names) else statement.orelse
            try:
                return _answer(taken, names)
            except _Falls:
                continue
        if any(isinstance(each, ast.Return) for each in ast.walk(statement)) and not isinstance(
            statement, ast.FunctionDef
        ):
            raise Unclear
        _do(statement, names)
    raise _Falls


class _Falls(Unclear):
    """Execution leaves the end of a block."""


def _do(statement: ast.stmt, names: dict[str, Any]) -> None:
    module = ast.fix_missing_locations(ast.Module([statement], []))
    exec(compile(module, "<property>", "exec"), names)


def _value(expression: ast.expr, names: dict[str, Any]) -> Any:
    wrapped = ast.fix_missing_locations(ast.Expression(expression))
    return eval(compile(wrapped, "<property>", "eval"), names)


def flat(expression: ast.expr) -> Iterator[ast.expr]:
    if isinstance(expression, ast.BoolOp) and isinstance(expression.op, ast.And):
        for value in expression.values:
            yield from flat(value)
    elif (
        isinstance(expression, ast.UnaryOp)
        and isinstance(expression.op, ast.Not)
        and isinstance(expression.operand, ast.BoolOp)
        and isinstance(expression.operand.op, ast.Or)
    ):
        for value in expression.operand.values:
            yield from flat(ast.UnaryOp(ast.Not(), value))
    else:
        yield expression


def _part(expression: ast.expr, names: dict[str, Any]) -> Part:
    text = _text(expression)
    try:
        value = _value(expression, names)
        if bool(value):
            return Part(text, True)
        return Part(text, False, _witnesses(expression, value, names))
    except Exception as error:
        return Part(text, None, f"it raised {type(error).__name__}: {error}")


def _witnesses(expression: ast.expr, value: Any, names: dict[str, Any]) -> str:
    """Why `expression`, which is false, is so."""
    if isinstance(expression, ast.Call) and expression.args:
        first = expression.args[-1]
        function = _value(expression.func, names)
        if function is all and isinstance(first, ast.GeneratorExp | ast.ListComp):
            return _failing(first, names)
        if function in OVER_NODES and isinstance(first, ast.Lambda):
            return _among(expression, first, value, names)
    if isinstance(value, Verdict):
        return value.why
    if isinstance(expression, ast.Compare):
        sides = [side for side in [expression.left, *expression.comparators] if _tells(side)]
        texts = [
            f"{_brief(side)} is {_shown(_value(side, names))}{_counted(side, names)}"
            for side in sides
        ]
        return ", ".join(dict.fromkeys(texts))
    if isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.Not):
        operand = _value(expression.operand, names)
        return "" if operand is True else f"{_text(expression.operand)} is {_shown(operand)}"
    return "" if value is False else f"it is {_shown(value)}"


def _brief(side: ast.expr) -> str:
    """One side of a comparison that was just written out in full."""
    if isinstance(side, ast.Call) and any(isinstance(arg, ast.GeneratorExp) for arg in side.args):
        return f"{ast.unparse(side.func)}(...)"
    return _text(side)


def _counted(side: ast.expr, names: dict[str, Any]) -> str:
    """What a sum or a length counts, where it counts elements: ", of a and b"."""
    if not isinstance(side, ast.Call) or len(side.args) != 1 or side.keywords:
        return ""
    function, [over] = _value(side.func, names), side.args
    if function not in (sum, len) or not isinstance(over, ast.GeneratorExp | ast.ListComp):
        return ""
    counted = []
    for bound in _bindings(over.generators, dict(names)):
        value = _value(over.elt, bound)
        if function is len or value is True:
            targets = [_text(each.target) for each in over.generators]
            counted.append(", ".join(_shown(_value(_name(t), bound)) for t in targets))
        elif value is not False:
            return ""  # a sum of numbers: no element counts more than another
    if not 0 < len(counted) <= WITNESSES_MAX:
        return ""
    return f", of {', '.join(counted[:-1])}{' and ' * (len(counted) > 1)}{counted[-1]}"


def _tells(side: ast.expr) -> bool:
    """Whether the value of one side of a comparison is worth telling."""
    return not isinstance(side, ast.Constant | ast.Set | ast.Tuple | ast.List | ast.Dict)


def _failing(quantified: ast.GeneratorExp | ast.ListComp, names: dict[str, Any]) -> str:
    """Of which elements the body of an `all(...)` is false."""
    texts: list[str] = []
    count = 0
    for bound in _bindings(quantified.generators, dict(names)):
        false = [part for part in (_part(e, bound) for e in flat(quantified.elt)) if not part.holds]
        if not false:
            continue
        count += 1
        if count <= WITNESSES_MAX:
            targets = [_text(each.target) for each in quantified.generators]
            who = ", ".join(f"{t} = {_shown(_value(_name(t), bound))}" for t in targets)
            why = "; ".join(part.why or f"{part.text} is false" for part in false[:2])
            texts.append(f"{who} ({why})")
    more = f" and {count - WITNESSES_MAX} more" if count > WITNESSES_MAX else ""
    return f"not for {', '.join(texts)}{more}"


def _name(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _bindings(
    generators: list[ast.comprehension], names: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Every way in which a comprehension binds its variables."""
    if not generators:
        yield names
        return
    first, *rest = generators
    for element in _value(first.iter, names):
        bound = {**names, "_presage_element": element}
        target = ast.Assign([first.target], ast.Name("_presage_element", ast.Load()))
        _do(ast.copy_location(target, first.iter), bound)
        if all(_value(test, bound) for test in first.ifs):
            yield from _bindings(rest, bound)


def _among(call: ast.Call, predicate: ast.Lambda, value: Verdict, names: dict[str, Any]) -> str:
    """Of `forall` and its like: the verdict, and the first part that is false of the first node."""
    nodes = call.args[-2] if len(call.args) > 1 else None
    if nodes is None or _value(call.func, names) is not forall:
        return value.why
    for node in _value(nodes, names):
        bound = {**names, predicate.args.args[0].arg: node}
        false = [part for part in (_part(e, bound) for e in flat(predicate.body)) if not part.holds]
        if false:
            why = f": {false[0].why}" if false[0].why else ""
            return f"not for {name_of(node)}: {false[0].text} is false{why}"
    return value.why


def _text(expression: ast.expr) -> str:
    text = ast.unparse(expression)
    for call in ast.walk(expression):  # `sum((x for x in xs))` as people write it
        if isinstance(call, ast.Call) and [type(arg) for arg in call.args] == [ast.GeneratorExp]:
            text = text.replace(
                ast.unparse(call), ast.unparse(call.func) + ast.unparse(call.args[0])
            )
    return text if len(text) <= TEXT_MAX else text[: TEXT_MAX - 3] + "..."


def _shown(value: Any) -> str:
    text = name_of(value) if hasattr(type(value), "_presage_automaton") else show(value)
    return text if len(text) <= TEXT_MAX else text[: TEXT_MAX - 3] + "..."
