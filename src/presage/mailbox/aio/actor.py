"""Other processes, for coroutines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from presage.mailbox import asking
from presage.mailbox.asking import Handle
from presage.process.context import awaiting, current


class Actor(Handle):
    """A process, by its name."""

    @classmethod
    async def create(
        cls, name: str, host: str | None, body: Callable[..., Any], *args: Any
    ) -> Actor:
        """Start a process; no other may have its name. `host`: where it runs in a simulation."""
        return await cls.init(name, host).start(body, *args)

    @classmethod
    def init(cls, name: str, host: str | None = None) -> Actor:
        """A process to be started, for instance after `daemonize`."""
        actor = cls(name)
        actor._plan = (host, False)
        return actor

    async def start(self, body: Callable[..., Any], *args: Any) -> Actor:
        """Start what `init` gave: a plain function or an `async def`, and its arguments."""
        host, daemon = self._take_plan()
        await awaiting(asking.create(self.name, host, body, args, daemon))
        return self

    def daemonize(self) -> Actor:
        """What is started by this will not be waited for at the end."""
        host, _ = self._take_plan()
        self._plan = (host, True)
        return self

    @classmethod
    def by_name(cls, name: str) -> Actor:
        """The process of that name."""
        return cls(name)

    @classmethod
    def self(cls) -> Actor:
        """The process that asks."""
        return cls(current().name)

    async def join(self) -> None:
        """Wait until it has ended."""
        await awaiting(asking.join(self.name))

    async def kill(self) -> None:
        """End it, wherever it is."""
        await awaiting(asking.kill(self.name))
