//! Which execution is next: natural orders, faults and messages, in turns.
//!
//! No order is best for all bugs. So what waits is kept in lanes, and these take turns: what one
//! lane alone finds after n executions, all find after a small multiple of n. A lane belongs to a
//! natural order, and has either executions in which faults alone were moved, or the others. One
//! lane more has all those in which a node is slow, whatever was moved.
//!
//! In a lane few moves come first. Of as many, in some turns, those faults are preferred that
//! happen to a node in a role in which it had none; else what came first is first. Of slow nodes,
//! a kind of move comes the later the more often one of its kind was run.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

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
    /// A node of which nothing happens where anything else can.
    pub slow: Option<u32>,
    /// Whether faults alone were moved.
    pub pure: bool,
    /// What its moves cost together.
    pub cost: u32,
    /// What is moved, and before what, without the state it happens in.
    pub kind: u64,
    /// Of the fault that is moved, if it is a crash or a restart.
    pub key: Option<Box<[u32]>>,
    /// The fingerprint of a state behind it: there is no use in it once that was met.
    pub ends: Option<u64>,
}

/// The cost, whether a fault of its role was queued before, and when it came.
type Rank = (u32, bool, u64);

/// What is preferred of executions that cost as much.
#[derive(Clone, Copy)]
enum First {
    Oldest,
    NewRoles,
}

/// Whose turn it is.
#[derive(Clone, Copy)]
enum Turn {
    /// A lane of nodes that are all as fast.
    Even(usize, First),
    /// That of slow nodes.
    Slow,
}

/// Faults of either order, then all else of either order.
const LANES: usize = 4;
const TURNS: [Turn; 9] = [
    Turn::Even(0, First::Oldest),
    Turn::Even(0, First::NewRoles),
    Turn::Even(1, First::Oldest),
    Turn::Slow,
    Turn::Even(1, First::Oldest),
    Turn::Even(2, First::Oldest),
    Turn::Even(1, First::NewRoles),
    Turn::Slow,
    Turn::Even(3, First::Oldest),
];

#[derive(Default)]
pub struct Lanes {
    waiting: [BTreeMap<Rank, Item>; LANES],
    /// By the kind of what was moved.
    slow: FxHashMap<u64, BTreeMap<(u32, u64), Item>>,
    /// How many executions of a kind were run.
    runs: FxHashMap<u64, u32>,
    number: u64,
    turn: usize,
}

impl Lanes {
    /// Let executions begin in an initial state.
    pub fn begin(&mut self, start: usize, nodes: u32) {
        for order in [Order::Oldest, Order::Newest] {
            for slow in (0..nodes).map(Some).chain([None]) {
                let root = Item {
                    start,
                    steps: Box::default(),
                    order,
                    slow,
                    pure: true,
                    cost: 0,
                    kind: 0,
                    key: None,
                    ends: None,
                };
                self.push(root, false);
            }
        }
    }

    /// Let an execution wait; `known`: a fault of its role was queued before.
    pub fn push(&mut self, item: Item, known: bool) {
        self.number += 1;
        if item.slow.is_some() {
            let alike = self.slow.entry(item.kind).or_default();
            alike.insert((item.cost, self.number), item);
            return;
        }
        let lane = usize::from(item.order == Order::Newest) + if item.pure { 0 } else { 2 };
        let rank = (item.cost, known, self.number);
        self.waiting[lane].insert(rank, item);
    }

    /// The next execution that is still worth it.
    pub fn next(&mut self, is_open: impl Fn(&Item) -> bool) -> Option<Item> {
        while !self.slow.is_empty() || self.waiting.iter().any(|lane| !lane.is_empty()) {
            let turn = TURNS[self.turn % TURNS.len()];
            self.turn += 1;
            while let Some(item) = self.pop(turn) {
                if is_open(&item) {
                    *self.runs.entry(item.kind).or_default() += 1;
                    return Some(item);
                }
            }
        }
        None
    }

    fn pop(&mut self, turn: Turn) -> Option<Item> {
        match turn {
            Turn::Even(lane, first) => self.pop_even(lane, first),
            Turn::Slow => self.pop_slow(),
        }
    }

    fn pop_even(&mut self, lane: usize, first: First) -> Option<Item> {
        let waiting = &mut self.waiting[lane];
        let mut rank = *waiting.first_key_value()?.0;
        if matches!(first, First::Oldest) && !rank.1 {
            let known = (rank.0, true, 0)..=(rank.0, true, u64::MAX);
            let other = waiting.range(known).next().map(|(rank, _)| *rank);
            rank = other.filter(|other| other.2 < rank.2).unwrap_or(rank);
        }
        waiting.remove(&rank)
    }

    fn pop_slow(&mut self) -> Option<Item> {
        let rank = |(kind, alike): (&u64, &BTreeMap<(u32, u64), Item>)| {
            let (cost, number) = *alike.first_key_value()?.0;
            let runs = self.runs.get(kind).copied().unwrap_or(0);
            Some((runs + cost, number, *kind))
        };
        let (_, _, kind) = self.slow.iter().filter_map(rank).min()?;
        let alike = self.slow.get_mut(&kind)?;
        let item = alike.pop_first().map(|(_, item)| item);
        if alike.is_empty() {
            self.slow.remove(&kind);
        }
        item
    }
}
