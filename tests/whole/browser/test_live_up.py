"""The page of real nodes: 25 processes of `presage up`, in a real browser."""

import re

import pytest
from whole.browser.conftest import SIZE
from whole.commands.living import all_run, stopped, until, up

TREE = ("randtree", "--set", "nodes=25", "--set", "bug=CB-RT7")


def pick(page, node):
    page.locator(f'.node[data-node="{node}"]').click()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_real_nodes_are_shown_killed_started_and_looked_ahead_of(browser):
    with up(*TREE, "--steer", "watch", "--page") as process:
        address = next(line for line in process.stderr if line.startswith("page: ")).split()[1]
        until(lambda: all_run(25), "all nodes")
        context, problems = browser.new_context(viewport=SIZE), []
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(address)
        assert page.locator(".node").count() == 25
        page.locator("#numbers", has_text="25 of 25 nodes up").wait_for()
        pick(page, "n07")
        page.locator("#fields", has_text="joined").wait_for()
        page.get_by_role("button", name="kill", exact=True).click()
        page.locator('.node.down[data-node="n07"]').wait_for()
        page.locator("#numbers", has_text="24 of 25 nodes up").wait_for()
        page.get_by_role("button", name="start", exact=True).click()
        page.locator('.node.up[data-node="n07"]').wait_for()
        page.locator("#status", has_text=re.compile("life 2")).wait_for()
        page.locator(".path circle.last").first.wait_for()
        with context.expect_page() as opening:
            page.get_by_role("link", name="open the path").first.click()
        opening.value.set_default_timeout(60_000)
        opening.value.locator("#fact", has_text="fails at step").wait_for()
        context.close()
        assert problems == []
        assert stopped(process).returncode == 0
