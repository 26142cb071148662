"""What answers a process that is run again: the responses it got before, without ever stopping.

This runs for every operation of every run, so it is written to be fast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from presage.process.context import running
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
        "left",
        "passed",
        "script",
        "stop",
        "watched",
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
        self.script = script
        self._expected = expected
        self._ahead = ahead
        self.left = len(script)
        self.watched = len(expected) + 1 if expected else 2  # of the last answers, and one more
        self.passed: list[Asked] = []
        self.stop: Callable[[Op], Response | None] = self.no_answer

    def ask(self, op: Op) -> Response | None:
        """The answer to an operation; None from a coroutine, where it has to stop."""
        left = self.left
        if left:
            self.left = left - 1
            if left < self.watched:
                self._watch(op, left)
            return self.script[-left]
        if type(op) not in PASSED_BY or not self._goes_on():
            return self.stop(op)
        # Here and now, because what is sent may be changed before the process stops.
        self.passed.append(self._encode(op))
        return SILENT

    def meet(self, op: Op, wait: Op) -> Response:
        """The answer to the wait for a post: `ask` for one and the other, faster."""
        if self.left or not self._goes_on():
            self.ask(op)
            return self.ask(wait)  # type: ignore[return-value]
        self.passed.append(self._encode(op))
        return self.stop(wait)  # type: ignore[return-value]

    def _goes_on(self) -> bool:
        """Whether an operation that tells the process nothing is passed by."""
        return self._ahead and len(self.passed) < AHEAD_MAX and running.stack[-1].mark is None

    def _watch(self, op: Op, left: int) -> None:
        if left <= len(self._expected):
            self._expect(op, self._expected[-left])
        if left == 1:  # what it said before it was told this does not hold any more
            running.stack[-1].mark = None

    @staticmethod
    def no_answer(op: Op) -> None:
        """How coroutines stop: whoever runs them sees that there is no answer."""
