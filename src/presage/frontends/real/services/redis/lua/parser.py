"""Tokens to a tree: tuples whose first part is their kind.

Expressions: constant, name, index, call, method, function, table, binary, unary, and, or, varargs.
Statements: local, assign, do, while, repeat, if, for, each, return, break, run.
"""

from functools import lru_cache
from typing import Any

from presage.frontends.real.services.redis.lua.tokens import LuaSyntaxError, Token, tokens

Tree = tuple[Any, ...]

BINARY = {
    "or": (1, 1), "and": (2, 2), "<": (3, 3), ">": (3, 3), "<=": (3, 3), ">=": (3, 3),
    "~=": (3, 3), "==": (3, 3), "..": (5, 4), "+": (6, 6), "-": (6, 6), "*": (7, 7),
    "/": (7, 7), "%": (7, 7), "^": (10, 9),
}  # fmt: skip
UNARY = 8
BLOCK_ENDS = {"end", "else", "elseif", "until", "<eof>"}
CONSTANTS = {"nil": None, "true": True, "false": False}
DEPTH_MAX = 60


@lru_cache(maxsize=256)
def parse(source: bytes) -> list[Tree]:
    """The statements of a script; it is only read, so one tree serves every run."""
    parser = Parser(tokens(source))
    block = parser.block()
    if parser.token.kind != "end":
        raise parser.wrong("'<eof>' expected")
    return block


class Parser:
    """Reads tokens from the first to the last."""

    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._at = 0
        self._depth = 0

    @property
    def token(self) -> Token:
        return self._tokens[self._at]

    def wrong(self, what: str) -> LuaSyntaxError:
        near = self.token.value
        text = near.decode("latin-1") if isinstance(near, bytes) else near
        text = f"{text:.14g}" if isinstance(text, float) else text
        return LuaSyntaxError(f"user_script:{self.token.line}: {what} near '{text}'")

    def is_next(self, *words: str) -> bool:
        return self.token.kind in {"keyword", "symbol", "end"} and self.token.value in words

    def take(self, *words: str) -> str | None:
        """The next token if it is one of `words`."""
        if not self.is_next(*words):
            return None
        value = str(self.token.value)
        self._at += 1
        return value

    def need(self, word: str) -> None:
        if self.take(word) is None:
            raise self.wrong(f"'{word}' expected")

    def name(self) -> str:
        if self.token.kind != "name":
            raise self.wrong("'<name>' expected")
        self._at += 1
        return str(self._tokens[self._at - 1].value)

    def names(self) -> list[str]:
        found = [self.name()]
        while self.take(","):
            found.append(self.name())
        return found

    # -- statements --------------------------------------------------------------------------

    def block(self) -> list[Tree]:
        found: list[Tree] = []
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise self.wrong("chunk has too many syntax levels")
        while not self.is_next(*BLOCK_ENDS):
            if self.take(";"):
                continue
            last = self.is_next("return", "break")
            found.append(self.statement())
            if last:
                self.take(";")
                break
        self._depth -= 1
        return found

    def statement(self) -> Tree:
        line = self.token.line
        word = self.take(
            "local", "do", "while", "repeat", "if", "for", "function", "return", "break"
        )
        if word is None:
            return self.run_or_assign(line)
        if word == "break":
            return ("break",)
        return getattr(self, f"_{word}")(line)  # type: ignore[no-any-return]

    def _local(self, line: int) -> Tree:
        if self.take("function"):
            name = self.name()
            return ("local_function", name, self.body(line))
        names = self.names()
        return ("local", names, self.expressions() if self.take("=") else [])

    def _do(self, line: int) -> Tree:
        block = self.block()
        self.need("end")
        return ("do", block)

    def _while(self, line: int) -> Tree:
        condition = self.expression()
        self.need("do")
        return ("while", condition, self._do(line)[1])

    def _repeat(self, line: int) -> Tree:
        block = self.block()
        self.need("until")
        return ("repeat", block, self.expression())

    def _if(self, line: int) -> Tree:
        arms: list[tuple[Tree, list[Tree]]] = []
        word: str | None = "if"
        while word != "else" and word != "end":
            condition = self.expression()
            self.need("then")
            arms.append((condition, self.block()))
            word = self.take("elseif", "else", "end")
            if word is None:
                raise self.wrong("'end' expected")
        otherwise: list[Tree] = []
        if word == "else":
            otherwise = self.block()
            self.need("end")
        return ("if", arms, otherwise)

    def _for(self, line: int) -> Tree:
        names = self.names()
        if len(names) == 1 and self.take("="):
            values = self.expressions()
            self.need("do")
            return ("for", names[0], values, self._do(line)[1], line)
        self.need("in")
        values = self.expressions()
        self.need("do")
        return ("each", names, values, self._do(line)[1], line)

    def _function(self, line: int) -> Tree:
        target: Tree = ("name", self.name(), line)
        while self.take("."):
            target = ("index", target, ("constant", self.name().encode()), line)
        return ("assign", [target], [self.body(line)], line)

    def _return(self, line: int) -> Tree:
        empty = self.is_next(*BLOCK_ENDS, ";")
        return ("return", [] if empty else self.expressions())

    def run_or_assign(self, line: int) -> Tree:
        first = self.suffixed()
        if first[0] in {"call", "method"}:
            return ("run", first)
        targets = [first]
        while self.take(","):
            targets.append(self.suffixed())
        if any(each[0] not in {"name", "index"} for each in targets):
            raise self.wrong("syntax error")
        self.need("=")
        return ("assign", targets, self.expressions(), line)

    # -- expressions -------------------------------------------------------------------------

    def expressions(self) -> list[Tree]:
        found = [self.expression()]
        while self.take(","):
            found.append(self.expression())
        return found

    def expression(self, limit: int = 0) -> Tree:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise self.wrong("chunk has too many syntax levels")
        line = self.token.line
        if word := self.take("not", "-", "#"):
            left: Tree = ("unary", word, self.expression(UNARY), line)
        else:
            left = self.simple()
        while self.is_next(*BINARY) and BINARY[str(self.token.value)][0] > limit:
            line, word = self.token.line, str(self.token.value)
            self._at += 1
            right = self.expression(BINARY[word][1])
            left = (
                (word, left, right)
                if word in {"and", "or"}
                else ("binary", word, left, right, line)
            )
        self._depth -= 1
        return left

    def simple(self) -> Tree:
        token = self.token
        if token.kind in {"number", "string"}:
            self._at += 1
            return ("constant", token.value)
        if word := self.take("nil", "true", "false"):
            return ("constant", CONSTANTS[word])
        if self.take("..."):
            return ("varargs",)
        if self.take("function"):
            return self.body(token.line)
        if self.is_next("{"):
            return self.table()
        return self.suffixed()

    def suffixed(self) -> Tree:
        """A name or a parenthesis, with indexes and calls behind it."""
        if self.take("("):
            left: Tree = ("one", self.expression())
            self.need(")")
        elif self.token.kind != "name":
            raise self.wrong("unexpected symbol")
        else:
            left = ("name", self.name(), self._tokens[self._at - 1].line)
        while True:
            line = self.token.line
            if self.take("."):
                left = ("index", left, ("constant", self.name().encode()), line)
            elif self.take("["):
                left = ("index", left, self.expression(), line)
                self.need("]")
            elif self.take(":"):
                left = ("method", left, self.name().encode(), self.arguments(), line)
            elif self.is_next("(", "{") or self.token.kind == "string":
                left = ("call", left, self.arguments(), line)
            else:
                return left

    def arguments(self) -> list[Tree]:
        if self.token.kind == "string" or self.is_next("{"):
            return [self.simple()]
        self.need("(")
        found = [] if self.is_next(")") else self.expressions()
        self.need(")")
        return found

    def body(self, line: int) -> Tree:
        self.need("(")
        names: list[str] = []
        while not self.is_next(")", "..."):
            names.append(self.name())
            if not self.take(","):
                break
        varargs = self.take("...") is not None
        self.need(")")
        return ("function", names, varargs, self._do(line)[1])

    def table(self) -> Tree:
        line = self.token.line
        self.need("{")
        items: list[tuple[Tree | None, Tree]] = []
        while not self.is_next("}"):
            following = self._tokens[self._at + 1]
            if self.take("["):
                key: Tree | None = self.expression()
                self.need("]")
                self.need("=")
            elif self.token.kind == "name" and following.value == "=":
                key = ("constant", self.name().encode())
                self.need("=")
            else:
                key = None
            items.append((key, self.expression()))
            if not self.take(",", ";"):
                break
        self.need("}")
        return ("table", items, line)
