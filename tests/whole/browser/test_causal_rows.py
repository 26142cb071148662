"""Causal rows, names and code: what a page shows in much room and in little."""

from itertools import pairwise

import pytest
from whole.browser.building import data_of, made_up, write
from whole.browser.test_looks import WIDTHS, broken, resize

from presage import Program, check
from presage.mailbox import Mailbox
from presage.systems import paxos
from presage.ui.page.data import page_data

BEYOND = """() => [...document.querySelectorAll('.row[data-step]')].filter(row => {
  const text = [...row.querySelectorAll('text')].at(-1).getBoundingClientRect();
  return text.right > row.querySelector('.hit').getBoundingClientRect().right;
}).length"""


@pytest.fixture(scope="module")
def agreement(tmp_path_factory):
    """Paxos that forgets what it promised, with two clients."""
    data = broken(paxos.system(clients=2, bug="last_promise"))
    return write(tmp_path_factory.mktemp("paxos") / "paxos.html", data)


def labels(page):
    """What each row but the first says of its event."""
    rows = page.locator("#step- .row[data-step]").all()[1:]
    return [" ".join(row.locator("text").last.locator("tspan").all_text_contents()) for row in rows]


@pytest.mark.parametrize("width", WIDTHS)
def test_causal_rows_show_what_messages_hold_and_tell_events_apart(opened, agreement, width):
    page = opened(agreement).page
    resize(page, width)
    page.get_by_role("button", name="causal rows").click()
    told = labels(page)
    steps = page.evaluate("presage.data.main.steps.slice(1).map(step => step.label)")
    assert len(set(told)) == len(told) == len(steps)
    for text, label in zip(told, steps, strict=True):
        name, ends = label.split(" ", 1)
        assert text.startswith(f"{name}(") and text.endswith(ends) and "(…)" not in text
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_causal_rows_show_more_where_there_is_more_room(opened, agreement):
    page = opened(agreement).page
    page.get_by_role("button", name="causal rows").click()
    lengths = []
    for width in (800, 1400, 2400, 4000):
        resize(page, width)
        lengths.append(sum(map(len, labels(page))))
    assert lengths == sorted(lengths) and lengths[0] < lengths[-1]
    assert any("client='c0', value='A'" in text for text in labels(page))


@pytest.mark.parametrize("width", WIDTHS)
def test_texts_of_causal_rows_end_before_the_next_lane_begins(opened, agreement, width):
    page = opened(agreement).page
    resize(page, width)
    page.get_by_role("button", name="causal rows").click()
    beyond = page.evaluate(BEYOND)
    assert beyond == 0


@pytest.mark.parametrize("width", WIDTHS)
def test_texts_of_two_diagrams_side_by_side_end_in_their_own(opened, agreement, width):
    page = opened(agreement).page
    resize(page, width)
    page.get_by_role("button", name="side by side").click()
    cut = page.evaluate("""() => [...document.querySelectorAll('.bodies > svg')].flatMap(svg => {
      const end = svg.getBoundingClientRect().right;
      const texts = [...svg.querySelectorAll('.row text')];
      return texts.filter(text => text.getBoundingClientRect().right > end);
    }).length""")
    assert cut == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", WIDTHS)
def test_names_of_nodes_are_told_apart_in_any_room(opened, tmp_path, width):
    nodes = ("server_one", "server_two", "server_three", "storage_one", "storage_three")
    page = opened(write(tmp_path / "names.html", page_data(made_up(20, nodes=nodes)))).page
    resize(page, width)
    # In one go: the page may draw its heads anew between two questions.
    top, *heads = page.evaluate("""() => [".heads", ".heads text.lane"].flatMap(
        name => [...document.querySelectorAll(name)].map(each => {
            const {left, right, top} = each.getBoundingClientRect();
            return {name: each.firstChild.textContent, left, right, top};
        }))""")
    assert len({head["name"] for head in heads}) == len(heads) == len(nodes)
    for one, other in pairwise(heads):
        assert one["right"] <= other["left"] + 2
    assert all(head["top"] >= top["top"] for head in heads)


def give():
    Mailbox.by_name("box").put("given")


def take():
    got = Mailbox.by_name("box").get()
    raise ValueError(got)


def test_a_step_of_a_process_shows_the_line_where_it_stood(opened, tmp_path):
    program = Program({"giver": give, "taker": take})
    data = data_of(program, check(program, traces=None).violations[0])
    page = opened(write(tmp_path / "process.html", data)).page
    assert "browser/test_causal_rows.py:" in page.locator("#source").inner_text()
    here = page.locator(".code").first.locator(".here").inner_text()
    assert 'got = Mailbox.by_name("box").get()' in here
    assert "def take():" in page.locator(".code").first.inner_text()
    sources = page.evaluate("presage.data.main.steps.slice(1).map(step => step.source)")
    assert all(place.rpartition(":")[2].isdecimal() for place in sources)
