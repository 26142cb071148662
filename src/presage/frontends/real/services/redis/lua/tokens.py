"""The tokens of a script."""

import re

from presage.records import record

KEYWORDS = {
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in",
    "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
}  # fmt: skip
TOKEN = re.compile(
    rb"(?P<space>[ \t\r]+)|(?P<line>\n)|(?P<comment>--\[\[.*?\]\]|--[^\n]*)"
    rb"|(?P<name>[A-Za-z_]\w*)|(?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    rb"|(?P<string>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')|(?P<long>\[\[.*?\]\])"
    rb"|(?P<symbol>\.\.\.|\.\.|==|~=|<=|>=|[-+*/%^#<>=(){}\[\];:,.])",
    re.DOTALL,
)
ESCAPE = re.compile(rb"\\(\d{1,3}|.)", re.DOTALL)
ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f",
           b"v": b"\v"}  # fmt: skip


class LuaSyntaxError(Exception):
    """A script that cannot be read, with the line."""


@record(frozen=True)
class Token:
    kind: str  # "name", "keyword", "number", "string", "symbol" or "end"
    value: str | bytes | float
    line: int


def tokens(source: bytes) -> list[Token]:
    found: list[Token] = []
    position, line = 0, 1
    while position < len(source):
        match = TOKEN.match(source, position)
        if match is None:
            near = source[position : position + 1].decode("latin-1")
            raise LuaSyntaxError(f"user_script:{line}: unexpected symbol near '{near}'")
        kind, text = str(match.lastgroup), match[0]
        position = match.end()
        if kind not in {"space", "line", "comment"}:
            found.append(token(kind, text, line))
        line += text.count(b"\n")
    found.append(Token("end", "<eof>", line))
    return found


def token(kind: str, text: bytes, line: int) -> Token:
    if kind == "number":
        is_hex = text[:2].lower() == b"0x"
        return Token("number", float(int(text, 16)) if is_hex else float(text), line)
    if kind == "string":
        return Token("string", ESCAPE.sub(unescape, text[1:-1]), line)
    if kind == "long":
        return Token("string", text[2:-2].removeprefix(b"\n"), line)
    name = text.decode()
    return Token("keyword" if name in KEYWORDS else kind, name, line)


def unescape(match: re.Match[bytes]) -> bytes:
    text = match[1]
    return bytes([int(text) & 255]) if text.isdigit() else ESCAPES.get(text, text)
