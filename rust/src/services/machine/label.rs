//! What a step may do, whatever its choice, as far as other nodes can tell.

use std::sync::Arc;

pub const NOTHING: (u32, u32) = (u32::MAX, 0);

/// What does not depend on when the step happens, only on its node's local state.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct Footprint {
    /// Messages or channels, and how many copies or messages at most.
    pub sends: Vec<(u32, u32)>,
    /// Bits of the properties that may notice.
    pub visible: u64,
    pub records: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    pub node: u32,
    pub fault: bool,
    /// The message or channel it takes from, and the how manieth it takes, from 1.
    pub takes: (u32, u32),
    pub footprint: Arc<Footprint>,
    /// Per entry of the footprint's sends: how many were sent before.
    pub sent: Arc<[u32]>,
}

impl Label {
    /// Whether this step may have sent what `other` takes.
    fn feeds(&self, other: &Label) -> bool {
        let (taken, number) = other.takes;
        let sends = self.footprint.sends.iter().zip(self.sent.iter());
        let mut of = sends.filter(|((key, _), _)| *key == taken);
        of.any(|((_, most), before)| *before < number && number <= before + most)
    }
}

pub fn dependent(one: &Label, other: &Label) -> bool {
    let (mine, its) = (&one.footprint, &other.footprint);
    one.node == other.node
        || one.fault
        || other.fault
        || mine.visible & its.visible != 0
        || (mine.records && its.records)
        || one.feeds(other)
        || other.feeds(one)
}
