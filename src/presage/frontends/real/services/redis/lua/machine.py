"""Runs the tree of a script, at most so many steps."""

import math
from collections.abc import Callable
from typing import Any

from presage.frontends.real.services.redis.lua.parser import Tree
from presage.frontends.real.services.redis.lua.values import (
    Function,
    LuaError,
    Table,
    Value,
    to_number,
    to_text,
    truth,
    type_name,
)

STEPS_MAX = 200_000
DEPTH_MAX = 100


class TooLong(Exception):
    """A script that does not end."""


class Break(Exception):
    """Leaves a loop."""


class Returned(Exception):
    """Leaves a function, with its values."""

    def __init__(self, values: list[Value]) -> None:
        super().__init__()
        self.values = values


class Scope:
    """Local names; `parent` has those around them."""

    __slots__ = ("names", "parent", "varargs")

    def __init__(self, parent: "Scope | None", varargs: list[Value] | None = None) -> None:
        self.names: dict[str, Value] = {}
        self.parent = parent
        around: list[Value] = parent.varargs if parent is not None else []
        self.varargs: list[Value] = around if varargs is None else varargs

    def holder(self, name: str) -> "Scope | None":
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.parent
        return scope


class Machine:
    """One run of one script, with these global names."""

    def __init__(self, globals_: dict[str, Value]) -> None:
        self.globals = globals_
        self.steps = self.depth = 0

    def run(self, block: list[Tree]) -> list[Value]:
        try:
            self.block(block, Scope(None, []))
        except Returned as returned:
            return returned.values
        return []

    def block(self, block: list[Tree], scope: Scope) -> None:
        for statement in block:
            self.steps += 1
            if self.steps > STEPS_MAX:
                raise TooLong
            getattr(self, f"_{statement[0]}")(statement, scope)

    # -- statements --------------------------------------------------------------------------

    def _local(self, tree: Tree, scope: Scope) -> None:
        values = self.values(tree[2], scope)
        for place, name in enumerate(tree[1]):
            scope.names[name] = values[place] if place < len(values) else None

    def _local_function(self, tree: Tree, scope: Scope) -> None:
        scope.names[tree[1]] = None
        scope.names[tree[1]] = self.one(tree[2], scope)

    def _assign(self, tree: Tree, scope: Scope) -> None:
        values = self.values(tree[2], scope)
        for place, target in enumerate(tree[1]):
            value = values[place] if place < len(values) else None
            if target[0] == "name":
                self._set_name(target, value, scope)
            else:
                table = self.one(target[1], scope)
                if not isinstance(table, Table):
                    what = named(target[1], table, scope)
                    raise blame(f"attempt to index {what}", target[3])
                table.set(self.one(target[2], scope), value)

    def _set_name(self, target: Tree, value: Value, scope: Scope) -> None:
        holder = scope.holder(target[1])
        if holder is None:
            raise blame("Attempt to modify a readonly table", target[2])
        holder.names[target[1]] = value

    def _run(self, tree: Tree, scope: Scope) -> None:
        self.values([tree[1]], scope)

    def _do(self, tree: Tree, scope: Scope) -> None:
        self.block(tree[1], Scope(scope))

    def _while(self, tree: Tree, scope: Scope) -> None:
        try:
            while truth(self.one(tree[1], scope)):
                self._tick()
                self.block(tree[2], Scope(scope))
        except Break:
            pass

    def _repeat(self, tree: Tree, scope: Scope) -> None:
        try:
            while True:
                self._tick()
                inner = Scope(scope)
                self.block(tree[1], inner)
                if truth(self.one(tree[2], inner)):
                    return
        except Break:
            pass

    def _tick(self) -> None:
        self.steps += 1
        if self.steps > STEPS_MAX:
            raise TooLong

    def _if(self, tree: Tree, scope: Scope) -> None:
        for condition, block in tree[1]:
            if truth(self.one(condition, scope)):
                self.block(block, Scope(scope))
                return
        self.block(tree[2], Scope(scope))

    def _for(self, tree: Tree, scope: Scope) -> None:
        numbers = [to_number(value) for value in self.values(tree[2], scope)]
        at, end, step = (*numbers, 1.0)[:3]
        if at is None or end is None or step is None:
            raise blame("'for' initial value must be a number", tree[4])
        if step == 0:
            raise blame("'for' step is zero", tree[4])
        try:
            while at <= end if step > 0 else at >= end:
                self._tick()
                inner = Scope(scope)
                inner.names[tree[1]] = at
                self.block(tree[3], inner)
                at += step
        except Break:
            pass

    def _each(self, tree: Tree, scope: Scope) -> None:
        function, state, control = (*self.values(tree[2], scope), None, None, None)[:3]
        try:
            while True:
                self._tick()
                values = self.call(function, [state, control], tree[4])
                control = values[0] if values else None
                if control is None:
                    return
                inner = Scope(scope)
                for place, name in enumerate(tree[1]):
                    inner.names[name] = values[place] if place < len(values) else None
                self.block(tree[3], inner)
        except Break:
            pass

    def _return(self, tree: Tree, scope: Scope) -> None:
        raise Returned(self.values(tree[1], scope))

    def _break(self, tree: Tree, scope: Scope) -> None:
        raise Break

    # -- expressions -------------------------------------------------------------------------

    def values(self, trees: list[Tree], scope: Scope) -> list[Value]:
        """One value of each, but all values of the last."""
        found = [self.one(tree, scope) for tree in trees[:-1]]
        return found + self.many(trees[-1], scope) if trees else found

    def many(self, tree: Tree, scope: Scope) -> list[Value]:
        kind = tree[0]
        if kind == "call":
            function = self.one(tree[1], scope)
            if not callable(function):
                raise blame(f"attempt to call {named(tree[1], function, scope)}", tree[3])
            return self.call(function, self.values(tree[2], scope), tree[3])
        if kind == "method":
            owner = self.one(tree[1], scope)
            function = self.index(owner, tree[2], tree[4], named(tree[1], owner, scope))
            return self.call(function, [owner, *self.values(tree[3], scope)], tree[4])
        if kind == "varargs":
            return list(scope.varargs)
        return [self.one(tree, scope)]

    def one(self, tree: Tree, scope: Scope) -> Value:
        kind = tree[0]
        if kind == "constant":
            return tree[1]
        if kind == "name":
            holder = scope.holder(tree[1])
            if holder is not None:
                return holder.names[tree[1]]
            if tree[1] not in self.globals:
                what = f"Script attempted to access nonexistent global variable '{tree[1]}'"
                raise blame(what, tree[2])
            return self.globals[tree[1]]
        if kind in {"and", "or"}:
            left = self.one(tree[1], scope)
            return self.one(tree[2], scope) if truth(left) == (kind == "and") else left
        if kind in {"call", "method", "varargs"}:
            return (self.many(tree, scope) or [None])[0]
        if kind == "one":
            return self.one(tree[1], scope)
        return getattr(self, f"_value_{kind}")(tree, scope)

    def _value_index(self, tree: Tree, scope: Scope) -> Value:
        owner = self.one(tree[1], scope)
        return self.index(owner, self.one(tree[2], scope), tree[3], named(tree[1], owner, scope))

    def index(self, owner: Value, key: Value, line: int, name: str) -> Value:
        if isinstance(owner, bytes):
            owner = self.globals["string"]
        if not isinstance(owner, Table):
            raise blame(f"attempt to index {name}", line)
        return owner.get(key)

    def _value_function(self, tree: Tree, scope: Scope) -> Function:
        def function(values: list[Value]) -> list[Value]:
            inner = Scope(scope, values[len(tree[1]) :] if tree[2] else [])
            for place, name in enumerate(tree[1]):
                inner.names[name] = values[place] if place < len(values) else None
            try:
                self.block(tree[3], inner)
            except Returned as returned:
                return returned.values
            return []

        return function

    def _value_table(self, tree: Tree, scope: Scope) -> Table:
        table, items = Table(), tree[1]
        place = 1
        for number, (key, item) in enumerate(items):
            if key is not None:
                table.set(self.one(key, scope), self.one(item, scope))
                continue
            last = number == len(items) - 1
            for value in self.many(item, scope) if last else [self.one(item, scope)]:
                table.set(float(place), value)
                place += 1
        return table

    def _value_unary(self, tree: Tree, scope: Scope) -> Value:
        value = self.one(tree[2], scope)
        if tree[1] == "not":
            return not truth(value)
        if tree[1] == "-":
            return -arithmetic(value, tree[3], named(tree[2], value, scope))
        if isinstance(value, Table):
            return float(value.length())
        if isinstance(value, bytes):
            return float(len(value))
        raise blame(f"attempt to get length of a {type_name(value)} value", tree[3])

    def _value_binary(self, tree: Tree, scope: Scope) -> Value:
        _, operator, left_tree, right_tree, line = tree
        left, right = self.one(left_tree, scope), self.one(right_tree, scope)
        if operator in {"==", "~="}:
            equal = type(left) is type(right) and left == right
            return equal == (operator == "==")
        if operator == "..":
            texts = to_text(left), to_text(right)
            if texts[0] is None or texts[1] is None:
                bad = (left_tree, left) if texts[0] is None else (right_tree, right)
                raise blame(f"attempt to concatenate {named(*bad, scope)}", line)
            return texts[0] + texts[1]
        if operator in COMPARE:
            if type(left) is not type(right) or not isinstance(left, float | bytes):
                kinds = type_name(left), type_name(right)
                what = f"two {kinds[0]} values" if len(set(kinds)) == 1 else " with ".join(kinds)
                raise blame(f"attempt to compare {what}", line)
            return COMPARE[operator](left, right)
        return ARITHMETIC[operator](
            arithmetic(left, line, named(left_tree, left, scope)),
            arithmetic(right, line, named(right_tree, right, scope)),
        )

    def call(self, function: Value, values: list[Value], line: int) -> list[Value]:
        if not callable(function):
            raise blame(f"attempt to call a {type_name(function)} value", line)
        self._tick()
        self.depth += 1
        try:
            if self.depth > DEPTH_MAX:
                raise blame("stack overflow", line)
            return function(values)  # type: ignore[no-any-return]
        except LuaError as error:
            if not error.line:
                error.line = line
                if isinstance(error.value, bytes) and line:
                    error.value = b"user_script:%d: %b" % (line, error.value)
            raise
        finally:
            self.depth -= 1


COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
    "<=": lambda left, right: left <= right,
    ">=": lambda left, right: left >= right,
}


def power(left: float, right: float) -> float:
    try:
        value = left**right
    except (OverflowError, ZeroDivisionError):
        return math.inf
    return value if isinstance(value, float) else math.nan


def divided(left: float, right: float) -> float:
    if right:
        return left / right
    return math.nan if not left or left != left else math.copysign(math.inf, left * (right or 1.0))


ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": divided,
    "%": lambda left, right: left % right if right and not math.isinf(left) else math.nan,
    "^": power,
}


def arithmetic(value: Value, line: int, name: str) -> float:
    number = to_number(value)
    if number is None:
        raise blame(f"attempt to perform arithmetic on {name}", line)
    return number


def named(tree: Tree, value: Value, scope: Scope) -> str:
    """A value that is not what it should be, with its name in the script if it has one."""
    kind = type_name(value)
    if tree[0] == "name":
        where = "global" if scope.holder(tree[1]) is None else "local"
        return f"{where} '{tree[1]}' (a {kind} value)"
    if tree[0] == "index" and tree[2][0] == "constant" and isinstance(tree[2][1], bytes):
        return f"field '{tree[2][1].decode('latin-1')}' (a {kind} value)"
    return f"a {kind} value"


def blame(what: str, line: int) -> LuaError:
    return LuaError(f"user_script:{line}: {what}".encode(), line)
