"""What a property of a program sees: the values that processes have published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from presage.errors import ReadOnly, UnknownNode


class ProcessView:
    """One process; a field that it has not published yet is None.

    `name` is the process's own name, unless it publishes a field called so.
    """

    def __init__(self, name: str, fields: Mapping[str, Any]) -> None:
        self.__dict__["_name"] = name
        self.__dict__["_fields"] = fields

    def __getattr__(self, field: str) -> Any:
        if field.startswith("__"):
            raise AttributeError(field)
        default = self.__dict__["_name"] if field == "name" else None
        return self.__dict__["_fields"].get(field, default)

    def __setattr__(self, field: str, value: Any) -> None:
        raise ReadOnly(
            f"a property sets `{field}` of process `{self._name}`",
            "`=` where `==` was meant",
            "compute on copies; a property only reads",
        )

    def __repr__(self) -> str:
        return f"<{self._name}: {dict(self.__dict__['_fields'])}>"


class ProgramView:
    """All processes, in the order in which they began."""

    def __init__(self, published: Mapping[str, Mapping[str, Any]]) -> None:
        self._views = {name: ProcessView(name, fields) for name, fields in published.items()}

    @property
    def nodes(self) -> tuple[ProcessView, ...]:
        return tuple(self._views.values())

    def __getitem__(self, name: str) -> ProcessView:
        if name not in self._views:
            raise UnknownNode(name, tuple(self._views), "a property")
        return self._views[name]
