"""Quantities as people write them: "1Gf", "125MBps", "1Gbps", "50us"; a plain number is in the
base unit: flop/s, bytes per second, seconds."""

from __future__ import annotations

import math
import re
import sys
from typing import ClassVar, Self

POWERS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
BINARY = {f"{letter}i": 2.0 ** (10 * at) for at, letter in enumerate("kMGTPE", 1)}
SPEEDS = {f"{p}{unit}": by for p, by in POWERS.items() for unit in ("f", "flops")}
BYTES = {f"{p}Bps": by for p, by in (POWERS | BINARY).items()}
BITS = {f"{p}bps": by / 8 for p, by in (POWERS | BINARY).items()}
BANDWIDTHS = BYTES | BITS
TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}

QUANTITY = re.compile(r"\s*([0-9][0-9_]*\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+)\s*([A-Za-z]*)\s*")
SHOWN = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))


class Quantity(float):
    """A number in the base unit of its kind."""

    units: ClassVar[dict[str, float]]
    wanted: ClassVar[str]
    above_zero: ClassVar[bool] = True

    @classmethod
    def read(cls, given: object) -> Self:
        """The quantity that a text or a plain number means; raises ValueError if it means none."""
        value = _value(given, cls.units)
        if value is None:
            raise ValueError(f"{cls.wanted} is wanted")
        if not math.isfinite(value) or value < 0 or (cls.above_zero and value == 0):
            least = "more than 0" if cls.above_zero else "0 or more"
            raise ValueError(f"{cls.wanted} is wanted, finite and {least}")
        return cls(value)


class Speed(Quantity):
    """Operations per second."""

    units, wanted = SPEEDS, 'a speed such as "1Gf"'


class Bandwidth(Quantity):
    """Bytes per second."""

    units, wanted = BANDWIDTHS, 'a bandwidth such as "125MBps" or "1Gbps"'


class Latency(Quantity):
    """Seconds."""

    units, wanted, above_zero = TIMES, 'a time such as "50us"', False


def _value(given: object, units: dict[str, float]) -> float | None:
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return None
    if not isinstance(given, str):
        return float(given) if abs(given) <= sys.float_info.max else math.inf
    match = QUANTITY.fullmatch(given)
    if match is None or (match[2] and match[2] not in units):
        return None
    number = float(match[1])
    by = units.get(match[2], 1.0)
    # Division by a power of ten is exact where multiplication by its inverse is not.
    return number / round(1 / by) if by < 1 and match[2] not in BITS else number * by


def seconds(value: float) -> str:
    """A time in the unit that suits it, to six digits."""
    for unit, by in SHOWN:
        if value >= by:
            return f"{value / by:.6g} {unit}"
    return "0 s" if value == 0 else f"{value:.3g} s"


def amount(value: float, unit: str) -> str:
    """A quantity with a prefix, to four digits."""
    for prefix, by in reversed(POWERS.items()):
        if value >= by:
            return f"{value / by:.4g} {prefix}{unit}"
    return f"{value:.4g} {unit}"
