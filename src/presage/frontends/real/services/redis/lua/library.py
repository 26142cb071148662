"""The functions that scripts find: basic ones, `string`, `table`, `math`, `cjson`.

What Lua has and this has not is in `ABSENT`: calling it says so.
"""

import functools
import json
import math
import re
from collections.abc import Callable
from typing import Any

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

FORMAT = re.compile(rb"%(%|[-+ #0]*\d*(?:\.\d+)?[cdiouxXeEfgGsq])")
TEXT_MAX = 16 * 1024 * 1024
ABSENT = {
    "string": ("find", "match", "gmatch", "gsub", "dump"),
    "math": ("random", "randomseed"),
    "cjson": (),
    "table": (),
}
Call = Callable[[Value, list[Value], int], list[Value]]


def at(values: list[Value], place: int) -> Value:
    return values[place] if place < len(values) else None


def bad(name: str, place: int, wanted: str, value: Value) -> LuaError:
    kind = "no value" if value is None else type_name(value)
    text = f"bad argument #{place + 1} to '{name}' ({wanted} expected, got {kind})"
    return LuaError(text.encode())


def number(values: list[Value], place: int, name: str, default: float | None = None) -> float:
    value = at(values, place)
    if value is None and default is not None:
        return default
    found = to_number(value)
    if found is None:
        raise bad(name, place, "number", value)
    return found


def text(values: list[Value], place: int, name: str) -> bytes:
    found = to_text(at(values, place))
    if found is None:
        raise bad(name, place, "string", at(values, place))
    return found


def table(values: list[Value], place: int, name: str) -> Table:
    found = at(values, place)
    if not isinstance(found, Table):
        raise bad(name, place, "table", found)
    return found


# -- basic -----------------------------------------------------------------------------------


def tostring(values: list[Value]) -> list[Value]:
    value = at(values, 0)
    known = to_text(value)
    if known is not None:
        return [known]
    words = {None: b"nil", True: b"true", False: b"false"}
    if value is None or isinstance(value, bool):
        return [words[value]]
    return [type_name(value).encode()]


def tonumber(values: list[Value]) -> list[Value]:
    if len(values) < 2 or values[1] == 10:
        return [to_number(at(values, 0))]
    try:
        return [float(int(text(values, 0, "tonumber"), int(number(values, 1, "tonumber"))))]
    except ValueError:
        return [None]


def following(pairs: list[tuple[Value, Value]]) -> list[Value]:
    rest = iter(pairs)
    return [lambda _values: list(next(rest, (None,))), None, None]


def pairs(values: list[Value]) -> list[Value]:
    return following(table(values, 0, "pairs").pairs())


def ipairs(values: list[Value]) -> list[Value]:
    items = table(values, 0, "ipairs").array()
    return following([(float(place), item) for place, item in enumerate(items, 1)])


def next_(values: list[Value]) -> list[Value]:
    items = table(values, 0, "next").pairs()
    key = at(values, 1)
    places = [place for place, pair in enumerate(items) if pair[0] == key]
    place = 0 if key is None else places[0] + 1 if places else len(items)
    return list(items[place]) if place < len(items) else [None]


def unpack(values: list[Value]) -> list[Value]:
    source = table(values, 0, "unpack")
    first, last = number(values, 1, "unpack", 1.0), number(values, 2, "unpack", source.length())
    if last - first > 8000:
        raise LuaError(b"too many results to unpack")
    return [source.get(float(place)) for place in range(int(first), int(last) + 1)]


def select(values: list[Value]) -> list[Value]:
    if at(values, 0) == b"#":
        return [float(len(values) - 1)]
    place = int(number(values, 0, "select"))
    return values[place:] if place > 0 else values[place:]


def error(values: list[Value]) -> list[Value]:
    raise LuaError(at(values, 0))


def assert_(values: list[Value]) -> list[Value]:
    if truth(at(values, 0)):
        return values
    raise LuaError(at(values, 1) if len(values) > 1 else b"assertion failed!")


def protected(call: Call) -> Function:
    def pcall(values: list[Value]) -> list[Value]:
        try:
            return [True, *call(at(values, 0), values[1:], 0)]
        except LuaError as failure:
            reply = failure.value.get(b"err") if isinstance(failure.value, Table) else None
            return [False, failure.value if reply is None else reply]

    return pcall


# -- string ----------------------------------------------------------------------------------


def sub(values: list[Value]) -> list[Value]:
    source = text(values, 0, "sub")
    first, last = int(number(values, 1, "sub", 1.0)), int(number(values, 2, "sub", -1.0))
    size = len(source)
    start = max(first + size + 1 if first < 0 else first, 1)
    stop = min(last + size + 1 if last < 0 else last, size)
    return [source[start - 1 : stop]]


def repeat(values: list[Value]) -> list[Value]:
    source, count = text(values, 0, "rep"), int(number(values, 1, "rep"))
    if len(source) * count > TEXT_MAX:
        raise LuaError(b"resulting string too large")
    return [source * max(0, count)]


def byte(values: list[Value]) -> list[Value]:
    first = number(values, 1, "byte", 1.0)
    part = sub([text(values, 0, "byte"), first, number(values, 2, "byte", first)])[0]
    return [float(each) for each in part]


def char(values: list[Value]) -> list[Value]:
    codes = [int(number(values, place, "char")) for place in range(len(values))]
    if any(not 0 <= code < 256 for code in codes):
        raise LuaError(b"bad argument #1 to 'char' (invalid value)")
    return [bytes(codes)]


def format_(values: list[Value]) -> list[Value]:
    place = 0

    def piece(match: re.Match[bytes]) -> bytes:
        nonlocal place
        spec = match[1]
        if spec == b"%":
            return b"%"
        place += 1
        kind = spec[-1:]
        if kind == b"q":
            return b'"' + text(values, place, "format").replace(b'"', b'\\"') + b'"'
        pattern: bytes = b"%" + spec
        if kind in b"diouxXc":
            return pattern.replace(b"i", b"d") % int(number(values, place, "format"))
        if kind in b"eEfgG":
            return pattern % number(values, place, "format")
        shown: bytes = tostring(values[place : place + 1])[0]
        return pattern % shown

    def safe(match: re.Match[bytes]) -> bytes:
        if len(match[1]) > 8:
            raise LuaError(b"invalid format (width or precision too long)")
        return piece(match)

    return [FORMAT.sub(safe, text(values, 0, "format"))]


# -- table, math -----------------------------------------------------------------------------


def insert(values: list[Value]) -> list[Value]:
    target = table(values, 0, "insert")
    size = target.length()
    if len(values) < 3:
        target.set(float(size + 1), at(values, 1))
        return []
    place = int(number(values, 1, "insert"))
    for each in range(size, place - 1, -1):
        target.set(float(each + 1), target.get(float(each)))
    target.set(float(place), values[2])
    return []


def remove(values: list[Value]) -> list[Value]:
    target = table(values, 0, "remove")
    size = target.length()
    place = int(number(values, 1, "remove", float(size)))
    value = target.get(float(place))
    for each in range(place, size + 1):
        target.set(float(each), target.get(float(each + 1)))
    return [value]


def concat(values: list[Value]) -> list[Value]:
    items = [to_text(each) for each in table(values, 0, "concat").array()]
    between = text(values, 1, "concat") if at(values, 1) is not None else b""
    if None in items:
        raise LuaError(b"invalid value in table for 'concat'")
    return [between.join(each for each in items if each is not None)]


def sorting(call: Call) -> Function:
    def sort(values: list[Value]) -> list[Value]:
        target, less = table(values, 0, "sort"), at(values, 1)

        def compare(left: Value, right: Value) -> int:
            if less is not None:
                before = truth(at(call(less, [left, right], 0), 0))
                return -1 if before else int(truth(at(call(less, [right, left], 0), 0)))
            if type(left) is not type(right) or not isinstance(left, float | bytes):
                kinds = f"{type_name(left)} with {type_name(right)}"
                raise LuaError(f"attempt to compare {kinds}".encode())
            return int(left > right) - int(left < right)

        items = sorted(target.array(), key=functools.cmp_to_key(compare))
        for place, item in enumerate(items, 1):
            target.set(float(place), item)
        return []

    return sort


def numeric(name: str, function: Callable[..., float]) -> Function:
    def apply(values: list[Value]) -> list[Value]:
        numbers = [number(values, place, name) for place in range(max(1, len(values)))]
        try:
            return [float(function(*numbers))]
        except (ValueError, OverflowError):
            return [math.nan]

    return apply


# -- cjson -----------------------------------------------------------------------------------


def plain(value: Value, depth: int = 0) -> Any:
    """A value as JSON knows it."""
    if depth > 100:
        raise LuaError(b"Cannot serialise, excessive depth")
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, Table):
        if value.items and value.length() == len(value.items):
            return [plain(each, depth + 1) for each in value.array()]
        return {
            (tostring([key])[0] or b"").decode("utf-8", "replace"): plain(each, depth + 1)
            for key, each in value.pairs()
        }
    if value is None or isinstance(value, bool):
        return value
    raise LuaError(f"Cannot serialise {type_name(value)}: type not supported".encode())


def from_plain(value: Any) -> Value:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, list):
        return Table([from_plain(each) for each in value])
    if isinstance(value, dict):
        target = Table()
        for key, each in value.items():
            target.set(key.encode(), from_plain(each))
        return target
    return float(value) if isinstance(value, int | float) and value is not True else value


def encode(values: list[Value]) -> list[Value]:
    return [json.dumps(plain(at(values, 0)), separators=(",", ":"), ensure_ascii=False).encode()]


def decode(values: list[Value]) -> list[Value]:
    try:
        return [from_plain(json.loads(text(values, 0, "decode")))]
    except (ValueError, RecursionError):
        raise LuaError(b"Expected value but found invalid token at character 1") from None


def absent(name: str) -> Function:
    def refuse(values: list[Value]) -> list[Value]:
        raise LuaError(f"'{name}' is not part of this Redis service".encode())

    return refuse


def module(name: str, functions: dict[str, Value]) -> Table:
    target = Table()
    for each in ABSENT.get(name, ()):
        target.set(each.encode(), absent(f"{name}.{each}"))
    for each, function in functions.items():
        target.set(each.encode(), function)
    return target


def library(call: Call) -> dict[str, Value]:
    """The global names of a script; `call` runs a function of it."""
    return {
        "tostring": tostring,
        "tonumber": tonumber,
        "type": lambda values: [type_name(at(values, 0)).encode()],
        "pairs": pairs,
        "ipairs": ipairs,
        "next": next_,
        "unpack": unpack,
        "select": select,
        "error": error,
        "assert": assert_,
        "pcall": protected(call),
        "string": module("string", STRING),
        "table": module("table", {**TABLE, "sort": sorting(call)}),
        "math": module("math", MATH),
        "cjson": module("cjson", {"encode": encode, "decode": decode, "null": None}),
    }


STRING: dict[str, Value] = {
    "sub": sub,
    "len": lambda values: [float(len(text(values, 0, "len")))],
    "lower": lambda values: [text(values, 0, "lower").lower()],
    "upper": lambda values: [text(values, 0, "upper").upper()],
    "reverse": lambda values: [text(values, 0, "reverse")[::-1]],
    "rep": repeat,
    "byte": byte,
    "char": char,
    "format": format_,
}
TABLE: dict[str, Value] = {
    "insert": insert,
    "remove": remove,
    "concat": concat,
    "getn": lambda values: [float(table(values, 0, "getn").length())],
}
MATH: dict[str, Value] = {
    "huge": math.inf,
    "pi": math.pi,
    "floor": numeric("floor", math.floor),
    "ceil": numeric("ceil", math.ceil),
    "abs": numeric("abs", abs),
    "max": numeric("max", max),
    "min": numeric("min", min),
    "sqrt": numeric("sqrt", math.sqrt),
    "fmod": numeric("fmod", math.fmod),
    "pow": numeric("pow", math.pow),
}
