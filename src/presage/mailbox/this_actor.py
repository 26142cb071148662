"""What a process says of itself: `this_actor.sleep_for(1)`."""

from __future__ import annotations

from typing import NoReturn

from presage.mailbox import asking
from presage.mailbox.asking import say
from presage.process.context import blocking, current, sleep
from presage.process.ops import Exit


def sleep_for(seconds: float) -> None:
    """Let time pass."""
    blocking(sleep(seconds))


def sleep_until(moment: float) -> None:
    """Let time pass until the process's own clock says `moment`."""
    blocking(asking.sleep_until(moment))


def execute(flops: float) -> None:
    """Compute; how long that takes depends on the host of a simulation."""
    blocking(sleep(0.0, flops))


def yield_() -> None:
    """Let others go on."""
    blocking(sleep(0.0))


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
