"""The steps of processes in words: what was sent where, who waits for what.

A library that makes its own calls of the operations says what its messages hold and whom they are
for; without one, mailboxes are named.
"""

from __future__ import annotations

from typing import Any

from presage.process import ops
from presage.process.ops import Op
from presage.process.program import Program
from presage.process.world import DIES, Post, ProcessWorld, Taken
from presage.trace.show import show

LOCKS = ("mutex", "semaphore", "barrier", "condition")  # as their mailboxes are called


class Words:
    def __init__(self, program: Program) -> None:
        self._wording = program.wording

    def message(self, payload: Any) -> str:
        if self._wording is None:
            return show(payload)
        word, values = self._wording.content(payload)
        return " ".join([*([word] if word else []), *map(show, values)])

    def to(self, op: ops.Send) -> str:
        return f"`{op.mailbox}`" if self._wording is None else self._wording.to(op)

    def source(self, op: ops.Recv | ops.Probe) -> str:
        return f"at `{op.mailbox}`" if self._wording is None else self._wording.source(op)

    def posted(self, op: ops.Send | ops.Recv) -> str:
        """An offer or a request that somebody has made."""
        if isinstance(op, ops.Send):
            return f"send {self.message(op.payload)} to {self.to(op)}"
        return f"receive {self.source(op)}"

    def step(self, taken: Taken) -> tuple[str, str, str, str | None]:
        """Kind, label, detail and source of a step."""
        op = taken.op
        if isinstance(op, ops.WaitAny | ops.TestAny):
            return self._waited(op, taken)
        label = "" if isinstance(op, str) else self._label(op, taken)
        kind = DIES if isinstance(op, str) else type(op).__name__.lower()
        return kind, label or kind, "", None

    def who_waits(self, world: ProcessWorld) -> str:
        """What everybody who cannot go on waits for."""
        if self._wording is not None:
            return self._wording.who_waits(world)
        text = [
            f"{name} waits {self.waits(world, name)}"
            for name, member in world.members.items()
            if not member.ended and not member.daemon
        ]
        return "; ".join(text)

    def waits(self, world: ProcessWorld, name: str) -> str:
        member = world.members[name]
        match member.live.at:
            case ops.WaitAny(slots=slots):
                return " or ".join(self._for(member.posts[slot].op) for slot in slots)
            case ops.Probe() as op:
                return f"for an offer {self.source(op)}"
            case ops.Join(name=other):
                return f"for the end of {other}"
        return "for nothing that can happen"

    def unmatched(self, left: list[Post]) -> str:
        """What nobody received, and who got nothing."""
        if self._wording is not None:
            return self._wording.unmatched(left)
        return "; ".join(map(self._left, left))

    def _left(self, post: Post) -> str:
        if isinstance(post.op, ops.Send):
            text = f"{self.message(post.op.payload)} to {self.to(post.op)}"
            return f"`{post.owner}` sent {text}: never received"
        return f"`{post.owner}` asked for a message {self.source(post.op)}: never met"

    def _for(self, op: ops.Send | ops.Recv) -> str:
        if isinstance(op, ops.Send):
            return f"for {self.message(op.payload)} to be taken, which went to {self.to(op)}"
        kind, _, name = op.mailbox.partition(" ")
        if self._wording is None and kind in LOCKS:
            return f"for the {kind} `{name}`"
        return f"for a message {self.source(op)}"

    def _waited(
        self, op: ops.WaitAny | ops.TestAny, taken: Taken
    ) -> tuple[str, str, str, str | None]:
        if taken.response.choice == ops.NONE:
            if isinstance(op, ops.WaitAny):
                return "timeout", "timeout", "", None
            return "test", "nothing yet", "", None
        post = taken.got[0]
        if post.got is not None:
            payload, source = self.message(taken.response.payload), post.got.owner
            return "receive", f"{payload} {source} -> {taken.process}", payload, source
        assert isinstance(post.op, ops.Send), post
        kind = "wait" if isinstance(op, ops.WaitAny) else "test"
        return kind, f"{self.message(post.op.payload)} is with {self.to(post.op)}", "", None

    def _picked(self, op: ops.Pick, channel: int) -> str:
        if channel == ops.NONE:
            return "nothing yet" if op.polls else "nothing is going to come"
        chosen = ops.Recv(op.mailbox, (channel, op.want[1]))
        return f"the next is {self.source(chosen)}"

    def _label(self, op: Op, taken: Taken) -> str:
        match op:
            case ops.Send():
                return f"{self.message(op.payload)} to {self.to(op)}"
            case ops.Recv():
                return self.source(op)
            case ops.Probe():
                found = "something" if taken.response.choice else "nothing"
                return f"{self.source(op)}: {found} there"
            case ops.Cancel():
                return "withdrawn" if taken.response.choice else "too late"
            case ops.Pick():
                return self._picked(op, taken.response.choice)
            case ops.Poll():
                if taken.response.choice == ops.NONE:
                    return "nothing yet"
                return "complete" if op.n == 1 else f"{taken.response.choice} of {op.n} is complete"
            case ops.Switch():
                return op.names[taken.response.choice]
            case ops.Choose():
                return f"{taken.response.choice} of {op.n}"
            case ops.Sleep():
                return f"{op.seconds:g} s" if op.seconds else ""
            case ops.Create() | ops.Join() | ops.Kill():
                return op.name
            case ops.Publish():
                return f"{op.field} = {show(op.value)}"
        return ""
