//! Which execution is next: two natural orders, faults and messages, in turns.
//!
//! No order is best for all bugs. So what waits is kept in lanes, and these take turns: what one
//! lane alone finds after n executions, all find after a small multiple of n. A lane belongs to a
//! natural order, and has either executions in which faults alone were moved, or the others.
//! Faults have two turns of three, as SAMC's queue takes them first.
//!
//! In a lane few moves come first. Of as many, in every other turn, those faults are preferred that
//! happen to a node in a role in which it had none; else what came first is first.

use std::collections::BTreeMap;

use crate::search::EventId;

/// How an execution goes on where nothing is prescribed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// What has waited longest is next.
    Oldest,
    /// What became possible last is next.
    Newest,
}

/// The beginning of an execution that is still to be run.
#[derive(Clone)]
pub struct Item {
    /// Of the initial state.
    pub start: usize,
    pub steps: Box<[EventId]>,
    pub order: Order,
    /// Whether faults alone were moved.
    pub pure: bool,
    /// What its moves cost together.
    pub cost: u32,
    /// Of the fault that is moved, if it is a crash or a restart.
    pub key: Option<Box<[u32]>>,
    /// The fingerprint of a state behind it: there is no use in it once that was met.
    pub ends: Option<u64>,
}

/// The cost, whether a fault of its role was queued before, and when it came.
type Rank = (u32, bool, u64);

/// Faults of either order, then all else of either order.
const LANES: usize = 4;
const TURNS: [usize; 6] = [0, 0, 1, 1, 2, 3];

#[derive(Default)]
pub struct Lanes {
    waiting: [BTreeMap<Rank, Item>; LANES],
    taken: [u64; LANES],
    number: u64,
    turn: usize,
}

impl Lanes {
    /// Let executions begin in an initial state.
    pub fn begin(&mut self, start: usize) {
        for order in [Order::Oldest, Order::Newest] {
            let root = Item {
                start,
                steps: Box::default(),
                order,
                pure: true,
                cost: 0,
                key: None,
                ends: None,
            };
            self.push(root, false);
        }
    }

    /// Let an execution wait; `known`: a fault of its role was queued before.
    pub fn push(&mut self, item: Item, known: bool) {
        let lane = usize::from(item.order == Order::Newest) + if item.pure { 0 } else { 2 };
        self.number += 1;
        let rank = (item.cost, known, self.number);
        self.waiting[lane].insert(rank, item);
    }

    /// The next execution that is still worth it.
    pub fn next(&mut self, is_open: impl Fn(&Item) -> bool) -> Option<Item> {
        while self.waiting.iter().any(|lane| !lane.is_empty()) {
            let lane = TURNS[self.turn % TURNS.len()];
            self.turn += 1;
            self.taken[lane] += 1;
            while let Some(item) = self.pop(lane) {
                if is_open(&item) {
                    return Some(item);
                }
            }
        }
        None
    }

    fn pop(&mut self, lane: usize) -> Option<Item> {
        let waiting = &mut self.waiting[lane];
        let mut rank = *waiting.first_key_value()?.0;
        if self.taken[lane].is_multiple_of(2) && !rank.1 {
            let known = (rank.0, true, 0)..=(rank.0, true, u64::MAX);
            let other = waiting.range(known).next().map(|(rank, _)| *rank);
            rank = other.filter(|other| other.2 < rank.2).unwrap_or(rank);
        }
        waiting.remove(&rank)
    }
}
