"""The page of a running system: what it shows, and what its buttons do."""

from contextlib import contextmanager

import pytest
from whole.browser.conftest import SIZE
from whole.browser.live_samples import HOSTILE, Shown, served


@contextmanager
def watched(browser, operator, **more):
    """The page, open; at the end it has been silent and asked nobody but its server."""
    problems, requests = [], []
    with served(operator) as server:
        context = browser.new_context(**({"viewport": SIZE} | more))
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(server.address)
        try:
            yield page
        finally:
            context.close()
    assert problems == []
    assert [url for url in requests if not url.startswith(server.address)] == []


def pick(page, node):
    page.locator(f'.node[data-node="{node}"]').click()


def test_all_nodes_are_shown_and_one_that_is_killed_is_seen_down(browser):
    operator = Shown()
    with watched(browser, operator) as page:
        assert page.locator(".node").count() == 25
        assert page.locator(".link").count() == 24
        assert "25 of 25 nodes up" in page.locator("#numbers").text_content()
        pick(page, "n03")
        assert "'n01'" in page.locator("#fields").text_content()
        page.get_by_role("button", name="kill", exact=True).click()
        page.locator(".node.down").wait_for()
        assert operator.asked == [("kill", "n03")]
        assert page.locator(".node.down").get_attribute("data-node") == "n03"
        page.get_by_role("button", name="start", exact=True).click()
        page.locator(".node.down").wait_for(state="detached")
        assert operator.asked[-1] == ("start", "n03")


def test_a_connection_is_cut_and_a_method_called(browser):
    operator = Shown()
    with watched(browser, operator) as page:
        pick(page, "n03")
        page.get_by_role("button", name="cut n01").click()
        page.locator("#said", has_text="broken").wait_for()
        page.locator("#method").select_option("leave")
        page.locator("#args").fill('1, "a"')
        page.get_by_role("button", name="call", exact=True).click()
        page.locator("#said", has_text="answered").wait_for()
        page.locator("#args").fill("{")
        page.get_by_role("button", name="call", exact=True).click()
        page.locator("#said", has_text="not JSON").wait_for()
    assert operator.asked == [("cut", "n03", "n01"), ("leave", "n03", [1, "a"])]


def test_what_is_ahead_is_shown_as_it_comes_and_opens_its_path(browser):
    operator = Shown()
    with watched(browser, operator) as page:
        assert page.locator(".path").count() == 0
        operator.foresee()
        page.locator(".path").wait_for()
        assert page.locator(".path circle").count() == 3
        assert page.locator(".path .arrow").count() == 2
        assert "n02: Probe from n01, for 4.5 s" in page.locator("#filters").text_content()
        assert "not yet" in page.locator("#progress").text_content()
        with page.context.expect_page() as opening:
            page.get_by_role("link", name="open the path").click()
        assert opening.value.locator("p").text_content() == "path 7"


def test_what_nodes_hold_is_text_and_nothing_else(browser):
    operator = Shown()
    operator.foresee()
    with watched(browser, operator) as page:
        pick(page, "n05")
        assert HOSTILE in page.locator("#fields").text_content()
        assert page.locator("img").count() == 0


def test_a_page_that_is_looked_at_for_long_does_not_grow(browser):
    operator = Shown()
    operator.foresee()
    with watched(browser, operator) as page:
        pick(page, "n03")
        count = "document.querySelectorAll('*').length"
        before = page.evaluate(count)
        page.evaluate(
            "for (let k = 0; k < 200; k++) take({...state.board, at: state.board.at + k})"
        )
        assert page.evaluate(count) == before
        assert page.evaluate("MARKED.size + state.before.size") <= 2 * 25


def test_a_system_that_ends_is_told_from_one_that_is_silent(browser):
    operator = Shown()
    with served(operator) as server:
        context = browser.new_context(viewport=SIZE)
        page = context.new_page()
        page.goto(server.address)
        assert page.locator("#contact").text_content() == ""
    page.locator("#contact.gone").wait_for()
    context.close()


@pytest.mark.parametrize("width", [1400, 800, 390])
def test_nothing_is_wider_than_the_window(browser, width):
    operator = Shown()
    operator.foresee()
    with watched(browser, operator, viewport={"width": width, "height": 800}) as page:
        pick(page, "n03")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.locator(".path").wait_for()
