"""The pytest plugin: a test with `@pytest.mark.presage` is checked under every order of events.

It acts on tests with its mark, and on globals of test modules that are systems; all other tests are
as they were. It is loaded by every run of pytest, so what it needs is imported when it is needed.

    options.py   the flags, and what a mark may say
    nodes.py     the fixture `nodes`
    body.py      a test and its nodes as a system
    folders.py   temporary folders of fixtures, on the disk of a node
    items.py     systems as items of pytest
    outcome.py   searching, and what is said of it
    quiet.py     keeps simulated processes from pytest's own watchers
    plain.py     `--presage-off`: the same test on real sockets, once
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from presage.pytest_plugin import quiet

if TYPE_CHECKING:
    from presage.pytest_plugin.nodes import Nodes

MARK = "presage"


def pytest_addoption(parser: pytest.Parser, pluginmanager: Any) -> None:
    # pytest would rewrite the assertions of all that comes with a plugin, shipped systems too.
    getattr(pluginmanager.rewrite_hook, "_must_rewrite", set()).discard(__name__.split(".")[0])
    group = parser.getgroup("presage", "presage: every order of events")
    group.addoption(
        "--presage-seconds",
        type=float,
        metavar="N",
        help="how long each marked test is searched; a mark that says so itself is not changed",
    )
    group.addoption(
        "--presage-trace", metavar="FILE", help="replay this trace of one marked test, no search"
    )
    group.addoption(
        "--presage-off",
        action="store_true",
        help="run marked tests once, on real sockets and the real clock",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "presage(crash=1, drop=1, seconds=30): check the test under every order of events; takes"
        " faults, settings of `presage.check`, and options of nodes",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before anything that a marked test needs is imported."""
    if item.get_closest_marker(MARK) is not None:
        quiet.install()


@pytest.fixture
def nodes(request: pytest.FixtureRequest) -> Nodes:
    """Starts other processes of a marked test: `nodes.start("bank", main)`."""
    from presage.pytest_plugin.nodes import Nodes

    if request.node.get_closest_marker(MARK) is None:
        pytest.fail(
            "the fixture `nodes` is for tests with `@pytest.mark.presage`, which run it", False
        )
    return Nodes()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a marked test: search it, replay a trace of it, or run it once."""
    if pyfuncitem.get_closest_marker(MARK) is None:
        return None
    from presage.pytest_plugin import outcome

    outcome.run(pyfuncitem)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: Any, name: str, obj: object) -> Generator[None, Any, Any]:
    """A global `test_...` that is a system is an item, too."""
    found = yield
    if found is None and collector.funcnamefilter(name) and _may_be_system(obj):
        quiet.install()
        from presage.pytest_plugin import items

        return items.item_of(collector, name, obj)
    return found


def _may_be_system(obj: object) -> bool:
    """Without importing anything for a module that has none."""
    return any(each.__module__.startswith("presage.") for each in type(obj).__mro__[:-1])


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What was looked at, for tests that passed: a search that was cut off claims less."""
    lines = [
        text
        for reports in terminalreporter.stats.values()
        for report in reports
        for title, text in getattr(report, "user_properties", ())
        if title == MARK and getattr(report, "when", "") == "call"
    ]
    if lines:
        terminalreporter.section("presage")
        for line in lines:
            terminalreporter.write_line(line)
