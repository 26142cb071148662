"""Interchangeable nodes that keep names on disks, count, look at the clock, and may be slow."""

import random

from reference.symmetric_systems import MODULUS, Member, build

from presage.model.service.declare import counter, disk, written
from presage.model.service.disk import Disk
from presage.model.service.moment import Counter, Moment


class CheckpointOptions(Member):
    triggers = (*Member.triggers, "stored")
    disk: Disk = disk(prefix=True)
    count: Counter = counter()
    seen: Moment | None = None

    @written
    def stored(self, key, value):
        self.run("stored", 1, None if key == "last" else key, value)

    def op_write(self, n, source, about):
        if len(self.disk.pending) < 2:
            self.disk.write(source or self.name, about)

    def op_later(self, n, source, about):
        if self.disk.idle:
            self.disk.write("last", source or self.name)

    def op_read(self, n, source, about):
        self.friend = self.disk.read("last", self.disk.read(source or self.name, self.friend))

    def op_look(self, n, source, about):
        if self.seen is not None and self.now() > self.seen:
            self.a = (self.a + n) % MODULUS
        self.seen = self.now()

    def op_count(self, n, source, about):
        if self.count.value < 2:
            self.a = (self.a + self.count.next()) % MODULUS


def keeping_system(seed):
    """The system of a seed."""
    return build(random.Random(seed).randrange, CheckpointOptions, slow=(0, 1, 1))
