"""How a page looks: at every width, with what messages hold, nothing over anything else."""

import json
from dataclasses import dataclass

import pytest
from whole.browser.building import data_of, made_up, write
from whole.browser.waiting import wait_until

from presage import Service, System, always, check, on
from presage.systems import paxos, single_copy
from presage.ui.page.data import page_data

WIDTHS = [1400, 800, 390]


def resize(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    wait_until(page, "width => presage.view.width === width", width)


def broken(system):
    return data_of(system, check(system, traces=None).violations[0])


@pytest.fixture(scope="module")
def agreement(tmp_path_factory):
    """Paxos that forgets what it promised, with two clients."""
    data = broken(paxos.system(clients=2, bug="last_promise"))
    return write(tmp_path_factory.mktemp("paxos") / "paxos.html", data)


@pytest.fixture(scope="module")
def register(tmp_path_factory):
    """A register kept twice, which no order of its operations explains."""
    data = broken(single_copy.system(servers=2))
    return write(tmp_path_factory.mktemp("register") / "register.html", data)


@pytest.mark.parametrize("width", WIDTHS)
def test_everything_fits_beside_the_lanes_and_names_its_ends(opened, agreement, width, tmp_path):
    page = opened(agreement).page
    resize(page, width)
    page.screenshot(path=tmp_path / f"{width}.png")
    wide = page.evaluate("document.getElementById('chart').getBoundingClientRect().right")
    rows = page.locator("#step- .row[data-step]")
    seen = set()
    for at in range(1, rows.count()):
        text = rows.nth(at).locator("text").last
        # A line break of the row is none of the text.
        told = " ".join(text.locator("tspan").all_text_contents())
        step = page.evaluate(f"presage.data.main.steps[{at}]")
        assert told.endswith(step["label"].split(" ", 1)[1]) and "(" in told
        assert text.evaluate("text => text.getBoundingClientRect().right") <= wide
        seen.add(told)
    assert len(seen) == 10
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_many_lanes_on_a_small_screen_have_the_texts_below_their_signs(opened, tmp_path):
    told = made_up(20, "Append", tuple(f"server {at}" for at in range(9)))
    page = opened(write(tmp_path / "many.html", page_data(told))).page
    resize(page, 390)
    boxes = page.evaluate("""() => [...document.querySelectorAll('.row[data-step]')].map(row => {
      const sign = document.querySelector(`.sign[data-step="${row.dataset.step}"] > *`);
      const text = [...row.querySelectorAll('text')].at(-1).getBoundingClientRect();
      return [sign?.getBoundingClientRect().bottom ?? 0, text.top, text.right];
    })""")
    assert all(sign <= top + 3 and right <= 390 for sign, top, right in boxes)


def test_more_room_shows_more_of_a_message(opened, agreement):
    page = opened(agreement).page
    accept = page.locator("#step-4 text").last
    shown = []
    for width in (800, 1400, 2400):
        resize(page, width)
        shown.append(accept.locator("tspan").all_text_contents()[0])
    assert shown[0] == shown[1] == "Accept(ballot=(1, 's0'), proposal=Proposal(…)) s0 -> s1"
    assert "proposal=Proposal(request=0, client='c0', value='A')) s0 -> s1" in shown[2]


def test_messages_in_flight_end_before_the_next_lane(opened, agreement):
    page = opened(agreement).page
    ends = page.evaluate("""() => {
      const lanes = [...document.querySelectorAll('.heads text.lane')].map(text => {
        const {x, width} = text.getBoundingClientRect(); return x + width / 2;
      });
      return [...document.querySelectorAll('.arrow[data-fate="under way"] circle')].map(ring => {
        const {x, width} = ring.getBoundingClientRect();
        return Math.min(...lanes.map(lane => Math.abs(lane - x - width / 2)));
      });
    }""")
    assert len(ends) == 10 and min(ends) > 5
    assert "in flight" not in page.locator("#step-").text_content()


def test_properties_have_their_names_above_their_strips(opened, agreement):
    page = opened(agreement).page
    names = page.locator(".heads text.prop")
    assert [text.split("property")[0] for text in names.all_text_contents()] == [
        "one_value", "linearizable", "value_chosen", "no_exception",
    ]  # fmt: skip
    boxes = [names.nth(at).bounding_box() for at in range(names.count())]
    for left, right in zip(boxes, boxes[1:], strict=False):
        assert left["x"] + left["width"] <= right["x"] + 2
    head = page.locator(".heads").bounding_box()
    assert all(head["y"] <= box["y"] for box in boxes)


def test_all_nodes_now_has_every_field_of_every_node_as_python_writes_it(opened, agreement):
    page = opened(agreement).page
    told = page.locator("#nodes").inner_text()
    assert told.startswith("all nodes now: after step 10")
    cards = page.locator("#nodes .card")
    assert cards.count() == 6  # five nodes, and what is between them
    fields = page.locator('#nodes .card[aria-label="s1"] tr.field')
    shown = {json.loads(row.get_attribute("data-path"))[1]: row for row in fields.all()}
    state = page.evaluate("presage.stateAt(presage.data.main, 10).s1")
    assert set(shown) == set(state) - {""}
    cells = {name: row.locator("td").all_inner_texts() for name, row in shown.items()}
    assert cells["ballot"][2] == "(2, 's1')" and cells["decided"][2] == "True"
    assert cells["accepts"][2] == "{'s1', 's2'}"
    assert cells["proposal"][2] == "Proposal(request=2, client='c1', value='B')"
    assert [name for name, cell in cells.items() if cell[0]] == ["decided", "accepts"]
    between = page.locator('#nodes .card[aria-label="network"]').inner_text()
    assert "s1 -> c1 PutOk(request=2)" in between
    page.keyboard.press("Home")
    assert page.locator("#nodes").inner_text().startswith("all nodes now: after step 0")
    page.keyboard.press("a")
    assert page.locator("#nodes").count() == 0
    page.get_by_role("button", name="all nodes now").click()
    assert page.locator("#nodes").count() == 1


def test_a_step_shows_the_code_of_its_handler(opened, agreement):
    page = opened(agreement).page
    assert page.locator("#source").inner_text().startswith("presage/systems/paxos/service.py:")
    code = page.locator(".code").first
    assert code.locator(".here").inner_text().split(maxsplit=1)[1] == "@on(Accepted)"
    assert "def was_accepted" in code.inner_text()
    page.locator("details.source summary").first.click()
    page.keyboard.press("k")
    assert not page.locator(".code").first.is_visible()


def test_a_property_that_fails_shows_its_code(opened, agreement):
    page = opened(agreement).page
    claim = page.locator("#side details.source").nth(1)
    assert not claim.locator(".code").is_visible()
    claim.locator("summary").click()
    assert "def one_value(world" in claim.locator(".code").inner_text()


def test_operations_of_clients_are_drawn_from_call_to_answer(opened, register):
    page = opened(register)
    operations = page.page.locator(".history .operation")
    told = [each.get_attribute("aria-label") for each in operations.all()]
    assert told == [
        "Write(value='A') → None: called at step 0, answered at step 2",
        "Read() → None: called at step 2, answered at step 4",
        "Write(value='B'): called at step 0, not answered",
    ]
    boxes = [each.locator("rect").bounding_box() for each in operations.all()]
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"] + 3
    assert boxes[2]["x"] + boxes[2]["width"] > boxes[1]["x"] + boxes[1]["width"]
    assert abs(boxes[0]["y"] - boxes[1]["y"]) < 2 < boxes[2]["y"] - boxes[1]["y"]
    operations.nth(0).click()
    assert page.selected == 2
    page.page.get_by_role("button", name="history").click()
    assert page.page.locator(".history").count() == 0


def test_what_fades_fades_whole(opened, agreement):
    page = opened(agreement)
    page.page.get_by_role("button", name="causal past").click()
    past = page.page.evaluate("[...pastOf(presage.view.step)]")
    rows, signs, arrows = page.page.evaluate(FADED)
    away = [step for step in range(1, 11) if step not in past]
    assert [step for step, _ in rows] == [step for step, _ in signs] == away != []
    assert all({start, end} & set(away) for start, end in arrows) and arrows
    left = page.page.locator(".arrow:not(.away)").all()
    assert not {a.get_attribute("data-from") for a in left} & set(map(str, away))
    assert not {a.get_attribute("data-to") for a in left} & set(map(str, away))


def test_a_text_of_several_lines_has_several_lines(opened, tmp_path):
    told = made_up(10, message="first\nsecond", notes=((5, "one\ntwo"),))
    page = opened(write(tmp_path / "lines.html", page_data(told))).page
    assert page.locator("#why").inner_text().startswith("first\nsecond")
    assert page.locator("#side .note").inner_text() == "one\ntwo"


FADED = """() => ['.row[data-step]', '.sign', '.arrow'].map(kind => {
  const away = each => (each.querySelector(':scope > .away') ?? each).classList.contains('away');
  const ends = ({step, from, to}) => [+(step ?? from), +(to ?? -1)];
  return [...document.querySelectorAll(kind)].filter(away).map(each => ends(each.dataset));
})"""
HOSTILE = "</script><img src=x onerror='window.hacked = 1'>\u202e\x1b[31m"


@dataclass(frozen=True)
class Ask:
    text: str


class Asker(Service):
    said: str = ""
    seen: tuple[str, ...] = ()

    def start(self) -> None:
        self.send("b", Ask(HOSTILE))

    @on(Ask)
    def asked(self, ask: Ask) -> None:
        # A comment with markup: </script><img src=x onerror='window.hacked = 1'>
        self.said = ask.text
        self.seen += (ask.text, "it's")


@always
def silent(world) -> bool:
    return not world["b"].said


def test_hostile_values_and_code_are_shown_as_text(opened, tmp_path):
    system = System({"a": Asker(), "b": Asker()}, properties=[silent], name=HOSTILE)
    page = opened(write(tmp_path / "hostile.html", broken(system))).page
    told = page.locator("#nodes").inner_text()
    assert "</script><img src=x onerror=" in told and '"it\'s")' in told
    assert "A comment with markup: </script>" in page.locator(".code").first.inner_text()
    assert page.locator("img").count() == 0 and page.evaluate("window.hacked") is None
    assert "\u202e" not in told and "\x1b" not in told
    assert page.title().startswith("</script><img")


def test_the_title_is_the_name_of_the_system(opened, agreement):
    page = opened(agreement).page
    assert page.title().startswith("single-decree Paxos: one_value fails")
    assert page.locator("h1").inner_text().startswith("single-decree Paxos: ")
