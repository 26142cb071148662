"""A process that wants the event loop of asyncio is refused in one message, and no other."""

import pytest
from whole.commands.harness import refused, run, write

TEXT = """
    import asyncio
    from presage.mailbox import aio

    async def child(number):
        await aio.Mailbox.by_name("box").put(number)

    async def main():
        BODY  # HERE

    def system() -> Program:
        return Program({"main": main})
"""
CALLS = {
    "await asyncio.gather(child(1), child(2))": (3, "asyncio.gather"),
    "asyncio.run(child(1))": (3, "asyncio.run"),
    "asyncio.ensure_future(child(1))": (3, "asyncio.ensure_future"),
    "await asyncio.wait_for(child(1), 3)": (2, "asyncio.wait_for"),
    "asyncio.create_task(child(1))": (2, "asyncio.create_task"),
    "await asyncio.Queue().get()": (2, "asyncio.Queue.get"),
}


@pytest.mark.parametrize("body", CALLS)
def test_what_needs_an_event_loop_is_refused_and_nothing_else_is_said(body: str) -> None:
    place, (status, called) = write(TEXT.replace("BODY", body)), CALLS[body]
    ended = run("check", "bad.py", PYTHONWARNINGS="always")
    refused(ended, status, f"{place}: process `main` calls `{called}`")
    assert len(ended.stderr.splitlines()) == 3  # what, why, and the way out


def test_a_coroutine_that_a_process_forgets_to_await_is_still_told_by_python() -> None:
    write(TEXT.replace("BODY", "child(1)"))
    ended = run("check", "bad.py")
    assert ended.returncode == 0 and "was never awaited" in ended.stderr
