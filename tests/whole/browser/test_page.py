"""The page in a browser: what it says, where things are, what keys and clicks do."""

import json

import pytest
from whole.browser.building import hunted, made_up, write
from whole.browser.waiting import wait_until

from presage.execution.frames import frames
from presage.trace.diff import same
from presage.ui.page.data import page_data

STATES = "i => JSON.stringify(presage.stateAt(presage.data.main, i))"
GEOMETRY = """() => {
  const box = element => element.getBoundingClientRect();
  const rows = [...document.querySelectorAll('#step- .row[data-step]')].map(row => ({
    step: +row.dataset.step, y: box(row.querySelector('.hit')).y,
    right: box([...row.querySelectorAll('text')].at(-1)).right,
  }));
  const lanes = [...document.querySelectorAll('.heads text.lane')].map(text => {
    const {x, width} = box(text); return x + width / 2;
  });
  const arrows = [...document.querySelectorAll('.arrow[data-fate=delivered] path')].map(path => {
    const d = path.getAttribute('d').match(/-?[\\d.]+/g).map(Number);
    const left = box(document.getElementById('step-')).x;
    return [d[0] + left, d.at(-2) + left];
  });
  const svg = box(document.getElementById('step-'));
  return {rows, lanes, arrows, right: svg.right};
}"""


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    told = made_up(40, notes=((3, "look here"),))
    return write(
        tmp_path_factory.mktemp("small") / "small.html", page_data(told, command="presage")
    )


def test_its_structure_reads_well_without_eyes(opened, small):
    page = opened(small).page
    told = page.locator("#step-").aria_snapshot()
    assert told.splitlines()[0] == '- listbox "space-time diagram":'
    assert 'option "step 0: initial state"\': 0 initial state' in told
    [selected] = [line for line in told.splitlines() if "[selected]" in line]
    assert 'option "step 20: n0 deliver Join(n=15) n1 -> n0, critical transition"' in selected
    assert ', has a note"' in told
    side = page.locator("#side").aria_snapshot()
    assert 'heading "step 20 of 40, the critical transition" [level=2]' in side
    assert 'button "all_joined fails"' in side
    assert 'textbox "filter log"' in side
    tools = page.locator("#tools").aria_snapshot()
    assert 'toolbar "view"' in tools and 'button "causal rows"' in tools


@pytest.mark.parametrize("which", ["small", "transport", "tree"])
def test_arrows_join_lanes_and_rows_go_down(opened, request, which):
    page = opened(request.getfixturevalue(which))
    page.page.get_by_role("button", name="unfold all").click()
    told = page.page.evaluate(GEOMETRY)
    steps = [row["step"] for row in told["rows"]]
    assert steps == sorted(steps) and len(steps) == len(set(steps))
    heights = [row["y"] for row in told["rows"]]
    assert heights == sorted(heights) and len(set(heights)) == len(heights)
    assert all(row["right"] <= told["right"] for row in told["rows"])
    assert told["arrows"]
    for start, end in told["arrows"]:
        assert min(abs(start - lane) for lane in told["lanes"]) < 2
        assert min(abs(end - lane) for lane in told["lanes"]) < 10  # the tip stops before the sign


def test_keys_move_and_the_address_follows(opened, small):
    page = opened(small)
    page.press("j")
    assert page.selected == 21 and page.page.url.endswith("#step=21")
    page.press("k", "k", "k")
    assert page.selected == 18
    page.press("c")
    assert page.selected == 20
    node = page.page.evaluate("presage.data.main.steps[20].node")
    page.press(".")
    after = page.selected
    assert after > 20
    assert page.page.evaluate(f"presage.data.main.steps[{after}].node") == node
    page.press(",")
    assert page.selected == 20
    page.press("Home")
    assert page.selected == 0
    page.press("k")
    assert page.selected == 0
    page.press("End", "j")
    assert page.selected == 40
    page.press("?")
    assert page.page.get_by_role("dialog").is_visible()
    page.press("Escape")
    assert not page.page.get_by_role("dialog").is_visible()


def test_an_address_leads_to_a_step_and_a_node(opened, small):
    page = opened(small, "#step=7&node=n2")
    assert page.selected == 7
    assert page.page.locator(".heads text.lane").first.text_content().startswith("▸n2")
    page.press("p")
    assert page.page.url.endswith("#step=7")
    page.page.evaluate("location.hash = '#step=12'")
    wait_until(page.page, "presage.view.step === 12")
    assert page.selected == 12
    assert opened(small, "#step=999&node=nobody").selected == 40
    assert opened(small, "#step=x").selected == 20


def test_the_log_is_filtered_and_a_wrong_expression_is_said_to_be_one(opened, small):
    page = opened(small)
    page.press("/")
    page.page.keyboard.type("join 1[0-3]")
    assert page.page.locator("#log").inner_text().split("\n")[0].split()[0] == "10"
    assert page.page.locator("#log").inner_text().count("\n") == 3
    page.page.keyboard.type("[")
    assert "not a regular expression" in page.page.locator("#wrong").inner_text()
    assert page.page.locator("#filter").get_attribute("aria-invalid") == "true"
    page.press("Escape", "j")
    assert page.selected == 21


def test_a_property_says_why_and_a_field_who_wrote_it(opened, transport):
    page = opened(transport)
    page.page.get_by_role("button", name="all_acked fails").click()
    assert "not acknowledged" in page.page.locator("#said").inner_text()
    page.page.locator("#state tr.leaf").first.click()
    told = page.page.locator("#blame").inner_text()
    assert "was last written at step" in told
    step = page.page.evaluate("presage.view.blamed.step")
    assert page.page.locator(f"#step-{step}").evaluate("row => row.classList.contains('past')")
    page.page.locator("#blame button").click()
    assert page.selected == step


def test_the_state_is_compared_with_the_step_before_or_the_live_path(opened, transport):
    page = opened(transport).page
    against_live = page.locator("#state").inner_text()
    assert "≠" in against_live and "→" not in against_live
    page.get_by_role("button", name="vs previous step").click()
    before = page.locator("#state").inner_text()
    assert "→" in before and "≠" not in before
    unchanged = page.locator("#unchanged").inner_text()
    assert unchanged.startswith("show ") and unchanged.endswith(" unchanged fields")
    count = page.locator("#state tr.leaf").count()
    page.locator("#unchanged").click()
    assert page.locator("#state tr.leaf").count() == count + int(unchanged.split()[1])


def test_folds_hide_steps_and_say_how_many(opened, transport):
    page = opened(transport)
    folds = page.page.evaluate("presage.data.main.folds")
    assert page.page.locator(".row.fold").count() == len(folds) > 0
    fold = folds[-1]
    label = f"steps {fold['first']} to {fold['last']} folded: {fold['text']}"
    hidden = page.page.get_by_role("option", name=label)
    assert page.page.locator(f"#step-{fold['first']}").count() == 0
    hidden.click()
    assert page.selected == fold["first"]
    page.press("[")
    assert page.selected < fold["first"] and hidden.count() == 1
    page.press("]")
    page.page.get_by_role("button", name="unfold all").click()
    assert page.page.locator(".row.fold").count() == 0
    page.press("j")
    page.page.get_by_role("button", name="fold all", exact=True).click()
    assert page.page.locator(".row.fold").count() == len(folds)
    page.press("End")
    assert page.selected == fold["last"]


def test_a_loop_says_where_it_begins_and_folds_as_one(opened, tmp_path):
    told = made_up(40, loop=31, critical=None)
    page = opened(write(tmp_path / "loop.html", page_data(told)))
    assert page.selected == 31
    assert page.page.locator("#step-31").get_attribute("aria-label").endswith("repeats from here")
    page.press("[")
    assert page.page.get_by_role("option", name="10 steps that repeat for ever").count() == 1
    assert page.selected == 30


def test_two_traces_stand_side_by_side_and_part_at_the_same_height(opened, tree):
    page = opened(tree).page
    page.get_by_role("button", name="side by side: nearest live path").click()
    assert page.locator("#other-").get_attribute("role") == "listbox"
    heights = page.evaluate("""() => ['step-', 'other-'].map(id => {
      const row = document.getElementById(id + presage.data.others[0].from);
      return row.querySelector('.hit').getBoundingClientRect().y;
    })""")
    assert heights[0] == heights[1]
    assert page.locator(".parting").count() == 2
    page.get_by_role("button", name="side by side").click()
    assert page.locator("#other-").count() == 0


def test_causal_rows_put_every_step_below_its_causes(opened, tree):
    page = opened(tree)
    page.page.get_by_role("button", name="causal rows").click()
    wrong = page.page.evaluate("""() => {
      const y = step => document.getElementById(`step-${step}`).getBoundingClientRect().y;
      const {steps} = presage.data.main;
      return steps.filter(step => step.causes.some(cause => y(cause) >= y(step.i))).length;
    }""")
    assert wrong == 0
    page.press("h")
    past = page.page.locator(".row.past").count()
    assert 1 < past < page.page.evaluate("presage.data.main.steps.length")


def test_the_page_makes_the_states_that_python_made(opened, tmp_path):
    system, violation = hunted("randtree", "RT-init", seed=1)
    scenes = frames(system, violation.trace)
    path = write(tmp_path / "t.html", page_data((violation.trace, scenes)))
    page = opened(path).page
    for scene in scenes[:: max(1, len(scenes) // 60)]:
        assert same(json.loads(page.evaluate(STATES, scene.index)), as_lists(scene.state))


def as_lists(value):
    """A state as JavaScript writes it down: lists and tuples look the same there."""
    if isinstance(value, dict):
        return {name: as_lists(each) for name, each in value.items()}
    return list(map(as_lists, value)) if isinstance(value, list | tuple) else value
