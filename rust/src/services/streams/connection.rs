//! Streams: a connection between two nodes is one interned word, and a table of what happens to it.
//!
//! A connection has two ends. Each end has a queue of messages to the other, is open or not, and
//! may have an error that its node has yet to hear of. The rules are those of the live world
//! (`model/world/connections.py`), written a second time.
//!
//! Invariant: while either end has an error, no message moves in either direction; so an end that
//! is open has none, and a queue behind a half-open end is empty.

use std::sync::Arc;

use crate::services::ids::EnvelopeId;

/// What can be done to a connection. Packed into a word, with its argument, it is a memo key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// One end queues this envelope.
    Push(EnvelopeId),
    /// The other end takes the oldest message of this end.
    Take(usize),
    /// The node at this end hears that the connection is gone.
    Hear(usize),
    /// The node at this end gives the connection up: it closes it, crashes or is reset.
    Close(usize),
    /// The node at this end is reset, and the other end is not told.
    Vanish(usize),
    /// The connection breaks.
    Cut,
    /// The idle connection is closed at both ends.
    Part,
}

impl Op {
    pub fn code(self) -> u32 {
        let (kind, argument) = match self {
            Op::Push(envelope) => (0, envelope.number()),
            Op::Take(end) => (1, end as u32),
            Op::Hear(end) => (2, end as u32),
            Op::Close(end) => (3, end as u32),
            Op::Vanish(end) => (4, end as u32),
            Op::Cut => (5, 0),
            Op::Part => (6, 0),
        };
        assert!(argument < 1 << 28, "too many messages for streams");
        kind << 28 | argument
    }
}

/// A connection of two nodes, the lower one first. A node's stream to itself has one queue.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Link {
    pub ends: [u32; 2],
    /// Envelopes sent by each end and not yet delivered, oldest first.
    pub queues: [Arc<[EnvelopeId]>; 2],
    pub open: [bool; 2],
    /// It is gone, and the node at this end has yet to hear of it.
    pub error: [bool; 2],
}

impl Link {
    pub fn new(one: u32, other: u32) -> Self {
        Link {
            ends: [one.min(other), one.max(other)],
            queues: [Arc::new([]), Arc::new([])],
            open: [false; 2],
            error: [false; 2],
        }
    }

    /// As if the two nodes had never spoken.
    pub fn is_blank(&self) -> bool {
        let quiet = self.queues.iter().all(|queue| queue.is_empty());
        quiet && self.open == [false; 2] && self.error == [false; 2]
    }

    /// Which end `node` is.
    pub fn end(&self, node: u32) -> usize {
        usize::from(self.ends[0] != node)
    }

    pub fn is_loop(&self) -> bool {
        self.ends[0] == self.ends[1]
    }

    pub fn flags(&self) -> u64 {
        let bits = [self.open, self.error].concat();
        let sum = bits.iter().rev();
        sum.fold(0, |sum, &bit| sum << 1 | u64::from(bit))
    }

    /// The connection with these ends, queues and flags.
    pub fn of(ends: [u32; 2], queues: [Arc<[EnvelopeId]>; 2], flags: u64) -> Self {
        let bit = |at: u64| flags >> at & 1 == 1;
        Link {
            ends,
            queues,
            open: [bit(0), bit(1)],
            error: [bit(2), bit(3)],
        }
    }

    /// The connection after `op`; `source` is the sender of what is pushed.
    pub fn after(&self, op: Op, source: u32) -> Link {
        let mut link = self.clone();
        match op {
            Op::Push(envelope) => link.push(self.end(source), envelope),
            Op::Take(from) => {
                link.queues[from] = self.queues[from][1..].into();
                link.open = [!self.is_loop(); 2];
            }
            Op::Hear(end) => link.forget(end),
            Op::Close(end) => {
                if self.open == [true; 2] {
                    link.forget(1 - end);
                    link.error[1 - end] = true;
                }
                link.forget(end);
            }
            Op::Vanish(end) => {
                if self.open == [true; 2] {
                    link.queues[1 - end] = Arc::new([]);
                }
                link.forget(end);
            }
            Op::Cut => {
                link.forget(0);
                link.forget(1);
                link.error = [true; 2];
            }
            Op::Part => link.open = [false; 2],
        }
        link
    }

    fn push(&mut self, end: usize, envelope: EnvelopeId) {
        if self.open[end] && !self.open[1 - end] {
            self.open[end] = false;
            self.error[end] = true;
            return; // what was sent has turned into the error
        }
        let longer = self.queues[end].iter().copied().chain([envelope]);
        self.queues[end] = longer.collect();
    }

    /// This end is as if never used; the error that the other end has stays.
    fn forget(&mut self, end: usize) {
        self.queues[end] = Arc::new([]);
        self.open[end] = false;
        self.error[end] = false;
    }
}
