"""The application that drives the transport: numbered items to each target, again after an error.

`plain` only takes what it gets. `strict` asserts that items of one epoch come in order, each once:
it finds some bugs earlier, as failed assertions, that are liveness bugs to the plain one.
"""

from __future__ import annotations

from presage import action, durable, state
from presage.systems.mace_transport.messages import Item
from presage.systems.mace_transport.transport import Transport


class App(Transport):
    """Sends `count` items to each of `targets`, and begins again after every error."""

    targets: tuple[str, ...] = ()
    count: int = 2
    fragments: int = 1  # into how many pieces each item is cut
    paced: bool = False  # asks before it sends, if there is no room
    life: int = durable(0)
    epoch: dict[str, int] = state(dict)
    sent: dict[str, int] = state(dict)  # in this epoch
    asking: set[str] = state(set)
    got: dict[str, int] = durable(factory=dict)  # one more than the highest number that came
    mistaken: bool = False  # a connection was closed by a reset that meant an earlier one

    def start(self) -> None:
        self.life += 1

    @action(
        when=lambda self, peer: self.sent.get(peer, 0) < self.count and peer not in self.asking,
        over=lambda self: self.targets,
    )
    def submit(self, peer: str) -> None:
        if self.paced and not self.can_send(peer):
            self.asking.add(peer)
            self.ask_to_send(peer)
        else:
            self._submit(peer)

    def _submit(self, peer: str) -> None:
        number = self.sent.get(peer, 0)
        self.sent[peer] = number + 1
        self.route(peer, Item(number, self.life, self.epoch.get(peer, 0)), self.fragments)

    def clear_to_send(self, peer: str) -> None:
        self.asking.discard(peer)
        self._submit(peer)

    def failed(self, peer: str) -> None:
        self.asking.discard(peer)
        if peer in self.targets:
            self.epoch[peer] = self.epoch.get(peer, 0) + 1
            self.sent[peer] = 0

    def rejected(self, peer: str, meant: bool) -> None:
        self.mistaken = self.mistaken or not meant

    def delivered(self, peer: str, item: Item) -> None:
        self.got[peer] = max(self.got.get(peer, 0), item.number + 1)


class StrictApp(App):
    """Asserts that items come in order, each once."""

    heard: dict[str, Item] = state(dict)  # the last item of each peer

    def delivered(self, peer: str, item: Item) -> None:
        last = self.heard.get(peer)
        epoch = (item.life, item.epoch)
        if last is not None and epoch == (last.life, last.epoch):
            expected = last.number + 1
        else:
            expected = 0
            if last is not None:
                assert epoch > (last.life, last.epoch), f"{item} came after {last}"
        assert item.number == expected, f"item {expected} of {peer} should be next, not {item}"
        self.heard[peer] = item
        super().delivered(peer, item)
