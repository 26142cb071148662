"""Who does tasks: this process where that is quicker, else workers on Ray."""

from __future__ import annotations

import os
from collections.abc import Sequence

from presage.distribute.farm import Farm, Harvest, Terms
from presage.distribute.pool import Here, Pool
from presage.distribute.ray import Ray, Where
from presage.distribute.task import Task

WORTH_SECONDS = 30.0  # of work, below which starting Ray takes longer than it saves


class Workers:
    """Those that are meant; without `where`, the quickest. Ray is started when it is needed."""

    def __init__(self, where: Where | None) -> None:
        self._where = where
        self._pool: Pool | None = None
        self.notes: list[str] = []

    @property
    def number(self) -> int:
        """How many there are meant to be."""
        return (self._where and self._where.workers) or os.cpu_count() or 1

    def do(self, tasks: Sequence[Task], terms: Terms) -> Harvest:
        """Do all tasks, as far as time allows."""
        first = Harvest()
        if self._where is None and self._pool is None:
            Farm(Here(), tasks[:1], terms, first).run()
            report = next(iter(first.reports.values()), None)
            ends = report is None or bool(report.violations) and not terms.keep_going
            if len(tasks) == 1 or ends or report is None:
                return first
            estimate = report.seconds * (len(tasks) - 1)
            if estimate < WORTH_SECONDS:
                self._note(f"about {estimate:.0f} s of work: done by this process, not on Ray")
                return Farm(Here(), tasks, terms, first).run()
        return Farm(self._ray(), tasks, terms, first).run()

    def _ray(self) -> Pool:
        if self._pool is None:
            where = self._where or Where(os.environ.get("RAY_ADDRESS"))
            pool = Ray(where)
            self._pool = pool
            note = f"on Ray, {pool.workers} workers"
            if where.is_local and not pool.is_alone:
                note += "; it may not make a network of its own, and listens on this machine's"
                note += " address"
            self.notes = [note]
        return self._pool

    def _note(self, text: str) -> None:
        if not self.notes:
            self.notes.append(text)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
