//! Ids of what the tables hold: each kind is a type of its own, so that none stands for another.
//!
//! A word of a state is the number of one of these; which, its place tells (`layout.rs`). Only
//! there, and in packed keys, does a number become an id again by `of`.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(transparent)]
        pub struct $name(u32);

        impl $name {
            #[inline(always)]
            pub fn of(number: u32) -> Self {
                $name(number)
            }

            #[inline(always)]
            pub fn number(self) -> u32 {
                self.0
            }

            #[inline(always)]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<$name> for u64 {
            fn from(id: $name) -> u64 {
                u64::from(id.0)
            }
        }
    )*};
}

ids! {
    /// An effect, as one thread's `Expander` numbers them.
    EffectId;
    /// A local state of one node.
    LocalId;
    /// A message with its sender and receiver.
    EnvelopeId;
    /// Messages in the order in which they arrive.
    QueueId;
    /// What a node does by itself: a timer, an action, a call, a write, a fault of its own.
    StimulusId;
}

impl EffectId {
    /// No handler runs.
    pub const NONE: EffectId = EffectId(u32::MAX);
}

impl QueueId {
    /// Nothing is under way.
    pub const EMPTY: QueueId = QueueId(0);
}
