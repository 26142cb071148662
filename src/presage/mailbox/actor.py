"""Other processes, for plain functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from presage.mailbox import asking
from presage.mailbox.asking import Handle
from presage.mailbox.forms import plain


class Actor(Handle):
    """A process, by its name."""

    start = plain(asking.start)
    join = plain(asking.join)
    kill = plain(asking.kill)

    @classmethod
    def create(cls, name: str, host: str | None, body: Callable[..., Any], *args: Any) -> Actor:
        """Start a process; no other may have its name. `host`: where it runs in a simulation."""
        return cls.init(name, host).start(body, *args)
