"""What a process says of itself: `this_actor.sleep_for(1)`."""

from __future__ import annotations

from typing import NoReturn

from presage.mailbox import asking
from presage.mailbox.asking import say
from presage.mailbox.forms import plain
from presage.process.context import current
from presage.process.ops import Exit

sleep_for = plain(asking.sleep_for)
sleep_until = plain(asking.sleep_until)
execute = plain(asking.execute)
yield_ = plain(asking.yield_)


def get_name() -> str:
    """The name of this process."""
    return current().name


def exit() -> NoReturn:
    """End this process in good order."""
    raise Exit


def debug(text: object) -> None:
    """Say something in the trace."""
    say("debug", text)


def info(text: object) -> None:
    """Say something in the trace."""
    say("", text)


def warning(text: object) -> None:
    """Say something in the trace."""
    say("warning", text)


def error(text: object) -> None:
    """Say something in the trace."""
    say("error", text)
