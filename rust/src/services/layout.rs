//! Where everything stands in a state vector.
//!
//! One word per node (its local state), one per observer, one per limited fault budget, one for the
//! partition in force if there may be any, one per pair of nodes if there are streams, then the
//! network: a sorted bag of words, envelopes on an unordered net, whole channels on an ordered one
//! and on one with lanes.

use pyo3::PyResult;
use pyo3::exceptions::PyValueError;

use crate::python::tables::FAULTS;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Network {
    /// A multiset: each copy is delivered once.
    Unordered,
    /// A set that keeps what it delivers.
    Duplicating,
    /// First in, first out, per ordered pair of nodes.
    Ordered,
    /// As `Ordered` in each lane between two nodes; a message without a lane is a queue of one.
    Lanes,
}

impl Network {
    pub fn named(name: &str) -> PyResult<Self> {
        match name {
            "unordered" => Ok(Network::Unordered),
            "duplicating" => Ok(Network::Duplicating),
            "ordered" => Ok(Network::Ordered),
            "lanes" => Ok(Network::Lanes),
            _ => Err(PyValueError::new_err(format!(
                "no network is called `{name}`"
            ))),
        }
    }

    /// Whether the words of a state's network are queues; else they are messages.
    #[inline(always)]
    pub fn is_queued(self) -> bool {
        matches!(self, Network::Ordered | Network::Lanes)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Budget {
    Off,
    Unlimited,
    /// What is left stands in this word of the state.
    Word(usize),
}

pub struct Layout {
    pub nodes: usize,
    pub observers: usize,
    pub budgets: [Budget; FAULTS.len()],
    /// What each limited budget starts with.
    pub granted: [u32; FAULTS.len()],
    /// The word that holds the number of the partition in force, 0 for none.
    pub partition: Option<usize>,
    /// Per partition, per pair (source times nodes plus receiver): whether it stands between them.
    pub severed: Vec<Vec<bool>>,
    /// The first word of the connections, one per pair of nodes; see `slot`.
    pub streams: Option<usize>,
    /// Number of words before the network.
    pub fixed: usize,
    pub network: Network,
    pub skip_noops: bool,
    /// In a timed system, the word that holds the clocks: that of the last observer.
    pub clocks: Option<usize>,
}

impl Layout {
    /// `granted`: -1 for unlimited, 0 for off.
    pub fn new(
        nodes: usize,
        observers: usize,
        granted: [i64; FAULTS.len()],
        (network, skip_noops): (Network, bool),
        severed: Vec<Vec<bool>>,
        streams: bool,
    ) -> Self {
        let mut layout = Layout {
            nodes,
            observers,
            budgets: [Budget::Off; FAULTS.len()],
            granted: [0; FAULTS.len()],
            partition: None,
            severed,
            streams: None,
            fixed: nodes + observers,
            network,
            skip_noops,
            clocks: None,
        };
        for (fault, &amount) in granted.iter().enumerate() {
            if amount < 0 {
                layout.budgets[fault] = Budget::Unlimited;
            } else if amount > 0 {
                layout.budgets[fault] = Budget::Word(layout.fixed);
                layout.granted[fault] = u32::try_from(amount).unwrap_or(u32::MAX);
                layout.fixed += 1;
            }
        }
        if !layout.severed.is_empty() {
            layout.partition = Some(layout.fixed);
            layout.fixed += 1;
        }
        if streams {
            layout.streams = Some(layout.fixed);
            layout.fixed += nodes * (nodes + 1) / 2;
        }
        layout
    }

    /// The place, among the connections, of the one between two nodes.
    #[inline(always)]
    pub fn slot(one: u32, other: u32) -> usize {
        let (low, high) = (one.min(other) as usize, one.max(other) as usize);
        high * (high + 1) / 2 + low
    }

    /// The connections of a state; none where there are no streams.
    #[inline(always)]
    pub fn links<'s>(&self, state: &'s [u32]) -> &'s [u32] {
        match self.streams {
            Some(first) => &state[first..self.fixed],
            None => &[],
        }
    }

    /// The number of the partition in force in `state`, 0 for none.
    pub fn split(&self, state: &[u32]) -> u32 {
        self.partition.map_or(0, |word| state[word])
    }

    /// Whether no partition stands between two nodes in `state`.
    #[inline(always)]
    pub fn joined(&self, state: &[u32], source: u32, to: u32) -> bool {
        let Some(word) = self.partition else {
            return true;
        };
        let number = state[word] as usize;
        number == 0 || !self.severed[number - 1][source as usize * self.nodes + to as usize]
    }

    /// Whether `fault` may still happen in `state`.
    #[inline(always)]
    pub fn allows(&self, state: &[u32], fault: usize) -> bool {
        match self.budgets[fault] {
            Budget::Off => false,
            Budget::Unlimited => true,
            Budget::Word(word) => state[word] > 0,
        }
    }
}
