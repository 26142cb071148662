"""The site of the documentation, built and used in a browser, from disk and without a network."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import screenshots

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The built site; a warning, a dead link or a page that is far away would be its end."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "-m", "docsite", str(folder)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tools")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert ", none dead: " in done.stdout
    return folder


def test_pages_are_silent_and_load_nothing_from_elsewhere(opened, site) -> None:
    for path in sorted(site.rglob("*.html"))[::20]:
        opened(path)
    page = opened(site / "index.html").page
    assert page.title() == "presage"
    shown = "image => image.complete && image.naturalWidth"
    assert page.locator("article img").first.evaluate(shown) == screenshots.SIZE["width"]


def test_a_page_is_two_clicks_away(opened, site) -> None:
    page = opened(site / "index.html").page
    menu = page.locator(".sidebar-tree")
    menu.get_by_role("link", name="Decisions", exact=True).click()
    page.wait_for_url("**/decisions/index.html")
    page.get_by_role("link", name="0002").click()
    page.wait_for_url("**/decisions/0002-*.html")
    assert "fingerprints" in page.get_by_role("heading", level=1).inner_text()
    menu.get_by_role("link", name="Public names").click()
    page.locator("dt[id='presage.Service.send']").wait_for()


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("lasso", "reference/words.html"),
        ("assert_holds", "reference/names.html"),
        ("junction", None),
    ],
)
def test_a_search_finds_a_word(opened, site, word, found) -> None:
    page = opened(site / "index.html").page
    page.get_by_role("search").get_by_placeholder("Search").fill(word)
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=*")
    page.locator("p.search-summary", has_text="Search finished").or_(
        page.locator("p.search-summary", has_text="did not match")
    ).wait_for()
    links = page.locator("#search-results .search a")
    if found is None:
        assert links.count() == 0
    else:
        targets = [link.get_attribute("href") for link in links.all()]
        assert any(found in target for target in targets)


def test_the_pictures_are_made_by_a_command(tmp_path) -> None:
    command = [sys.executable, str(ROOT / "tools" / "screenshots.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {path.stem for path in tmp_path.iterdir()} == set(screenshots.PICTURES)
