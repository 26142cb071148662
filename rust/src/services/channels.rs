//! What an event does to the channels of an ordered network, or of one with lanes.

use crate::services::effects::EffectId;
use crate::services::expand::{Candidate, EventKind, Expander};
use crate::services::ids::{EnvelopeId, QueueId};
use crate::services::layout::Network;
use crate::services::lines::Line;
use crate::table::rolling::Rolling;

/// A channel that an event changes.
pub struct Channel<L> {
    /// Its place in the network of the state; none if it is new there.
    place: Option<usize>,
    /// See `Flight::channel`.
    number: u64,
    line: L,
    /// The datagram that it is, if it is one.
    alone: Option<EnvelopeId>,
}

impl Expander {
    /// What the change of the channels adds to the fingerprint.
    pub fn channels_delta(&mut self, state: &[u32], candidate: &Candidate) -> u64 {
        if candidate.what != EventKind::Duplicate && self.sends_of(candidate.effect).is_empty() {
            if !candidate.what.is_mail() {
                return 0;
            }
            let queue = &self.mirror.queues[state[candidate.word as usize] as usize];
            return queue.rest.wrapping_sub(queue.mix);
        }
        let before = &state[self.shared.layout.fixed..];
        let mut channels = std::mem::take(&mut self.rolled.channels);
        self.channels_after(before, candidate, &mut channels);
        let mirror = &self.mirror;
        let delta = channels.iter().fold(0u64, |delta, channel| {
            let was = channel
                .place
                .map_or(0, |place| mirror.queues[before[place] as usize].mix);
            let now = match channel.alone {
                Some(message) => mirror.envelopes[message.index()].mix,
                None if channel.line == Rolling::EMPTY => 0,
                None => channel.line.share(),
            };
            delta.wrapping_add(now).wrapping_sub(was)
        });
        self.rolled.channels = channels;
        delta
    }

    /// Write the channels after `candidate` to the end of `out`, in any order.
    pub fn build_channels(&mut self, before: &[u32], candidate: &Candidate, out: &mut Vec<u32>) {
        let mut channels: Vec<Channel<QueueId>> = std::mem::take(&mut self.built.channels);
        self.channels_after(before, candidate, &mut channels);
        let start = out.len();
        out.extend_from_slice(before);
        for channel in &channels {
            let word = channel.line.number();
            match channel.place {
                Some(place) => out[start + place] = word,
                None => out.push(word),
            }
        }
        self.built.channels = channels;
        let mut kept = start;
        for at in start..out.len() {
            if out[at] != QueueId::EMPTY.number() {
                out[kept] = out[at];
                kept += 1;
            }
        }
        out.truncate(kept);
    }

    /// Write the channels that `candidate` changes, as they are then, to `channels`.
    fn channels_after<L: Line>(
        &mut self,
        before: &[u32],
        candidate: &Candidate,
        channels: &mut Vec<Channel<L>>,
    ) {
        channels.clear();
        if candidate.what.is_mail() {
            let place = candidate.word as usize - self.shared.layout.fixed;
            channels.push(self.channel_of_mail(before, place, candidate.what));
        }
        if candidate.effect == EffectId::NONE {
            return;
        }
        let (start, count) = self.effects[candidate.effect].sends;
        for index in start..start + count {
            self.channel_of_send(before, self.sends[index as usize], channels);
        }
    }

    /// The channel at `place` when its head was delivered, lost or repeated.
    #[inline(always)]
    fn channel_of_mail<L: Line>(
        &mut self,
        before: &[u32],
        place: usize,
        what: EventKind,
    ) -> Channel<L> {
        let network = self.shared.layout.network;
        let queue = QueueId::of(before[place]);
        let head = self.mirror.queues[queue.index()].head;
        let line = L::of(&self.mirror, queue);
        let (place, line, alone) = match (what, network) {
            // Of what keeps an order in a lane nothing is repeated: this is a datagram.
            (EventKind::Duplicate, Network::Lanes) => (None, line, Some(head)),
            (EventKind::Duplicate, _) => (Some(place), line.doubled(self, head), None),
            _ => (Some(place), line.popped(self, head), None),
        };
        Channel {
            place,
            number: self.mirror.flight().channel(network, head),
            line,
            alone,
        }
    }

    /// Let `send` join its channel.
    #[inline(always)]
    fn channel_of_send<L: Line>(
        &mut self,
        before: &[u32],
        send: EnvelopeId,
        channels: &mut Vec<Channel<L>>,
    ) {
        let network = self.shared.layout.network;
        let flight = self.mirror.flight();
        let number = flight.channel(network, send);
        let alone = flight.envelopes[send.index()].alone;
        let mut known = channels.iter().filter(|_| !alone);
        if let Some(at) = known.position(|channel| channel.number == number) {
            channels[at].line = channels[at].line.pushed(self, send);
            return;
        }
        let place = flight.place(network, before, send);
        let line = match place {
            Some(place) => L::of(&self.mirror, QueueId::of(before[place])),
            None => L::EMPTY,
        };
        channels.push(Channel {
            place,
            number,
            line: line.pushed(self, send),
            alone: alone.then_some(send),
        });
    }
}
