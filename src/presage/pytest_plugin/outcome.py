"""Runs a marked test: searches it, or replays a trace of it; and what pytest then says.

A failure shows the story, the command that replays it and the page. A test that passes says in the
summary of pytest how much was looked at.
"""

from __future__ import annotations

import gc
import inspect
import os
import shlex
import typing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from presage.errors import PresageError
from presage.execution.budget import Budget
from presage.execution.frames import frames
from presage.execution.replay import replay
from presage.model.world.system import System
from presage.process.program import Program
from presage.pytest_plugin import MARK, quiet
from presage.pytest_plugin.body import Test, function_of
from presage.pytest_plugin.options import Options, options_of
from presage.search.check import check
from presage.search.report import Report, Violation
from presage.search.summary import numbers, sentences
from presage.trace import codec
from presage.trace.trace import Trace
from presage.ui import explanation, story, violation
from presage.ui.page.data import page_data
from presage.ui.page.page import render
from presage.ui.theme import Theme

THEME = Theme(width=100)
Checkable = System | Program


def run(item: pytest.Function) -> None:
    """Do with a marked test what the command line asks for."""
    with quiet.logs_apart():
        try:
            _run(item)
        finally:
            gc.collect()


def _run(item: pytest.Function) -> None:
    refused = None
    try:
        options = options_of(item)
        if returns_system(item):
            judge(item, function_of(item)(**_arguments(item)), options)
        elif item.config.getoption("--presage-off"):
            from presage.pytest_plugin import plain

            plain.run(item, options)
        else:
            _run_body(item, Test(item, options))
    except PresageError as error:
        refused = f"presage: {error}"
    if refused is not None:
        pytest.fail(refused, pytrace=False)


def returns_system(item: pytest.Function) -> bool:
    """Whether a test says that it returns a system: then that is what is checked."""
    function = function_of(item)
    if inspect.iscoroutinefunction(function):
        return False
    try:
        kind = typing.get_type_hints(function).get("return")
    except Exception:  # of names that only a type checker knows
        return False
    return isinstance(kind, type) and issubclass(kind, Checkable)


def _arguments(item: pytest.Function) -> dict[str, Any]:
    wanted = inspect.signature(function_of(item)).parameters
    return {name: value for name, value in item.funcargs.items() if name in wanted}


def _run_body(item: pytest.Function, test: Test) -> None:
    system = test.system()
    traced = item.config.getoption("--presage-trace")
    if traced:
        test.nodes.is_searching = True
        _again(item, system, Path(traced))
        return
    budget = Budget(test.options.settings["seconds"])
    while True:
        test.nodes.is_searching = True
        report = check(system, budget=budget, **test.options.settings)
        test.nodes.is_searching = False
        if not test.nodes.missing():
            break
        system = test.system()  # a node was named that it did not have
    try:
        conclude(item, system, report, test.options)
    finally:
        system.tips.clear()
    if test.body.ended_early is not None:
        raise test.body.ended_early.with_traceback(None)


def judge(item: pytest.Item, system: Checkable, options: Options) -> None:
    """Check a system, and say of it what is said of a test."""
    if not isinstance(system, Checkable):
        pytest.fail(f"presage: {item.nodeid} returned {system!r}, which is no system", False)
    traced = item.config.getoption("--presage-trace")
    if traced:
        _again(item, system, Path(traced))
    else:
        conclude(item, system, check(system, **options.settings), options)


def conclude(item: pytest.Item, system: Checkable, report: Report, options: Options) -> None:
    """Fail with the story of what was found, or note how much was looked at."""
    item.user_properties.append((MARK, f"{item.nodeid}: {_covered(report)}"))
    if report.violations:
        texts = [_story(item, system, found) for found in report.violations]
        pytest.fail("\n\n".join(texts), pytrace=False)
    if not report.is_partial or options.exhaustive or report.errors or report.orders:
        report.assert_holds(allow_partial=not options.exhaustive)


def _covered(report: Report) -> str:
    """One line: what was looked at, and what was not; no more than the report claims."""
    facts = sentences(report)
    if report.violations:
        return f"violated, {', '.join(numbers(report))}"
    found = "held, exhaustively" if report.exhausted else "held"
    left = [f"not covered: {each}" for each in facts.get("not covered", [])]
    return "; ".join([f"{found}, {', '.join(numbers(report))}", *left, *facts.get("note", [])])


def _story(item: pytest.Item, system: Checkable, found: Violation) -> str:
    """The story, the command that replays it, and the page."""
    text = violation.render(
        replace(found, trace_path=None, live_path=None),
        THEME,
        lambda each: explanation.brief(system, replace(each, trace_path=found.trace_path)),
    )
    if found.trace_path is None or found.trace is None:
        return text
    words = ["pytest", item.nodeid, "--presage-trace", found.trace_path]
    lines = [text, f"   = replay: {shlex.join(words)}"]
    page = Path(found.trace_path).with_suffix(".html")
    if _write_page(system, found.trace, page):
        lines.append(f"   = page: {os.path.relpath(page)}")
    return "\n".join(lines)


def _write_page(system: Checkable, trace: Trace, path: Path) -> bool:
    try:
        path.write_text(render(page_data((trace, frames(system, trace)))), encoding="utf-8")
    except OSError:
        return False  # the trace is there, and the page can be made of it elsewhere
    return True


def _again(item: pytest.Item, system: Checkable, path: Path) -> None:
    """Replay a trace, and fail as the test did."""
    trace = codec.read(path)
    replayed = replay(system, trace)
    if replayed.message is None:
        item.user_properties.append((MARK, f"{item.nodeid}: {path} does not break it any more"))
        return
    again = trace.with_steps(replayed.steps)
    text = story.render(again, THEME, message=replayed.message, rounds=replayed.rounds)
    pytest.fail(text, pytrace=False)
