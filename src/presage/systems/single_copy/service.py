"""A server that keeps its own copy."""

from __future__ import annotations

from presage import Service, on
from presage.systems.register import Get, GetOk, Put, PutOk


class Server(Service):
    """Keeps its own copy."""

    value: str | None = None

    @on(Put)
    def put(self, put: Put, source: str) -> None:
        self.value = put.value
        self.send(source, PutOk(put.request))

    @on(Get)
    def get(self, get: Get, source: str) -> None:
        self.send(source, GetOk(get.request, self.value))
