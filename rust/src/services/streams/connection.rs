//! Streams: a connection between two nodes is one interned word.
//!
//! A connection has two ends. Each end has a queue of messages to the other, is open or not, and
//! may have an error that its node has yet to hear of. The rules are those of the live world
//! (`model/world/connections.py`), written a second time.
//!
//! Invariant: while either end has an error, no message moves in either direction; so an end that
//! is open has none, and a queue behind a half-open end is empty.

use std::hash::{Hash, Hasher};

use crate::services::ids::QueueId;
use crate::services::layout::Layout;
use crate::services::lines::Line;
use crate::services::tables::Tables;
use crate::table::fingerprint::{CONNECTION, combine_iter, mix};
use crate::table::flat::pair;
use crate::table::rolling::Rolling;

/// A connection of two nodes, the lower one first. A node's stream to itself has one queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link<L = QueueId> {
    pub ends: [u32; 2],
    /// What each end has sent, and what is not yet delivered of it.
    pub queues: [L; 2],
    pub open: [bool; 2],
    /// It is gone, and the node at this end has yet to hear of it.
    pub error: [bool; 2],
}

/// A connection that is not blank; the blank one, of any two nodes, is 0.
#[derive(Clone, Copy)]
pub struct LinkInfo {
    pub link: Link,
    pub mix: u64,
}

impl Hash for Link {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(pair(self.ends[0], self.ends[1]));
        hasher.write_u64(pair(self.queues[0].number(), self.queues[1].number()));
        hasher.write_u8(self.flags());
    }
}

impl<L: Line> Link<L> {
    pub fn new(one: u32, other: u32) -> Self {
        Link {
            ends: [one.min(other), one.max(other)],
            queues: [L::EMPTY; 2],
            open: [false; 2],
            error: [false; 2],
        }
    }

    /// As if the two nodes had never spoken.
    #[inline(always)]
    pub fn is_blank(&self) -> bool {
        self.is_quiet() && self.open == [false; 2] && self.error == [false; 2]
    }

    /// Whether no message is under way.
    #[inline(always)]
    pub fn is_quiet(&self) -> bool {
        self.queues == [L::EMPTY; 2]
    }

    /// Which end `node` is.
    #[inline(always)]
    pub fn end(&self, node: u32) -> usize {
        usize::from(self.ends[0] != node)
    }

    #[inline(always)]
    pub fn is_loop(&self) -> bool {
        self.ends[0] == self.ends[1]
    }

    #[inline(always)]
    pub fn flags(&self) -> u8 {
        let bit = |flag: bool, at: u8| u8::from(flag) << at;
        let open = bit(self.open[0], 0) | bit(self.open[1], 1);
        open | bit(self.error[0], 2) | bit(self.error[1], 3)
    }

    /// The connection with these ends, queues and flags.
    #[inline(always)]
    pub fn of(ends: [u32; 2], queues: [L; 2], flags: u8) -> Self {
        let bit = |at: u8| flags >> at & 1 == 1;
        Link {
            ends,
            queues,
            open: [bit(0), bit(1)],
            error: [bit(2), bit(3)],
        }
    }

    /// The same with other queues.
    #[inline(always)]
    pub fn with<M: Line>(&self, queues: [M; 2]) -> Link<M> {
        Link::of(self.ends, queues, self.flags())
    }

    /// The node at this end sends a message: then its queue is `longer`.
    #[inline(always)]
    pub fn push(&mut self, end: usize, longer: impl FnOnce(L) -> L) {
        if self.open[end] && !self.open[1 - end] {
            self.open[end] = false;
            self.error[end] = true;
            return; // what was sent has turned into the error
        }
        self.queues[end] = longer(self.queues[end]);
    }

    /// The other end takes the oldest message of this end: then its queue is `rest`.
    #[inline(always)]
    pub fn take(&mut self, end: usize, rest: impl FnOnce(L) -> L) {
        self.queues[end] = rest(self.queues[end]);
        self.open = [!self.is_loop(); 2];
    }

    /// The node at this end hears that the connection is gone: the end is as if never used. The
    /// error that the other end has stays.
    #[inline(always)]
    pub fn hear(&mut self, end: usize) {
        self.queues[end] = L::EMPTY;
        self.open[end] = false;
        self.error[end] = false;
    }

    /// The node at this end gives the connection up: it closes it, crashes or is reset.
    pub fn close(&mut self, end: usize) {
        if self.open == [true; 2] {
            self.hear(1 - end);
            self.error[1 - end] = true;
        }
        self.hear(end);
    }

    /// The node at this end is reset, and the other end is not told.
    pub fn vanish(&mut self, end: usize) {
        if self.open == [true; 2] {
            self.queues[1 - end] = L::EMPTY;
        }
        self.hear(end);
    }

    /// The connection breaks.
    pub fn cut(&mut self) {
        self.hear(0);
        self.hear(1);
        self.error = [true; 2];
    }

    /// The idle connection is closed at both ends.
    pub fn part(&mut self) {
        self.open = [false; 2];
    }
}

impl Link<Rolling> {
    /// What the connection adds to a fingerprint.
    #[inline(always)]
    pub fn share(&self) -> u64 {
        if self.is_blank() {
            return 0;
        }
        let place = Layout::slot(self.ends[0], self.ends[1]) as u64;
        let queues = self.queues.map(Rolling::share);
        let slot = place << 4 | u64::from(self.flags());
        mix(CONNECTION, slot, combine_iter(queues))
    }
}

impl Tables {
    /// The id of a connection; 0 stands for every blank one.
    pub fn link(&mut self, link: Link) -> u32 {
        if link.is_blank() {
            return 0;
        }
        if let Some(&id) = self.link_ids.get(&link) {
            return id;
        }
        let id = self.links.len() as u32;
        let queues = link.queues.map(|queue| self.queues.get(queue).rolling());
        let mix = link.with(queues).share();
        self.links.push(LinkInfo { link, mix });
        self.link_ids.insert(link, id);
        id
    }

    /// The connection of two nodes that stands in a state as `word`.
    pub fn linked(&self, word: u32, (one, other): (u32, u32)) -> Link {
        match word {
            0 => Link::new(one, other),
            word => self.links[word as usize].link,
        }
    }
}
