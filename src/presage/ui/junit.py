"""The result of a check as JUnit's XML: a suite for each system, a case for each property.

A case passes only if its property held. One that nobody could judge, or that is known to be broken,
is skipped, with the reason; what was not covered stands in the output of the suite.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as xml

from presage.search.report import Report
from presage.search.sweep import Item

ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0
NO_EXCEPTION = "no_exception"


def render(items: Sequence[Item]) -> str:
    """The file, of all items of a check."""
    root = xml.Element("testsuites", name="presage")
    for item in items:
        _suite(root, item)
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    xml.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + xml.tostring(root, "unicode") + "\n"


def _suite(root: xml.Element, item: Item) -> None:
    name = item.target + (f" ({item.name})" if item.parameters else "")
    suite = xml.SubElement(root, "testsuite", name=_legal(name))
    if item.report is None:
        case = _case(suite, item, "check", 0.0)
        tag = "skipped" if item.error is None else "error"
        _add(case, tag, item.reason or str(item.error), "" if item.error is None else item.error)
    else:
        _report(suite, item, item.report)
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for tag, counted in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(counted, str(sum(case.find(tag) is not None for case in cases)))


def _report(suite: xml.Element, item: Item, report: Report) -> None:
    suite.set("time", f"{report.seconds:.3f}")
    broken = (violation.prop for violation in report.violations)
    names = dict.fromkeys([*(report.properties or [NO_EXCEPTION]), *broken])
    for at, name in enumerate(names):
        case = _case(suite, item, name, 0.0 if at else report.seconds)
        _judge(case, name, report)
    problems = [*report.errors, *map(str, report.orders)]
    if report.nothing_ended:
        problems.append("no execution was followed to its end")
    for at, problem in enumerate(problems, 1):
        _add(_case(suite, item, f"check {at}", 0.0), "error", problem, problem)
    out = xml.SubElement(suite, "system-out")
    out.text = _legal(str(report))


def _judge(case: xml.Element, name: str, report: Report) -> None:
    found = [violation for violation in report.violations if violation.prop == name]
    status = report.properties.get(name, "held")
    if found:
        stories = "\n\n".join(violation.explanation() for violation in found)
        _add(case, "failure", "; ".join(violation.fact for violation in found), stories)
    elif causes := [cause for prop, cause in report.known if prop == name]:
        _add(case, "skipped", f"known: {'; '.join(causes)}")
    elif status in ("unknown", "unreached", "error"):
        _add(case, "skipped", f"{status}: nothing was shown")


def _case(suite: xml.Element, item: Item, name: str, seconds: float) -> xml.Element:
    named = {"classname": _legal(item.target), "name": _legal(name), "time": f"{seconds:.3f}"}
    return xml.SubElement(suite, "testcase", named)


def _add(case: xml.Element, tag: str, message: str, text: object = "") -> None:
    child = xml.SubElement(case, tag, message=_legal(message.partition("\n")[0]))
    child.text = _legal(str(text)) or None


def _legal(text: str) -> str:
    return ILLEGAL.sub("\ufffd", text)
