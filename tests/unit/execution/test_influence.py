"""What steps of processes follow, and pages of processes that come and go."""

from presage import Process, Program, check
from presage.execution.frames import frames
from presage.mailbox import Actor, Mailbox
from presage.ui.page.data import page_data


def child():
    Mailbox.by_name("in").put("hello")


def parent():
    actor = Actor.create("child", None, child)
    Mailbox.by_name("in").get()
    actor.join()
    raise ValueError("over")


def found():
    program = Program({"parent": Process(parent)})
    [violation] = check(program, traces=None).violations
    return program, violation.trace


def test_a_step_follows_whoever_made_it_possible():
    _, trace = found()
    at = {(step.node, step.kind): step.index for step in trace.steps}
    follows = {(step.node, step.kind): step.follows for step in trace.steps}
    assert at["parent", "create"] in follows["child", "send"]
    assert at["child", "send"] in follows["parent", "receive"]
    assert at["parent", "recv"] in follows["child", "wait"]
    assert (
        max(index for (node, _), index in at.items() if node == "child")
        in (follows["parent", "join"])
    )


def test_who_is_created_later_is_down_until_then_on_the_page():
    program, trace = found()
    story = page_data((trace, frames(program, trace)))["main"]
    assert story["nodes"] == ["parent", "child"]
    made = next(step.index for step in trace.steps if step.kind == "create")
    assert ["child", 0, made] in story["down"]
