"""The list that `presage systems` prints: names, parameters, allowed values, bug switches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from presage.ui.theme import Span, Theme, pad

NAME_COLUMNS = 18
SETTING_COLUMNS = 26
BUG = "bug"  # by convention the parameter that puts a historic bug back in


class Setting(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def default_text(self) -> str: ...
    @property
    def values(self) -> list[str]: ...
    @property
    def about(self) -> str: ...


class Listed(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def parameters(self) -> Iterable[Setting]: ...


def render(systems: Iterable[Listed], theme: Theme) -> str:
    """The listing, without a newline at its end."""
    lines: list[str] = []
    for system in systems:
        columns = max(NAME_COLUMNS, len(system.name) + 2)
        name = Span(pad(system.name, columns), "strong")
        first, *rest = theme.wrap(" " * columns, system.summary)
        lines += [theme.line(name, Span(first[columns:])), *rest]
        for setting in system.parameters:
            lines += _setting(setting, theme)
        lines.append("")
    lines.append("check one with: presage check NAME --set KEY=VALUE")
    return "\n".join(lines)


def _setting(setting: Setting, theme: Theme) -> list[str]:
    given = f"  {setting.name}={setting.default_text}"
    told = setting.about.rstrip(".")
    if setting.values:
        one_of = f"one of {', '.join(setting.values)}"
        told = f"{told}; {one_of}" if told else one_of
    if setting.name == BUG:
        told = f"bug switch: {told}"
    lead = " " * SETTING_COLUMNS
    first, *rest = theme.wrap(lead, told)
    style = "warn" if setting.name == BUG else "node"
    if len(given) + 2 > SETTING_COLUMNS:
        return [theme.line(Span(given, style)), first, *rest]
    named = Span(pad(given, SETTING_COLUMNS), style)
    return [theme.line(named, Span(first[SETTING_COLUMNS:])), *rest]
