"""A barber who sleeps until a customer wakes him, and a waiting room with few chairs.

After `barber_shop_*` of the McMini programs in SimGrid's tests.
"""

from __future__ import annotations

from presage import Process, Program
from presage.mailbox import Actor, Mailbox, Semaphore


def customer(room: Semaphore, chair: Semaphore, belt: Semaphore) -> None:
    """Waits for the barber's chair, wakes him, and leaves when he is done."""
    room.acquire()
    chair.acquire()
    room.release()
    Mailbox.by_name("pillow").put_init("customer").detach()
    belt.acquire()
    chair.release()


def barber(belt: Semaphore, forgets: bool) -> None:
    """Sleeps until somebody comes, and goes home when the shop is closed."""
    while Mailbox.by_name("pillow").get() == "customer":
        if not forgets:
            belt.release()


def main(customers: int, chairs: int, forgets: bool) -> None:
    """Opens the shop, and closes it when all customers have left."""
    room, chair, belt = Semaphore(chairs, "room"), Semaphore(1, "chair"), Semaphore(0, "belt")
    worker = Actor.create("barber", None, barber, belt, forgets)
    actors = [
        Actor.create(f"customer {n}", None, customer, room, chair, belt)
        for n in range(1, customers + 1)
    ]
    for actor in actors:
        actor.join()
    Mailbox.by_name("pillow").put_init("closed").detach()
    worker.join()


def program(*, customers: int = 2, chairs: int = 1, forgets: bool = False) -> Program:
    """A main process, which creates the barber and the customers.

    customers: how many.
    chairs: how many fit into the waiting room.
    forgets: the barber never unfastens the belt.
    """
    return Program({"main": Process(main, customers, chairs, forgets)}, name="barber_shop")
