"""The memory that the threads share, and where each of them is."""

from __future__ import annotations

from presage import Service, action, state


class Counter(Service):
    """Shared memory and the place each thread has reached in its code."""

    threads: int
    locked: bool = False
    value: int = 0
    lock_held: bool = False
    next_step: list[str] = state(list)  # per thread: lock, read, write, release or done
    copies: list[int] = state(list)  # per thread: the value it read

    def start(self) -> None:
        self.next_step = ["lock" if self.locked else "read"] * self.threads
        self.copies = [0] * self.threads

    @action(
        over=lambda self: range(self.threads),
        when=lambda self, thread: self.next_step[thread] == "lock" and not self.lock_held,
    )
    def lock(self, thread: int) -> None:
        self.lock_held = True
        self.next_step[thread] = "read"

    @action(
        over=lambda self: range(self.threads),
        when=lambda self, thread: self.next_step[thread] == "read",
    )
    def read(self, thread: int) -> None:
        self.copies[thread] = self.value
        self.next_step[thread] = "write"

    @action(
        over=lambda self: range(self.threads),
        when=lambda self, thread: self.next_step[thread] == "write",
    )
    def write(self, thread: int) -> None:
        self.value = self.copies[thread] + 1
        self.next_step[thread] = "release" if self.locked else "done"

    @action(
        over=lambda self: range(self.threads),
        when=lambda self, thread: self.next_step[thread] == "release",
    )
    def release(self, thread: int) -> None:
        self.lock_held = False
        self.next_step[thread] = "done"
