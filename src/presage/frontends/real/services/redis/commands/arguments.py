"""Reading arguments: numbers, options, ranges; refused as Redis refuses them."""

import math
import re
from fractions import Fraction

from presage.frontends.real.services.redis import errors
from presage.frontends.real.services.redis.errors import CommandError

INTEGER = re.compile(rb"-?(0|[1-9][0-9]{0,18})")
LEAST, MOST = -(2**63), 2**63 - 1
FLOAT = re.compile(rb"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?)", re.IGNORECASE)
PLACES = 17
MANTISSA = 64


def is_integer(text: bytes) -> bool:
    return bool(INTEGER.fullmatch(text)) and text != b"-0" and LEAST <= int(text) <= MOST


def integer(text: bytes, complaint: str = errors.NOT_INTEGER) -> int:
    if not is_integer(text):
        raise CommandError(complaint)
    return int(text)


def positive(text: bytes, complaint: str = "ERR value is out of range, must be positive") -> int:
    """A count of something: 0 or more."""
    value = integer(text, complaint)
    if value < 0:
        raise CommandError(complaint)
    return value


def floating(text: bytes, complaint: str = errors.NOT_FLOAT) -> float:
    if not FLOAT.fullmatch(text) or len(text) > 400:
        raise CommandError(complaint)
    return float(text)


def exact(text: bytes, complaint: str = errors.NOT_FLOAT) -> Fraction:
    """A number for a sum that is printed again, as a C compiler's `long double` holds it."""
    if math.isinf(floating(text, complaint)):
        raise CommandError(errors.NOT_NUMBER)
    return rounded(Fraction(text.decode()))


def rounded(value: Fraction) -> Fraction:
    """The nearest number whose binary digits fit into 64 bits."""
    if not value:
        return value
    exponent = abs(value.numerator).bit_length() - value.denominator.bit_length()
    if abs(value) < Fraction(2) ** exponent:
        exponent -= 1
    scale = Fraction(2) ** (MANTISSA - 1 - exponent)
    return Fraction(round(value * scale)) / scale


def added(left: Fraction, right: Fraction) -> bytes:
    """The sum, with at most 17 digits behind the point."""
    digits = round(rounded(left + right) * 10**PLACES)
    whole, rest = divmod(abs(digits), 10**PLACES)
    text = f"{whole}.{rest:0{PLACES}d}".rstrip("0").rstrip(".")
    return (f"-{text}" if digits < 0 else text).encode()


def timeout(text: bytes) -> float:
    """How long to wait, in seconds; 0 is for ever."""
    seconds = floating(text, "ERR timeout is not a float or out of range")
    if seconds < 0:
        raise CommandError("ERR timeout is negative")
    if seconds > MOST / 1000:
        raise CommandError("ERR timeout is out of range")
    return seconds


def span(start: int, stop: int, length: int) -> slice:
    """Both ends included, negative numbers from the end."""
    first = max(0, start + length if start < 0 else start)
    last = min(length - 1, stop + length if stop < 0 else stop)
    return slice(first, max(first, last + 1))


def pairs(arguments: list[bytes], name: str) -> list[tuple[bytes, bytes]]:
    if len(arguments) % 2:
        raise errors.arity(name)
    return list(zip(arguments[::2], arguments[1::2], strict=True))


def option(text: bytes) -> str:
    """The name of an option, in capital letters."""
    return text.decode("latin-1").upper()
