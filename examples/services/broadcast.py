"""Two replicas and a writer: right only if its broadcasts are atomic, which a seal assumes.

presage check examples/services/broadcast.py
presage check examples/services/broadcast.py --set sealed=false
"""

from dataclasses import dataclass

from presage import Seal, Service, System, action, always, on


@dataclass(frozen=True)
class Write:
    value: int


class Writer(Service):
    written: int = 0

    @action(when=lambda self: self.written < 2)
    def write(self):
        self.written += 1
        for replica in ("left", "right"):
            self.send(replica, Write(self.written))


class Replica(Service):
    value: int = 0

    @on(Write)
    def store(self, message):
        self.value = message.value


def broadcasting(world):
    return bool(world.messages(Write))


@always
def replicas_agree(world):
    return broadcasting(world) or world["left"].value == world["right"].value


def system(sealed: bool = True) -> System:
    nodes = {"writer": Writer(), "left": Replica(), "right": Replica()}
    seals = [Seal(when=broadcasting, only=Write)] if sealed else []
    return System(nodes, properties=[replicas_agree], seals=seals, skip_noops=False)
