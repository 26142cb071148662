//! Which execution is next: two natural orders, and faults before messages, in turns.
//!
//! No order is best for all bugs. So those that wait are kept in lanes, and lanes take turns: what
//! one lane finds after n executions, all find after a small multiple of n. A lane belongs to a
//! natural order, and has either executions in which only faults were moved, or the others.
//!
//! In a lane few moves come first. Of as many, first come those faults that happen to a node in a
//! role in which it had none.

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
    pub start: usize,
    pub steps: Box<[EventId]>,
    pub order: Order,
    /// Whether faults alone were moved.
    pub pure: bool,
    pub cost: u32,
    /// Of the fault that is moved.
    pub key: Option<Box<[u32]>>,
    /// The fingerprint of the state that the beginning leads to.
    pub ends: Option<u64>,
}

type Rank = (u32, bool, u64);

#[derive(Default)]
pub struct Lanes {
    waiting: [BTreeMap<Rank, Item>; 4],
    number: u64,
    turn: usize,
}

fn turns() -> Vec<usize> {
    let text = std::env::var("SEM_TURNS").unwrap_or("001123".into());
    text.bytes().map(|b| (b - b'0') as usize).collect()
}

impl Lanes {
    pub fn begin(&mut self, start: usize) {
        for order in [Order::Oldest, Order::Newest] {
            self.push(
                Item {
                    start,
                    steps: Box::default(),
                    order,
                    pure: true,
                    cost: 0,
                    key: None,
                    ends: None,
                },
                false,
            );
        }
    }

    pub fn push(&mut self, item: Item, known: bool) {
        let lane = usize::from(item.order == Order::Newest) + if item.pure { 0 } else { 2 };
        self.number += 1;
        let rank = (item.cost, known, self.number);
        self.waiting[lane].insert(rank, item);
    }

    pub fn next(&mut self, mut is_open: impl FnMut(&Item) -> bool) -> Option<Item> {
        let turns = turns();
        while self.waiting.iter().any(|lane| !lane.is_empty()) {
            let mut lane = turns[self.turn % turns.len()];
            self.turn += 1;
            if self.waiting[lane].is_empty() { lane ^= 2; }
            while let Some((_, item)) = self.waiting[lane].pop_first() {
                if is_open(&item) {
                    return Some(item);
                }
            }
        }
        None
    }
}
