"""Waiting for a page: asked from here, since a page whose policy forbids `eval` cannot ask itself.

`wait_for_function` of playwright asks once as a debugger, which the policy allows, and from then on
in the page, which it forbids: a test that uses it fails whenever the page is not ready at once.
"""

import time

from playwright.sync_api import Error, Page

SECONDS = 30.0
PAUSE_MS = 20


def wait_until(page: Page, condition: str, arg: object = None) -> None:
    """Wait until the JavaScript `condition` is true; a page that loads anew is asked again."""
    deadline = time.monotonic() + SECONDS
    while True:
        answer: object
        try:
            answer = page.evaluate(condition, arg)
        except Error as error:
            answer = error
        if answer is True:
            return
        assert time.monotonic() < deadline, f"{condition}: {answer!r} after {SECONDS} seconds"
        page.wait_for_timeout(PAUSE_MS)
