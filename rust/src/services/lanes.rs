//! Lanes: which way a message takes, where the network has some.
//!
//! A message with a lane is part of a stream: all that one node sends to another in that lane keeps
//! its order, and nothing of it is lost or repeated. One without is a datagram, alone in its queue.
//! Python says once per message which lane it takes.
//!
//! Invariant: messages of one channel, and only these, have one `channel` and one `key`. On other
//! networks there are no lanes at all, and nobody looks for them.

use pyo3::prelude::*;

use crate::services::context::Shared;
use crate::services::ids::EnvelopeId;
use crate::services::layout::Network;
use crate::services::mirror::Flight;
use crate::services::tables::Tables;
use crate::table::fingerprint::{CHANNEL, combine_iter, mix};
use crate::table::flat::pair;

/// Where one message travels.
#[derive(Clone, Copy)]
pub struct Lane {
    /// The value that Python calls the lane; none for a datagram.
    pub name: Option<u32>,
    /// The first message that was met in the same channel; of a datagram it is itself.
    pub channel: EnvelopeId,
    /// 64 bits that stand for the channel in every process.
    pub key: u64,
}

impl Tables {
    /// Note that `envelope`, the newest, takes the lane with this name.
    pub fn enter_lane(&mut self, envelope: EnvelopeId, name: Option<u32>) {
        let info = self.envelopes[envelope.index()];
        let (mut channel, mut key) = (envelope, info.mix);
        self.envelopes[envelope.index()].alone = name.is_none();
        if let Some(name) = name {
            let ends = (info.source, info.to, name);
            channel = *self.lane_ids.entry(ends).or_insert(envelope);
            let ends = [u64::from(info.source), u64::from(info.to)];
            key = mix(CHANNEL, combine_iter(ends), self.values.get(name).digest);
            self.envelopes[envelope.index()].reliable = true;
        }
        self.lanes.push(Lane { name, channel, key });
    }

    pub fn flight(&self) -> Flight<'_> {
        Flight {
            envelopes: &self.envelopes,
            lanes: &self.lanes,
            nodes: self.queues.nodes(),
            queues: self.queues.infos(),
            links: &self.links,
            classes: &self.classes,
        }
    }
}

impl Flight<'_> {
    /// A number for the channel of a message. Messages that nothing keeps in order have their own.
    #[inline(always)]
    pub fn channel(&self, network: Network, envelope: EnvelopeId) -> u64 {
        match network {
            Network::Ordered => {
                let info = self.envelopes[envelope.index()];
                pair(info.source, info.to)
            }
            Network::Lanes => u64::from(self.lanes[envelope.index()].channel),
            Network::Unordered | Network::Duplicating => u64::from(envelope),
        }
    }

    /// Which of the queues `words` a message that is sent joins; none if it begins a new one.
    #[inline(always)]
    pub fn place(&self, network: Network, words: &[u32], send: EnvelopeId) -> Option<usize> {
        if self.envelopes[send.index()].alone {
            return None;
        }
        let channel = self.channel(network, send);
        let head = |queue: u32| self.queues[queue as usize].head;
        let mut channels = words
            .iter()
            .map(|&queue| self.channel(network, head(queue)));
        channels.position(|other| other == channel)
    }

    /// 64 bits for the channel of a message, the same in every process.
    #[inline(always)]
    pub fn channel_key(&self, network: Network, envelope: EnvelopeId) -> u64 {
        let info = self.envelopes[envelope.index()];
        match network {
            Network::Ordered => mix(CHANNEL, u64::from(info.source), u64::from(info.to)),
            Network::Lanes => self.lanes[envelope.index()].key,
            Network::Unordered | Network::Duplicating => info.mix,
        }
    }

    /// Sends of one node in an order that the world cannot tell from theirs.
    pub fn sort_sends(&self, network: Network, sends: &mut [EnvelopeId]) {
        // The sort is stable: each channel keeps its order.
        sends.sort_by_key(|&envelope| self.channel(network, envelope));
    }
}

impl Shared {
    /// The name of the lane that `message` takes; none for a datagram, and on other networks.
    pub fn lane(&self, py: Python<'_>, message: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
        if self.layout.network != Network::Lanes {
            return Ok(None);
        }
        let lane = self.bridge.bind(py).call_method1("lane", (message,))?;
        match lane.is_none() {
            true => Ok(None),
            false => self.intern_value(py, &lane).map(Some),
        }
    }
}
