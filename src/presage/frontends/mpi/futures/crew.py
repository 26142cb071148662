"""Workers that all executors of a script share: `python -m mpi4py.futures script.py`."""

from __future__ import annotations

import pickle

from presage.frontends.mpi.futures.pools import Ranks
from presage.frontends.mpi.futures.worker import BEGIN, END, Boxes, Setup, pickled
from presage.frontends.mpi.rma.memory import leave

CREW = "mpi4py.futures"  # how they are called, and where their master notes them
NOTHING = Setup(False, (), (), pickled({}), pickled((None, (), {})))


class Shared(Ranks):
    """The same for one executor among others with the same workers, which stay."""

    def __init__(self, name: str, size: int, setup: Setup, at: int) -> None:
        self._at = at  # how many there were before
        super().__init__(name, size, setup)

    def _begin(self, setup: Setup) -> None:
        if self._at == 0:
            super()._begin(setup)
            return
        self._boxes = self._boxes._replace(results=f"{self._boxes.results} {self._at}")
        if pickle.loads(setup.initializer)[0] is not None:
            self._unheard = self.size
            for _ in range(self.size):
                leave(self._boxes.tasks, (self._boxes.results, BEGIN, setup.initializer))

    def _end(self) -> None:
        """Their tasks are done; they wait for those of the next."""


class Crew:
    """The workers that all executors of a script share."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._made = 0

    def pool(self, setup: Setup) -> Shared:
        made = Shared(CREW, self.size, setup, self._made)
        self._made += 1
        return made

    def dismiss(self) -> None:
        if self._made == 0:
            self.pool(Setup(False, (), (), pickled({}), pickled((None, (), {})))).finish()
        for _ in range(self.size):
            leave(Boxes.of(CREW).tasks, END)
