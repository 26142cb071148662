"""Actors, and what a process says of itself."""

import pytest
from process.explore import explore
from process.running import first_failure, program, returned

from presage import PresageError, check
from presage.mailbox import Actor, Mailbox, choose, publish, this_actor
from presage.process.fence import Fence
from presage.process.world import ProcessWorld

box = Mailbox.by_name("box")


def test_an_actor_is_created_with_its_arguments_and_joined():
    def child(a, b):
        box.put_init(a + b).detach()

    def main():
        Actor.create("child", "host", child, 1, 2).join()
        return box.get()

    assert returned(a=main) == {(3, None)}


def test_a_plain_function_can_create_a_coroutine():
    async def child():
        from presage.mailbox import aio

        await aio.Mailbox.by_name("box").put("hello")

    def main():
        Actor.create("child", None, child)
        return box.get()

    assert returned(a=main) == {("hello", None)}


def test_processes_share_no_arguments():
    def child(items):
        items.append(2)
        return tuple(items)

    def main():
        items = [1]
        actor = Actor.create("child", None, child, items)
        items.append(3)
        actor.join()
        return tuple(items)

    assert returned(a=main) == {((1, 3), (1, 2))}


def test_a_killed_actor_is_gone():
    def child():
        box.get()

    def main():
        actor = Actor.create("child", None, child)
        actor.kill()
        actor.join()
        return "done"

    assert {result[0] for result in returned(a=main)} == {"done"}


def test_what_a_killed_actor_offered_is_withdrawn():
    def child():
        box.put(1)

    def main():
        Actor.create("child", None, child).kill()
        box.get(timeout=None)

    assert ("a",) in explore(program({"a": main})).deadlocks


def test_actors_are_found_by_name_and_equal():
    def main():
        Actor.create("child", None, lambda: None)
        Actor.by_name("child").join()
        return Actor.by_name("child") == Actor("child"), Actor.self().name

    assert returned(a=main) == {((True, "a"), None)}


def test_a_daemon_is_not_waited_for():
    def main():
        Actor.init("daemon").daemonize().start(lambda: box.get())
        return "over"

    assert returned(a=main) == {("over", None)}


def test_what_was_started_cannot_be_planned():
    def main():
        Actor.create("child", None, lambda: None).daemonize()

    assert "plans how to start `child`, which was started" in first_failure(a=main)


def test_an_unknown_actor_is_named():
    with pytest.raises(PresageError, match="there is no process `nobody`"):
        returned(a=lambda: Actor.by_name("nobody").join())
    with pytest.raises(PresageError, match="there is no process `nobody`"):
        check(program({"a": lambda: Actor.by_name("nobody").kill()}))


def test_two_actors_of_one_name_are_refused():
    def main():
        for _ in range(2):
            Actor.create("twin", None, lambda: None)

    with pytest.raises(PresageError, match="`twin`"):
        returned(a=main)
    with pytest.raises(PresageError, match="`twin`"):
        check(program({"a": main}))


def test_an_actor_ends_itself_from_anywhere():
    def deeper():
        this_actor.exit()

    def main():
        deeper()
        raise AssertionError("not reached")

    assert returned(a=main) == {(None,)}


def test_sleeping_moves_the_own_clock():
    import time

    def main():
        start = time.time()
        this_actor.sleep_for(5)
        this_actor.sleep_until(7)
        this_actor.sleep_until(3)
        this_actor.execute(1e9)
        this_actor.yield_()
        return time.time() - start

    assert returned(a=main) == {(7.0,)}


def test_what_is_said_is_kept_for_the_trace():
    def main():
        this_actor.info("one")
        this_actor.debug("two")
        this_actor.warning("three")
        this_actor.error(f"four in {this_actor.get_name()}")
        this_actor.yield_()

    with Fence():
        world = ProcessWorld(program({"a": main}))
    assert world.opening["a"] == ("one", "debug: two", "warning: three", "error: four in a")


def test_choose_tries_each():
    assert returned(a=lambda: choose(3)) == {(0,), (1,), (2,)}
    assert returned(a=lambda: choose(["x", "y"])) == {("x",), ("y",)}
    with pytest.raises(PresageError, match="nothing to choose from"):
        returned(a=lambda: choose(0))


def test_properties_see_what_is_published():
    from presage import Program, always

    @always
    def small(world):
        return (world["a"].level or 0) < 2

    def climbs():
        for level in range(3):
            publish(level=level, name="a")

    assert [v.prop for v in check(Program({"a": climbs}, properties=[small])).violations] == [
        "small"
    ]
