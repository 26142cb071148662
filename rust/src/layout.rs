//! Where everything stands in a state vector.
//!
//! One word per node (its local state), one per observer, one per limited fault budget, then the
//! network: a sorted bag of words, envelopes on an unordered net, whole channels on an ordered one.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Network {
    /// A multiset: each copy is delivered once.
    Unordered,
    /// A set that keeps what it delivers.
    Duplicating,
    /// First in, first out, per ordered pair of nodes.
    Ordered,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Budget {
    Off,
    Unlimited,
    /// What is left stands in this word of the state.
    Word(usize),
}

/// Faults, in the order of `Layout::budgets` and of the names shown to people.
pub const FAULTS: [&str; 4] = ["crash", "restart", "drop", "duplicate"];
pub const DROP: usize = 2;
pub const DUPLICATE: usize = 3;

pub struct Layout {
    pub nodes: usize,
    pub observers: usize,
    pub budgets: [Budget; 4],
    /// What each limited budget starts with.
    pub granted: [u32; 4],
    /// Number of words before the network.
    pub fixed: usize,
    pub network: Network,
    pub skip_noops: bool,
}

impl Layout {
    /// `granted`: -1 for unlimited, 0 for off.
    pub fn new(
        nodes: usize,
        observers: usize,
        granted: [i64; 4],
        network: Network,
        skip_noops: bool,
    ) -> Self {
        let mut layout = Layout {
            nodes,
            observers,
            budgets: [Budget::Off; 4],
            granted: [0; 4],
            fixed: nodes + observers,
            network,
            skip_noops,
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
        layout
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
