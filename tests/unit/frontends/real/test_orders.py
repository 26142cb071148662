"""Order in views: a program never sees it, so only what is asked about them may depend on it."""

from presage import always, check, step
from presage.real import Node, RealSystem, here

STEPS = 300  # more than are run twice to see whether they do the same


async def count():
    import asyncio
    import random

    table = {"x": 0, "y": random.randrange(STEPS)}
    here.expose(table=table)
    await asyncio.sleep(1)
    table["y"] += 1


def view(node):
    return {"table": dict(node.get("table", {}))}


def system(*properties):
    return RealSystem({"n": Node(count, view=view, random="branch")}, properties=properties)


def test_a_step_property_that_depends_on_an_order_is_named():
    @step
    def x_first(before, after):
        return next(iter(after.table), "x") == "x"

    (found,) = check(system(x_first), traces=None).orders
    assert found.code == "x_first"


def test_a_step_property_does_not_make_programs_run_in_a_second_order():
    @step
    def grows(before, after):
        return before.table["y"] <= after.table["y"]

    @always
    def is_there(world):
        return "y" in world["n"].table

    counts = []
    for prop in (grows, is_there):
        asked = system(prop)
        report = check(asked, traces=None)
        assert report.exhausted and not report.orders
        counts.append(asked.tips.replayed + asked.tips.boots)
    assert counts[0] == counts[1]
