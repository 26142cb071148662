"""One browser for the tests of a module: Debian's Chromium, driven by playwright."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from whole.browser.building import data_of, hunted, write

BINARIES = ("chromium", "google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
SIZE = {"width": 1400, "height": 860}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Ends with its module: while playwright runs, its event loop is that of the thread."""
    found = next(filter(None, map(shutil.which, BINARIES)), None)
    assert found, "no browser: the page is tested in Chromium; `apt-get install chromium`"
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield launched
        launched.close()


class Opened:
    """A page that is open, and everything that went wrong in it."""

    def __init__(self, browser: Browser, path: Path, fragment: str = "", **more) -> None:
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.context = browser.new_context(viewport=SIZE, **more)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri() + fragment)

    @property
    def selected(self) -> int:
        row = self.page.locator('#step- [role=option][aria-selected="true"]')
        return int(row.get_attribute("data-step"))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)


@pytest.fixture
def opened(browser: Browser) -> Iterator:
    """Opens pages; at the end asserts that each was silent and asked nobody for anything."""
    pages: list[Opened] = []

    def open_page(path: Path, fragment: str = "", **more) -> Opened:
        pages.append(Opened(browser, path, fragment, **more))
        return pages[-1]

    yield open_page
    for each in pages:
        each.context.close()
        assert each.problems == []
        assert [url for url in each.requests if not url.startswith("file:")] == []


@pytest.fixture(scope="session")
def transport(tmp_path_factory) -> Path:
    """The page of MaceTransport's lost connection (MT-3)."""
    return write(
        tmp_path_factory.mktemp("page") / "mt3.html",
        data_of(*hunted("mace_transport", "MT-3", executions="random")),
    )


@pytest.fixture(scope="session")
def tree(tmp_path_factory) -> Path:
    """The page of RandTree's lost join (RT-init)."""
    return write(
        tmp_path_factory.mktemp("page") / "rt.html", data_of(*hunted("randtree", "RT-init"))
    )
