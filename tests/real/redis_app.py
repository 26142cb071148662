"""A program that uses redis-py: it gives a command up after a second, and sends another one."""

import asyncio
from typing import Any

from presage.real import here


async def app(server: str, **options: Any) -> None:
    import redis.asyncio as redis

    answers: list[tuple[str, str]] = []
    here.expose(answers=answers)
    client = redis.Redis(host=server, decode_responses=True, **options)

    async def ask(text: str) -> None:
        answers.append((text, await client.echo(text)))

    try:
        await asyncio.wait_for(ask("one"), 1)
    except TimeoutError:
        pass
    await ask("two")
    await client.close()


def view(node: Any) -> dict[str, Any]:
    return {"answers": list(node.get("answers", ()))}
