"""One end of a stream: the rules of `model.world.connections`, kept by two ends that are far apart.

A pair of nodes has one connection, whatever becomes of the sockets that carry it. Its *life* is a
number that both ends keep. To give up an end is to begin the next life, and frames of another life
are ignored. A message is in the log of its sender until the receiver has said that it was handled.

An end is *open* once a message was handled at either end in this life. What the other end knows
decides what a new life means there, so every `Greeting` says it:

- the end was open: its node has an error to hear of, and its messages are lost;
- it was not: its node hears nothing, and its messages are sent again in the new life.

A life is *tied* to a process of the peer when the first message of it is written or handled. The
greeting of a later process finds an end that is half open, which the next message received opens
again, and the next one sent turns into an error. If messages were under way to the earlier process
there is an error at once: whether it handled them cannot be known.

Sans I/O. The driver passes on the frames of one socket per pair, in order, `attach` first. Before
it passes on anything it calls `checkpoints.seen(number)`. It runs the step of a message between
`take()` and the effects of that step, and the step of an error after `hear()`, then writes what
`drain` gives.

Invariant: no message is handled twice, or in another order than it was sent in, or by a process
that it was not written to.
"""

from __future__ import annotations

from collections import deque

import msgspec
from msgspec import Struct

from presage.records import NamedTuple
from presage.runtime.frame import BadFrame, Frame, Kind, Messages

LIFE_BITS = 16  # of a life that count closes; those above count the starts of a process
LIFE_MAX = 1 << 32


class Greeting(Struct, frozen=True, array_like=True):
    """Body of a frame of the kind `LIFE`: what a life means. Its header has life and handled."""

    start: int  # of the process that speaks
    knows: int  # the process of the peer that it speaks to, as far as it knows; 0: not at all
    was: int  # the last life before this one in which it has heard of the peer; 0: none
    was_handled: int  # how many messages of the peer it handled then


class End(NamedTuple):
    """An end as a checkpoint holds it."""

    life: int
    known: int
    met: int
    sent: int
    handled: int
    log: tuple[bytes, ...]  # sent and, as far as is known, not handled
    half: bool
    error: bool
    was: int
    was_handled: int

    @property
    def open(self) -> bool:
        """Whether it knows that a message was handled in this life."""
        return self.handled > 0 or self.sent > len(self.log)

    @property
    def used(self) -> bool:
        return self.open or self.half or self.error or bool(self.log)


encode = msgspec.msgpack.encode
_DECODER = msgspec.msgpack.Decoder(Greeting)


def read_greeting(body: bytes) -> Greeting:
    """What a frame of the kind `LIFE` says; `BadFrame` if that cannot be read."""
    try:
        return _DECODER.decode(body)
    except msgspec.DecodeError as error:
        raise BadFrame(f"the greeting cannot be read: {error}") from None


def first_life(start: int) -> int:
    """The life with which the connections of a process begin; `start` counts its starts from 1."""
    return (start << LIFE_BITS) % LIFE_MAX


def stays(opener: str, accepter: str) -> bool:
    """Of two sockets between the same nodes: whether the one that `opener` opened stays."""
    return opener < accepter


class Link:
    """The end of `name` of its connection to `peer`."""

    __slots__ = (
        "_frames",
        "_said",
        "_shared",
        "_spoken",
        "_trusted",
        "_was",
        "_written",
        "attached",
        "error",
        "half",
        "handled",
        "ignored",
        "inbox",
        "known",
        "life",
        "log",
        "met",
        "name",
        "peer",
        "sent",
        "start",
    )

    def __init__(self, name: str, peer: str, start: int) -> None:
        self.name = name
        self.peer = peer
        self.start = start  # of this process
        self.life = first_life(start)
        self.known = 0  # the latest process of the peer that was heard of
        self.met = 0  # the process of the peer that this life is tied to; 0: none yet
        self.sent = 0  # messages in this life
        self.handled = 0  # of the peer's
        self.log: deque[bytes] = deque()  # the last ones sent, not known to be handled
        self.inbox: deque[bytes] = deque()  # of the peer, received and not yet handled
        self.half = False  # open, and the peer's end is not
        self.error = False  # broken, and the node has yet to hear of it
        self.attached = False  # whether there is a socket
        self.ignored = 0  # frames of another life
        self._shared = False  # whether the peer is known to be in this life
        self._trusted = False  # whether the peer spoke to this process on this socket
        self._was = (0, 0)
        self._written = 0  # messages of this life, on this socket or known to be handled
        self._said = 0  # the `handled` that the peer knows
        self._spoken = (0, 0)  # life and known process of the last greeting on this socket
        self._frames: list[bytes] = []  # messages to write

    # -- what there is to do -----------------------------------------------------------------

    @property
    def open(self) -> bool:
        """Whether a message is known to have been handled in this life."""
        return self.handled > 0 or self.sent > len(self.log)

    @property
    def ready(self) -> bool:
        """Whether the head of the inbox can be handled, if its guard holds."""
        return bool(self.inbox) and not self.error

    @property
    def wanted(self) -> bool:
        """Whether a socket is to be opened."""
        return not self.attached and bool(self.log) and not self.error and self.peer != self.name

    @property
    def unacknowledged(self) -> int:
        """How many handled messages the peer does not know of."""
        return self.handled - self._said if self._trusted else 0

    def held(self) -> int:
        """How many messages are queued to the peer, for `queue_size`."""
        return len(self.log)

    def drain(self, number: int = 0, *, acknowledge: bool = True) -> list[Frame | Messages]:
        """The frames to write now; `number` is that of the node's checkpoints.

        `acknowledge`: say what was handled even if there is nothing else to say.
        """
        if not self.attached:
            return []
        frames: list[Frame | Messages] = []
        life, knows = self._spoken
        if life != self.life or knows not in (0, self.known):
            self._spoken = (self.life, self.known)
            said = encode(Greeting(self.start, self.known, *self._was))
            frames.append(Frame(Kind.LIFE, number, self.life, self.handled, said))
        if self._frames:
            frames.append(Messages(number, self.life, self.handled, self._frames))
            self._frames = []
        if not frames and acknowledge and self.unacknowledged:
            frames.append(Frame(Kind.ALIVE, number, self.life, self.handled))
        if frames:
            self._said = self.handled
        return frames

    def end(self) -> End:
        """What a checkpoint holds of it."""
        return End(
            self.life,
            self.known,
            self.met,
            self.sent,
            self.handled,
            tuple(self.log),
            self.half,
            self.error,
            *self._was,
        )

    # -- the node ----------------------------------------------------------------------------

    def send(self, message: bytes) -> None:
        """Queue a message; at a half-open end it is an error instead, and no message."""
        if self.half:
            self._fail()
            return
        self.sent += 1
        self.log.append(message)
        if self.peer == self.name:
            self.inbox.append(message)
        elif self._trusted and not self.error and self._written == self.sent - 1:
            self.met = self.known
            self._frames.append(message)
            self._written = self.sent
        else:
            self._write()

    def close(self) -> None:
        """Give up this end. The peer learns of it by the greeting of the next life."""
        if self.error:
            self.hear()
        elif self.open or self.log:
            self._begin()
        self.half = False

    def take(self) -> bytes:
        """The head of the inbox; it is handled by the step that follows."""
        assert self.inbox and not self.error, "nothing can be taken"
        if self.peer == self.name:
            self.log.popleft()
            self.sent -= 1  # one queue, and nothing to break: this end never opens
            return self.inbox.popleft()
        self.met = self.known  # of this socket: the inbox of another was emptied by `attach`
        self.handled += 1
        self.half = False
        return self.inbox.popleft()

    def hear(self) -> None:
        """The node hears of the error in the step that follows: the end is as if never used."""
        assert self.error, "there is no error"
        self.error = False
        self.sent = self._written = 0
        self.log.clear()

    # -- the socket --------------------------------------------------------------------------

    def attach(self) -> None:
        """There is a new socket; what an earlier one has brought and nobody handled comes again."""
        self.attached = True
        self._trusted = False
        self.inbox.clear()
        self._frames.clear()
        self._written = self.sent - len(self.log)
        self._spoken = (0, 0)

    def lost(self) -> None:
        """The socket is gone. An open end breaks; one that is not goes on with another socket."""
        self._detach()
        if self.open or self.half:
            self._fail()

    def refused(self) -> None:
        """The peer cannot be reached, or has not answered for long."""
        self._detach()
        if self.open or self.half or self.log:
            self._fail()

    def expire(self) -> None:
        """A half-open end is found out: a keep-alive, or the end of an earlier process's socket."""
        if self.half:
            self._fail()

    def greet(self, frame: Frame) -> None:
        """The peer says which life it is in, in a frame of the kind `LIFE`."""
        greeting = read_greeting(frame.body)
        if greeting.start < self.known:
            self.ignored += 1  # a process that has ended
            return
        if greeting.start > self.known:
            self._was = (0, 0)  # of an earlier process
        replaced = 0 < self.met < greeting.start
        self.known = greeting.start
        if replaced:
            self._replace(frame.life)
        if greeting.knows not in (0, self.start):
            self._trusted = False  # it speaks to an earlier process; our greeting tells it
            return
        self._trusted = True
        if frame.life > self.life:
            self._follow(frame.life, greeting)
        self.acknowledge(frame)
        self._write()

    def acknowledge(self, frame: Frame | Messages) -> bool:
        """Take note of a frame's header; false if the frame is of another life."""
        if not self._trusted or frame.life != self.life:
            self.ignored += 1
            return False
        self._shared = True
        if self.error:
            return True
        log, news = self.log, frame.handled - (self.sent - len(self.log))
        if news > 0:
            if news >= len(log):
                log.clear()
            else:
                for _ in range(news):
                    log.popleft()
            self._written = max(self._written, self.sent - len(log))
        return True

    def receive(self, messages: Messages) -> None:
        """Messages of the peer, in a row."""
        if self.acknowledge(messages):
            self.inbox.extend(messages.bodies)

    # -- lives -------------------------------------------------------------------------------

    def _detach(self) -> None:
        self.attached = self._trusted = False
        self._frames.clear()
        if self.peer != self.name:
            self.inbox.clear()

    def _write(self) -> None:
        """Write what has not been, if the peer listens."""
        if not self._trusted or self.error:
            return
        first = self.sent - len(self.log)
        for at in range(self._written - first, len(self.log)):
            self.met = self.known
            self._frames.append(self.log[at])
        self._written = self.sent

    def _fail(self) -> None:
        """The connection is gone, and the node will hear of it; its queue is lost only then."""
        if not self.error:
            log = tuple(self.log)
            self._begin()
            self._hold(log)
            self.half = False
            self.error = True

    def _begin(self, life: int = 0) -> None:
        """The next life, or a later one: nothing was sent in it, and nothing handled."""
        if self._shared:
            self._was = (self.life, self.handled)
        self.life = max(self.life + 1, life)
        self.met = self.sent = self.handled = self._written = self._said = 0
        self._shared = False
        self.log.clear()
        self.inbox.clear()
        self._frames.clear()

    def _follow(self, life: int, greeting: Greeting) -> None:
        """The peer is in a later life: it has given up its end, or never was in this life."""
        opened = self.open or (greeting.was == self.life and greeting.was_handled > 0)
        log = tuple(self.log)
        errors = self.error or opened
        half = self.half and not opened
        self._begin(life)
        self._hold(log)
        self.error, self.half = errors, half

    def _replace(self, life: int) -> None:
        """The peer is another process than the one that this life is tied to."""
        opened = self.open or self.half
        log = tuple(self.log)
        failed = bool(log) and not self.error
        self._begin(life)
        self._hold(log)
        self._was = (0, 0)
        self.half = opened and not failed
        self.error = self.error or failed

    def _hold(self, log: tuple[bytes, ...]) -> None:
        """Messages of the last life: they are sent again, or lost when an error is heard of."""
        self.log.extend(log)
        self.sent = len(log)
