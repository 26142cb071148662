"""The pages of the paper's violations open where it matters and show what the paper names."""

import json

import pytest
from whole.browser.building import data_of, hunted, write


def paths(opened):
    rows = opened.page.locator("#state tr.leaf")
    return [json.loads(row.get_attribute("data-path")) for row in rows.all()]


def test_mace_transport_shows_the_entry_in_flight_and_the_timer(opened, transport):
    page = opened(transport)
    critical = page.page.evaluate("presage.data.main.critical")
    assert page.selected == critical
    assert page.page.get_by_role("button", name="vs nearest live path").get_attribute(
        "aria-pressed"
    )
    told = paths(page)
    assert any(path[:4] == ["n0", "out", "'n1'", "inflight"] for path in told)
    assert any(path[1] == "timers" and path[2].startswith("retransmit(") for path in told)
    assert "the critical transition" in page.page.locator("#side h2").first.inner_text()
    assert "Ack" in page.page.locator(f"#step-{critical}").get_attribute("aria-label")


def test_randtree_shows_the_reply_that_is_gone(opened, tree):
    page = opened(tree)
    assert page.selected == page.page.evaluate("presage.data.main.critical")
    told = paths(page)
    assert any(path[:2] == ["network", "messages"] and "JoinReply" in path[2] for path in told)


# CH-8: it has joined, knows its predecessor, and has no successor; CH-1132: nobody is left.
CHORD = {
    "CH-8": [["n5", "phase"], ["n5", "pred"], ["n5", "timers", "stabilize"]],
    "CH-1132": [["n1", "pred"], ["n1", "successors", 0]],
}


@pytest.mark.parametrize("bug", CHORD)
def test_chord_shows_the_pointers_that_went_wrong(opened, tmp_path, bug):
    system, violation = hunted("chord", bug)
    page = opened(write(tmp_path / "chord.html", data_of(system, violation)))
    assert page.selected == violation.critical
    told = paths(page)
    assert [path for path in CHORD[bug] if path not in told] == []
