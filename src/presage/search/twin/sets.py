"""Sets that code makes or changes, and whether anything it does with them may show their order."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from presage.model.trees import children

OPERATORS = (ast.Sub, ast.BitOr, ast.BitAnd, ast.BitXor)
MAKERS = frozenset("set frozenset".split())
DERIVING = frozenset("union difference intersection symmetric_difference".split())
CHANGING = frozenset(
    "add discard remove clear update difference_update intersection_update"
    " symmetric_difference_update".split()
)
ASKING = frozenset("issubset issuperset isdisjoint copy __contains__ __len__".split())
# Functions of a whole set that give the same in every order; `key` lets ties show it.
WHOLE = frozenset("len sorted min max bool set frozenset any all isinstance".split())
# What leads from a container to what is in it; `pop` if it is told what.
INNER = frozenset("get setdefault pop values items".split())
# What goes through a collection, and would not take a number.
ITERATING = frozenset("iter list tuple next enumerate zip map filter reversed dict deque".split())
# Expressions that may be a set, or a number that comes of an operation on sets.
KINDS = (
    *(ast.Set, ast.SetComp, ast.BinOp, ast.BoolOp, ast.IfExp, ast.NamedExpr, ast.Call),
    *(ast.Name, ast.Attribute, ast.Subscript),
)


class Function(Struct, eq=False):
    """The code of a function, gone through once: its nodes by their class, each one's parent."""

    kinds: dict[type[ast.AST], list[Any]]
    parents: dict[ast.AST, ast.AST]

    @classmethod
    def of(cls, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Function:
        kinds: dict[type[ast.AST], list[Any]] = {}
        parents: dict[ast.AST, ast.AST] = {}
        nodes: list[ast.AST] = [function]
        for node in nodes:  # grows meanwhile
            kinds.setdefault(type(node), []).append(node)
            inside = children(node)
            parents.update(dict.fromkeys(inside, node))
            nodes += inside
        return cls(kinds, parents)

    def every(self, *kinds: type[ast.AST]) -> Iterator[Any]:
        """The nodes of these classes."""
        for kind in kinds:
            yield from self.kinds.get(kind, ())


class Sets:
    """The sets in some functions.

    `fields` are the attributes that may hold one, `constants` the names of those that stand outside
    of functions.
    """

    def __init__(
        self, functions: list[Function], fields: set[str], constants: set[str] | None = None
    ) -> None:
        self._functions = functions
        self._fields = fields
        self._constants = constants or set()
        self._changed = set(self._constants)  # attributes with sets that the code made or changed
        self._returning: set[str] = set()  # functions that return one
        self._deriving: set[str] = set()  # functions that return one, or a number
        self._locals: dict[int, set[str]] = {}  # by function

    def escape(self) -> bool:
        """Whether the order of one may show."""
        known = -1
        while known != (known := self._count()):
            for function in self._functions:
                self._learn(function)
        return any(self._shows(function) for function in self._functions)

    def _count(self) -> int:
        held = sum(map(len, self._locals.values()))
        return len(self._changed) + len(self._returning) + held

    def _learn(self, function: Function) -> None:
        """Which names and attributes hold sets of the code's own."""
        names = self._locals.setdefault(id(function), set(self._constants))
        named = [node.name for node in function.every(ast.FunctionDef)]
        for assigned in function.every(ast.Assign):
            self._hold_each(assigned, names)
        for node in function.every(ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.AugAssign):
            if node.value is not None and self._is_set(node.value, names):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    self._hold(target, names)
            elif isinstance(node, ast.AugAssign) and isinstance(node.op, OPERATORS):
                self._change(node.target)
        for returned in function.every(ast.Return):
            if returned.value is not None and self._is_set(returned.value, names):
                self._returning.update(named)
            if returned.value is not None and _may_derive(returned.value):
                self._deriving.update(named)
        for call in function.every(ast.Call):
            if isinstance(call.func, ast.Attribute) and call.func.attr in CHANGING:
                self._change(call.func.value)

    def _hold_each(self, node: ast.Assign, names: set[str]) -> None:
        """`a, b = set(), 1`."""
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for one, value in zip(target.elts, node.value.elts, strict=False):
                    if self._is_set(value, names):
                        self._hold(one, names)

    def _hold(self, target: ast.expr, names: set[str]) -> None:
        base = _base(target)
        if isinstance(base, ast.Name):
            names.add(base.id)
        elif isinstance(base, ast.Attribute):
            self._changed.add(base.attr)

    def _change(self, target: ast.expr) -> None:
        """`target` is changed in place: it matters if it can be a set."""
        base = _base(target)
        if isinstance(base, ast.Attribute) and base.attr in self._fields:
            self._changed.add(base.attr)

    def _is_set(self, node: ast.expr, names: set[str]) -> bool:
        """Whether it may be a set that the code made or changed, or hold one."""
        if isinstance(node, ast.Set | ast.SetComp):
            return True
        if isinstance(node, ast.BinOp):
            parts = (node.left, node.right)
            views = any(_is_view(part) for part in parts)
            sets = any(self._is_set(part, names) or self._is_field(part) for part in parts)
            return isinstance(node.op, OPERATORS) and (views or sets)
        if isinstance(node, ast.BoolOp):
            return any(self._is_set(part, names) for part in node.values)
        if isinstance(node, ast.IfExp):
            return self._is_set(node.body, names) or self._is_set(node.orelse, names)
        if isinstance(node, ast.NamedExpr):
            return self._is_set(node.value, names)
        if isinstance(node, ast.Call) and self._makes(node):
            return True
        base = _base(node)
        if isinstance(base, ast.Name):
            return base.id in names
        return isinstance(base, ast.Attribute) and base.attr in self._changed

    def _makes(self, call: ast.Call) -> bool:
        function = call.func
        if isinstance(function, ast.Name):
            return function.id in MAKERS or function.id in self._returning
        if isinstance(function, ast.Attribute):
            copies = function.attr == "copy" and self._is_field(function.value)
            return function.attr in DERIVING or function.attr in self._returning or copies
        return False

    def _is_field(self, node: ast.expr) -> bool:
        base = _base(node)
        return isinstance(base, ast.Attribute) and base.attr in self._fields

    def _shows(self, function: Function) -> bool:
        names = self._locals.get(id(function), set())
        parents = function.parents
        maybe = {
            target.id
            for node in function.every(ast.Assign)
            if self._derives(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in function.every(*KINDS):
            if isinstance(getattr(node, "ctx", None), ast.Store):
                continue
            if self._is_set(node, names):
                if not self._is_harmless(node, parents, names):
                    return True
            elif self._derives(node) or isinstance(node, ast.Name) and node.id in maybe:
                if _is_iterated(node, parents):
                    return True
        return False

    def _derives(self, node: ast.expr) -> bool:
        """Whether it is a set or a number, for all that is known."""
        if isinstance(node, ast.Call):
            return getattr(node.func, "attr", getattr(node.func, "id", "")) in self._deriving
        return _may_derive(node)

    def _is_harmless(
        self, node: ast.expr, parents: dict[ast.AST, ast.AST], names: set[str]
    ) -> bool:
        """Whether what is done with a set is the same in every order."""
        parent = parents.get(node)
        if isinstance(node, ast.Call) and not node.args and getattr(node.func, "id", "") in MAKERS:
            return True  # `set()` has no order; what it becomes is looked at by itself
        if isinstance(parent, ast.Call):
            return node in parent.args and (_is_whole(parent) or _takes_sets(parent))
        if isinstance(parent, ast.Attribute):
            call = parents.get(parent)
            if not isinstance(call, ast.Call) or call.func is not parent:
                return False
            if parent.attr == "pop":
                return bool(call.args)
            return parent.attr in DERIVING | CHANGING | ASKING | INNER
        if isinstance(parent, ast.comprehension):
            return _is_gathered(parent, parents)
        if isinstance(parent, ast.expr) and self._is_set(parent, names):
            return True  # which is looked at by itself
        if isinstance(parent, ast.If | ast.IfExp | ast.While | ast.Assert):
            return parent.test is node
        if isinstance(parent, ast.Assign):
            return not any(isinstance(each, ast.Tuple | ast.List) for each in parent.targets)
        if isinstance(parent, ast.AugAssign):
            return isinstance(parent.op, OPERATORS)
        kinds = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.AnnAssign, ast.Return, ast.Expr)
        return isinstance(parent, (*kinds, ast.Subscript, ast.NamedExpr))


def _takes_sets(call: ast.Call) -> bool:
    """`one.union(other)` and the like."""
    return isinstance(call.func, ast.Attribute) and call.func.attr in DERIVING | CHANGING | ASKING


def _is_gathered(part: ast.comprehension, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a comprehension gives the same in every order of what it goes through."""
    made = parents.get(part)
    if made is None or isinstance(made, ast.SetComp):
        return made is not None
    around = parents.get(made)
    inside = isinstance(made, ast.GeneratorExp | ast.ListComp)
    return inside and isinstance(around, ast.Call) and _is_whole(around)


def _may_derive(node: ast.expr) -> bool:
    """An operation that has a set as its result, or a number."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, OPERATORS)


def _is_iterated(node: ast.expr, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether something goes through it: then it is no number."""
    parent = parents.get(node)
    if isinstance(parent, ast.Call):
        called = parent.func
        return isinstance(called, ast.Name) and called.id in ITERATING and node in parent.args
    if isinstance(parent, ast.comprehension):
        return parent.iter is node and not _is_gathered(parent, parents)
    if isinstance(parent, ast.Assign):
        return any(isinstance(each, ast.Tuple | ast.List) for each in parent.targets)
    looped = isinstance(parent, ast.For | ast.AsyncFor) and parent.iter is node
    return looped or isinstance(parent, ast.Starred)


def _is_whole(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in WHOLE and not call.keywords


def _is_view(node: ast.expr) -> bool:
    """`d.keys()` and `d.items()` give sets when something is taken from them."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return called and node.func.attr in ("keys", "items")  # type: ignore[attr-defined]


def _base(node: ast.expr) -> ast.expr:
    """What an element is taken from: of `self.votes[term]`, `self.votes`."""
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in INNER
        ):
            node = node.func.value
        else:
            return node
