//! What happens to queues, for every candidate and for every new state.
//!
//! A candidate needs the fingerprint it leads to, so it follows digests and interns nothing; most
//! candidates lead to states that are known, or are never taken. A new state needs words, so it
//! follows interned queues. The rules are the same, and written once, for both kinds of a `Line`.

use crate::services::channels::Channel;
use crate::services::expand::Expander;
use crate::services::ids::{EnvelopeId, QueueId};
use crate::services::mirror::Mirror;
use crate::services::streams::connection::Link;
use crate::table::flat::pair;
use crate::table::rolling::Rolling;

/// A queue, as an id or as a digest.
pub trait Line: Copy + PartialEq {
    const EMPTY: Self;

    fn of(mirror: &Mirror, queue: QueueId) -> Self;

    /// With this message at its end.
    fn pushed(self, expander: &mut Expander, message: EnvelopeId) -> Self;

    /// Without its head, which is this.
    fn popped(self, expander: &mut Expander, head: EnvelopeId) -> Self;

    /// With its head, which is this, standing there twice.
    fn doubled(self, expander: &mut Expander, head: EnvelopeId) -> Self;
}

impl Line for Rolling {
    const EMPTY: Self = Rolling { sum: 0, len: 0 };

    #[inline(always)]
    fn of(mirror: &Mirror, queue: QueueId) -> Self {
        mirror.queues[queue.index()].rolling()
    }

    #[inline(always)]
    fn pushed(self, expander: &mut Expander, message: EnvelopeId) -> Self {
        Rolling::pushed(self, expander.mirror.envelopes[message.index()].mix)
    }

    #[inline(always)]
    fn popped(self, expander: &mut Expander, head: EnvelopeId) -> Self {
        Rolling::popped(self, expander.mirror.envelopes[head.index()].mix)
    }

    #[inline(always)]
    fn doubled(self, expander: &mut Expander, head: EnvelopeId) -> Self {
        Rolling::doubled(self, expander.mirror.envelopes[head.index()].mix)
    }
}

// What stands in the place of a message in the key of a change.
const POP: u32 = u32::MAX;
const DOUBLE: u32 = u32::MAX - 1;

impl Line for QueueId {
    const EMPTY: Self = QueueId::EMPTY;

    fn of(_: &Mirror, queue: QueueId) -> Self {
        queue
    }

    fn pushed(self, expander: &mut Expander, message: EnvelopeId) -> Self {
        expander.changed(self, message.number())
    }

    fn popped(self, expander: &mut Expander, _: EnvelopeId) -> Self {
        expander.changed(self, POP)
    }

    fn doubled(self, expander: &mut Expander, _: EnvelopeId) -> Self {
        expander.changed(self, DOUBLE)
    }
}

impl Expander {
    fn changed(&mut self, queue: QueueId, how: u32) -> QueueId {
        let key = pair(queue.number(), how);
        if let Some(known) = self.changes.get(&key) {
            return known;
        }
        let after = self.learn(|tables| match how {
            POP => tables.popped(queue),
            DOUBLE => tables.doubled(queue),
            message => tables.pushed(queue, EnvelopeId::of(message)),
        });
        self.changes.insert(key, after);
        after
    }
}

/// Room for the channels and connections that one event changes.
pub struct Changes<L> {
    pub channels: Vec<Channel<L>>,
    /// Each with its place among the connections of a state.
    pub links: Vec<(usize, Link<L>)>,
}

impl<L> Default for Changes<L> {
    fn default() -> Self {
        Changes {
            channels: Vec::new(),
            links: Vec::new(),
        }
    }
}
