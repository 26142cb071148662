"""A system to be interrupted: ordered channels, faults, an observer, an early violation."""

RELAY = """
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Note:
        count: int

    class Node(Service):
        peer: str
        most: int
        count: int = 0
        heard: int = 0
        kept: int = durable(0)

        @action(when=lambda self: self.count < self.most)
        def work(self):
            self.count += 1
            self.record(self.count)
            self.send(self.peer, Note(self.count))

        @on(Note)
        def hear(self, note):
            self.heard = note.count
            self.kept = max(self.kept, note.count)

    class Total:
        def initial(self):
            return 0

        def observe(self, state, node, record):
            return (state + record) % 5

    def deaf(world):
        return all(node.heard < 2 for node in world.up())

    def heard_one(world):
        return any(node.kept == 1 for node in world.nodes)

    def system(most: int = 2) -> System:
        ring = {"a": "b", "b": "c", "c": "a"}
        return System(
            nodes={name: Node(peer=peer, most=most) for name, peer in ring.items()},
            network="ordered",
            faults=Faults(crash=1, restart=1, drop=2),
            observers={"total": Total()},
            properties=[always(deaf), sometimes(heard_one)],
        )
"""
