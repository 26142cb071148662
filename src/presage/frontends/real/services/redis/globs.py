"""Glob patterns as Redis matches them: `*`, `?`, `[abc]`, `[^a]`, `[a-z]`, backslash.

A pattern is turned into a regular expression, piece by piece, and remembered by `re` itself.
Runs of stars are one star, so a hostile pattern does not cost more than its stars.
"""

import re


def matches(pattern: bytes, text: bytes) -> bool:
    return re.fullmatch(regular(pattern), text, re.DOTALL) is not None


def regular(pattern: bytes) -> bytes:
    out, at = bytearray(), 0
    while at < len(pattern):
        char = pattern[at : at + 1]
        at += 1
        if char == b"*":
            if not out.endswith(b".*"):
                out += b".*"
        elif char == b"?":
            out += b"."
        elif char == b"[":
            piece, at = char_class(pattern, at)
            out += piece
        else:
            if char == b"\\" and at < len(pattern):
                char = pattern[at : at + 1]
                at += 1
            out += re.escape(char)
    return bytes(out)


def char_class(pattern: bytes, at: int) -> tuple[bytes, int]:
    """The class that begins behind `[`, and where it ends."""
    negated = pattern[at : at + 1] == b"^"
    at += negated
    parts = bytearray()
    while at < len(pattern) and pattern[at : at + 1] != b"]":
        if pattern[at : at + 1] == b"\\" and at + 1 < len(pattern):
            at += 1
        low = pattern[at]
        if pattern[at + 1 : at + 2] == b"-" and at + 2 < len(pattern):
            low, high = sorted((low, pattern[at + 2]))
            parts += b"\\x%02x-\\x%02x" % (low, high)
            at += 3
        else:
            parts += b"\\x%02x" % low
            at += 1
    if not parts:
        return (rb"[\s\S]" if negated else rb"(?!)"), at + 1
    return b"[%b%b]" % (b"^" if negated else b"", bytes(parts)), at + 1
