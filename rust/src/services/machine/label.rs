//! What a step may do, whatever its choice, as far as other nodes can tell.

use std::sync::Arc;

use crate::services::ids::EnvelopeId;
use crate::services::tables::NOT_A_FAULT;

/// Why a node steps: a message, news of a connection, something of its own, or one of the faults in
/// this set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cause {
    Message(EnvelopeId),
    /// A message of a stream.
    Received(EnvelopeId),
    /// That a connection is gone.
    Heard(EnvelopeId),
    Own,
    Faults(u32),
}

impl Cause {
    pub fn message(self) -> Option<EnvelopeId> {
        match self {
            Cause::Message(envelope) => Some(envelope),
            _ => None,
        }
    }

    /// Whether an effect with this fault, or `NOT_A_FAULT`, is one of its outcomes.
    pub fn includes(self, fault: u8) -> bool {
        match self {
            Cause::Faults(some) => fault != NOT_A_FAULT && some >> fault & 1 == 1,
            _ => fault == NOT_A_FAULT,
        }
    }
}

pub const NOTHING: (u32, u32) = (u32::MAX, 0);

/// What does not depend on when the step happens, only on its node's local state.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct Footprint {
    /// Messages, channels or queues of streams, and how many copies or messages at most.
    pub sends: Vec<(u32, u32)>,
    /// Bits of the properties that may notice.
    pub visible: u64,
    pub records: bool,
    /// Connections that it may use in any way.
    pub uses: Vec<u32>,
    /// Those of them whose whole state it may read or change.
    pub claims: Arc<[u32]>,
    /// What it does to its node; `None` if that is not known.
    pub touch: Option<Touch>,
}

/// Which values of its node a delivery may read or set, a bit for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Touch {
    pub touches: u64,
    /// Those that it changes.
    pub writes: u64,
    /// Which things that may be possible or not depend on any of these.
    pub decides: u64,
}

impl Touch {
    fn apart(self, other: Touch) -> bool {
        self.writes & other.touches == 0
            && other.writes & self.touches == 0
            && self.decides & other.decides == 0
    }
}

impl Footprint {
    /// Whether two deliveries at one node may change places as far as the node can tell.
    fn apart(&self, other: &Footprint) -> bool {
        let (Some(mine), Some(its)) = (self.touch, other.touch) else {
            return false;
        };
        let sends = |key: u32| other.sends.iter().any(|(its, _)| *its == key);
        mine.apart(its) && !self.sends.iter().any(|(key, _)| sends(*key))
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    pub node: u32,
    pub fault: bool,
    /// The message, channel or queue it takes from, and the how manieth it takes, from 1.
    pub takes: (u32, u32),
    pub footprint: Arc<Footprint>,
    /// Per entry of the footprint's sends: how many were sent before.
    pub sent: Arc<[u32]>,
    /// Connections of which it reads or changes more than the ends of queues.
    pub claims: Arc<[u32]>,
}

impl Label {
    /// Whether this step may have sent what `other` takes.
    fn feeds(&self, other: &Label) -> bool {
        let (taken, number) = other.takes;
        let sends = self.footprint.sends.iter().zip(self.sent.iter());
        let mut of = sends.filter(|((key, _), _)| *key == taken);
        of.any(|((_, most), before)| *before < number && number <= before + most)
    }

    /// Whether this step claims a connection that `other` uses.
    fn bars(&self, other: &Label) -> bool {
        let uses = &other.footprint.uses;
        self.claims.iter().any(|slot| uses.contains(slot))
    }
}

/// The node of a step that happens at none.
pub const NO_NODE: u32 = u32::MAX;

pub fn dependent(one: &Label, other: &Label) -> bool {
    let (mine, its) = (&one.footprint, &other.footprint);
    (one.node == other.node && !mine.apart(its))
        || (one.fault && other.fault)
        || mine.visible & its.visible != 0
        || (mine.records && its.records)
        || one.feeds(other)
        || other.feeds(one)
        || one.bars(other)
        || other.bars(one)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Footprint, Label, NOTHING, dependent};

    fn label(node: u32, footprint: Footprint, takes: (u32, u32)) -> Label {
        let sent = footprint.sends.iter().map(|_| 1).collect();
        let (fault, footprint) = (false, Arc::new(footprint));
        let claims = footprint.claims.clone();
        Label {
            node,
            fault,
            takes,
            footprint,
            sent,
            claims,
        }
    }

    fn seen(node: u32, visible: u64, records: bool) -> Label {
        let footprint = Footprint {
            visible,
            records,
            ..Footprint::default()
        };
        label(node, footprint, NOTHING)
    }

    fn both_ways(one: &Label, other: &Label) -> bool {
        assert_eq!(dependent(one, other), dependent(other, one));
        dependent(one, other)
    }

    #[test]
    fn steps_of_two_nodes_depend_on_each_other_only_where_both_are_noticed() {
        assert!(!both_ways(&seen(0, 0b01, false), &seen(1, 0b10, false)));
        assert!(both_ways(&seen(0, 0b11, false), &seen(1, 0b10, false)));
        assert!(!both_ways(&seen(0, 0, true), &seen(1, 0, false)));
        assert!(both_ways(&seen(0, 0, true), &seen(1, 0, true)));
        assert!(both_ways(&seen(0, 0, false), &seen(0, 0, false)));
        let fault = Label {
            fault: true,
            ..seen(0, 0, false)
        };
        assert!(both_ways(&fault, &seen(0, 0, false)));
        assert!(!both_ways(&fault, &seen(1, 0, false)));
        let elsewhere = Label {
            node: 1,
            ..fault.clone()
        };
        assert!(both_ways(&fault, &elsewhere));
    }

    #[test]
    fn a_step_depends_on_the_one_that_sent_the_copy_it_takes() {
        let sends = |most| Footprint {
            sends: vec![(5, most)],
            ..Footprint::default()
        };
        // One copy was sent before: these are the second and the third.
        let sender = label(0, sends(2), NOTHING);
        let takes = |key, number| label(1, Footprint::default(), (key, number));
        let fed = [1, 2, 3, 4].map(|number| both_ways(&sender, &takes(5, number)));
        assert_eq!(fed, [false, true, true, false]);
        assert!(!both_ways(&sender, &takes(6, 2)));
    }
}
