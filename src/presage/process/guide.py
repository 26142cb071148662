"""What answers a process that is run again: the responses it got before, without ever stopping.

This runs for every operation of every run, so it is written to be fast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from presage.process.context import current
from presage.process.ops import Op, Publish, Recv, Response, Send, Sleep

Asked = tuple[int, tuple[int, ...]]  # what is asked, in numbers: code, arguments

AHEAD_MAX = 100  # operations passed by in a row
PASSED_BY = frozenset({Send, Recv, Sleep, Publish})  # what is answered tells a process nothing
SILENT = Response()


class ScriptedReplies:
    """Answers the operations of one run on the spot, as long as the answer is known.

    First come the responses of a `script`; the operations that its last ones answer have to be the
    `expected` ones. Then, if it looks `ahead`, operations that tell the process nothing are
    `passed` by. Whatever else is asked, `stop` answers.
    """

    __slots__ = (
        "_ahead",
        "_encode",
        "_expect",
        "_expected",
        "_left",
        "_script",
        "_watched",
        "passed",
        "stop",
    )

    def __init__(
        self,
        encode: Callable[[Op], Asked],
        expect: Callable[[Op, Asked], None],
        script: Sequence[Response] = (),
        expected: Sequence[Asked] = (),
        *,
        ahead: bool = True,
    ) -> None:
        self._encode = encode
        self._expect = expect  # raises if the operation is another
        self._script = script
        self._expected = expected
        self._ahead = ahead
        self._left = len(script)
        self._watched = max(1, len(expected))  # so many of the last responses
        self.passed: list[Asked] = []
        self.stop: Callable[[Op], Response | None] = self.no_answer

    def ask(self, op: Op) -> Response | None:
        """The answer to an operation; None from a coroutine, where it has to stop."""
        left = self._left
        if left:
            self._left = left - 1
            if left <= self._watched:
                self._watch(op, left)
            return self._script[-left]
        if (
            type(op) not in PASSED_BY
            or not self._ahead
            or len(self.passed) >= AHEAD_MAX
            or current().mark is not None
        ):
            return self.stop(op)
        # Here and now, because what is sent may be changed before the process stops.
        self.passed.append(self._encode(op))
        return SILENT

    def replay(self) -> Response | None:
        """What a post and the wait for it were answered; None where somebody wants to see them."""
        left = self._left
        if left <= self._watched + 1:
            return None
        self._left = left - 2
        return self._script[1 - left]  # only the second tells something

    def meet(self, op: Op, wait: Op) -> Response:
        """The answers to a post and the wait for it that `replay` does not give."""
        self.ask(op)
        return self.ask(wait)  # type: ignore[return-value]

    def _watch(self, op: Op, left: int) -> None:
        if left <= len(self._expected):
            self._expect(op, self._expected[-left])
        if left == 1:
            current().mark = None  # what it said before it was told this does not hold any more

    @staticmethod
    def no_answer(op: Op) -> None:
        """How coroutines stop: whoever runs them sees that there is no answer."""
