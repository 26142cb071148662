"""The counter of `counter.py`, checked: one server, two clients, every order of their messages.

presage check check_counter.py:system
presage check check_counter.py:system --set deduplicate=false
presage check check_counter.py:system --set drop=1
"""

import asyncio

from presage import Faults, always
from presage.real import Node, RealSystem, here

INCREMENTS = 2


async def serve(deduplicate):
    import counter

    here.expose(server=await counter.serve(deduplicate))
    await asyncio.Event().wait()


async def count():
    import counter

    client = await counter.connect(here.address("server"), here.name)
    here.expose(client=client)
    for number in range(INCREMENTS):
        if not await client.increment(number):
            return


def counted(node):
    return {"count": node.get("server").count}


def acknowledged(node):
    return {"done": node.get("client").done}


@always
def counted_once(world):
    return world["server"].count <= 2 * INCREMENTS


@always
def nothing_lost(world):
    return world["server"].count >= world["alice"].done + world["bob"].done


def system(deduplicate: bool = True, drop: int = 0):
    clients = {name: Node(count, view=acknowledged) for name in ("alice", "bob")}
    return RealSystem(
        {"server": Node(serve, deduplicate, view=counted), **clients},
        faults=Faults(drop=drop),
        properties=[counted_once, nothing_lost],
    )
