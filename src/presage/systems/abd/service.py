"""A replica that leads the requests of its clients in two rounds."""

from __future__ import annotations

from msgspec import Struct

from presage import Service, on, state
from presage.systems.abd.messages import Query, QueryOk, Record, RecordOk, Stamp
from presage.systems.register import Get, GetOk, Put, PutOk


class Task(Struct, frozen=True):
    """A client's request that a server leads."""

    request: int
    client: str
    write: str | None  # None: a read


class Server(Service):
    """A replica, which also leads one request at a time."""

    peers: tuple[str, ...]
    stamp: Stamp = (0, "")
    value: str | None = None
    task: Task | None = None
    answers: dict[str, tuple[Stamp, str | None]] = state(dict)  # first round; else empty
    acks: set[str] = state(set)  # second round; else empty
    result: str | None = None  # second round of a read: what it will return

    def start(self) -> None:
        self.stamp = (0, self.name)

    @on(Put)
    def put(self, put: Put, source: str) -> None:
        self._lead(Task(put.request, source, put.value))

    @on(Get)
    def get(self, get: Get, source: str) -> None:
        self._lead(Task(get.request, source, None))

    def _lead(self, task: Task) -> None:
        if self.task is not None:
            return
        self.task = task
        self.answers = {self.name: (self.stamp, self.value)}
        self._tell_peers(Query(task.request))

    @on(Query)
    def query(self, query: Query, source: str) -> None:
        self.send(source, QueryOk(query.request, self.stamp, self.value))

    @on(QueryOk)
    def queried(self, answer: QueryOk, source: str) -> None:
        if self.task is None or not self.answers or self.task.request != answer.request:
            return
        self.answers[source] = (answer.stamp, answer.value)
        if len(self.answers) != self._majority():
            return
        stamp, value = max(self.answers.values(), key=lambda answer: answer[0])
        if self.task.write is None:
            self.result = value
        else:
            stamp, value = (stamp[0] + 1, self.name), self.task.write
        self._tell_peers(Record(answer.request, stamp, value))
        self._keep(stamp, value)
        self.answers = {}
        self.acks = {self.name}

    @on(Record)
    def record_value(self, record: Record, source: str) -> None:
        self.send(source, RecordOk(record.request))
        self._keep(record.stamp, record.value)

    @on(RecordOk)
    def recorded(self, answer: RecordOk, source: str) -> None:
        if self.task is None or not self.acks or self.task.request != answer.request:
            return
        self.acks.add(source)
        if len(self.acks) != self._majority():
            return
        if self.task.write is None:
            self.send(self.task.client, GetOk(answer.request, self.result))
        else:
            self.send(self.task.client, PutOk(answer.request))
        self.task, self.acks, self.result = None, set(), None

    def _keep(self, stamp: Stamp, value: str | None) -> None:
        if stamp > self.stamp:
            self.stamp, self.value = stamp, value

    def _majority(self) -> int:
        return (len(self.peers) + 1) // 2 + 1

    def _tell_peers(self, message: Query | Record) -> None:
        for peer in self.peers:
            self.send(peer, message)
