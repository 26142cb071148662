//! The graph of a system, made while a nested depth-first search goes through it.
//!
//! A claim is broken by a fair cycle on which it never holds. So the search goes through the states
//! in several *layers*: all states, and for each claim the copies of those where it does not hold.
//! From a state of the first layer one may step into the others, and never back. Within these the
//! edges that end a round are accepting (`copies.rs`).
//!
//! With a bound, a state has the edges that cost no more than is left of it. What a state costs,
//! and the order of its tasks, are those of its first visit, within whatever bound. All that costs
//! less than a bound was met before, so the first visit is a cheapest one.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::bounded::{Bounded, Cycle, Growing};
use super::copies::{Copies, count, follow};
use super::ndfs::{Lazy, Nested, Step};
use super::recorder::Recorder;
use crate::python::tables::StopReason;
use crate::search::Search;
use crate::search::delay::machine::Machine;
use crate::search::delay::{Origin, Plan, Planner, Rest, Services, Waiting};
use crate::table::fingerprint::nonzero;

const NONE: u32 = u32::MAX;

/// What stays known of a state when a search begins anew.
struct Kept {
    cost: u32,
    addresses: Box<[u32]>,
    scheduler: u32,
}

struct Layered<'a> {
    search: &'a Search,
    planner: Planner<'a>,
    machine: Services<'a>,
    graph: &'a Bounded,
    recorder: Recorder<'a>,
    growing: Growing,
    /// Of each state: itself, then by claim the copies of it where that does not hold.
    copies: Copies,
    /// Per state: its first and its last edge so far. Per edge: the next of the same state.
    ends: Vec<(u32, u32)>,
    next: Vec<u32>,
    /// States with edges that were not followed yet: their entries and what they cost.
    entries: FxHashMap<u32, (Vec<u32>, u64)>,
    costs: Vec<u32>,
    /// By fingerprint: what other bounds know, too.
    kept: FxHashMap<u64, Kept>,
    bound: u32,
    /// Something costs more.
    cut: bool,
    addresses: Vec<u32>,
    reached: Vec<u32>,
}

/// Search depth first; if `bounded`, again and again with one delay more. Gives how many states
/// were known when each bound was done.
pub fn work(search: &Search, plan: &Plan, graph: &Bounded, is_bounded: bool) -> PyResult<Vec<u64>> {
    let (mut bounds, mut kept) = (Vec::new(), FxHashMap::default());
    loop {
        let bound = search.delays.load(Relaxed);
        let mut layered = Layered::new(search, plan, graph)?;
        layered.bound = if is_bounded { bound } else { u32::MAX };
        layered.kept = kept;
        layered.run()?;
        let cut = layered.cut;
        kept = layered.kept;
        graph.replace(layered.growing);
        if search.stopping() {
            return Ok(bounds);
        }
        bounds.push(search.seen.len() as u64);
        if !cut {
            return Ok(bounds);
        }
        if plan.delays == Some(bound) {
            search.stop(StopReason::Delays);
            return Ok(bounds);
        }
        search.delays.store(bound + 1, Relaxed);
    }
}

impl<'a> Layered<'a> {
    fn new(search: &'a Search, plan: &'a Plan, graph: &'a Bounded) -> PyResult<Self> {
        Ok(Layered {
            search,
            planner: Planner::new(plan, search.limits.seed)?,
            machine: Services::new(search, plan),
            graph,
            recorder: Recorder::new(graph),
            growing: Growing::new(graph.claims.len()),
            copies: Copies::default(),
            ends: Vec::new(),
            next: Vec::new(),
            entries: FxHashMap::default(),
            costs: Vec::new(),
            kept: FxHashMap::default(),
            bound: 0,
            cut: false,
            addresses: Vec::new(),
            reached: Vec::new(),
        })
    }

    fn layers(&self) -> usize {
        self.graph.claims.len() + 1
    }

    /// The units that may be due in a state, in the layer of a claim.
    fn due(&self, state: u32, claim: usize) -> &[u32] {
        let fairness = self.graph.claims[claim].fairness;
        self.growing.space.due(state, fairness)
    }

    /// How many copies of a state there are in the layer of a claim.
    fn count(&self, state: u32, claim: usize) -> usize {
        match self.growing.space.holds(claim, state) {
            true => 0,
            false => count(self.due(state, claim)),
        }
    }

    /// The first node of a state in the layer of a claim; after the last one, where its nodes end.
    fn first(&self, state: u32, claim: usize) -> usize {
        let before = (0..claim).map(|claim| self.count(state, claim));
        self.copies.first(state) as usize + 1 + before.sum::<usize>()
    }

    /// The claim in whose layer a node is, and which copy of its state there; none for a node of
    /// the first layer.
    fn place(&self, node: usize) -> Option<(usize, usize)> {
        let state = self.copies.state(node as u32);
        let claims = 0..self.graph.claims.len();
        let claim = claims
            .rev()
            .find(|&claim| self.first(state, claim) <= node)?;
        Some((claim, node - self.first(state, claim)))
    }

    /// Begin anew, and stop at the first cycle.
    fn run(&mut self) -> PyResult<()> {
        if self.search.seen.len() == 0 {
            self.machine.begin(&mut Vec::new())?;
        }
        for initial in &self.search.initial {
            if self.growing.space.ids.get(nonzero(initial.sum)).is_none() {
                self.visit((&initial.words, initial.sum), 1, None, 0)?;
            }
        }
        let mut nested = Nested::default();
        let count = self.growing.space.len();
        for state in 0..count as u32 {
            let start = self.copies.first(state) as usize;
            let Some(cycle) = nested.cycle(self, start)? else {
                continue;
            };
            let Some((claim, _)) = self.place(cycle[0]) else {
                continue; // no edge of the first layer is accepting
            };
            let states = cycle.iter().map(|&node| self.copies.state(node as u32));
            self.growing.cycles[claim] = Some(Cycle {
                states: states.collect(),
                delays: self.search.delays.load(Relaxed),
            });
            let property = self.graph.claims[claim].property;
            self.search.shared.properties[property]
                .decided
                .store(true, Relaxed);
            self.search.stop(StopReason::Violation);
            break;
        }
        self.growing.effort.passes = 1;
        self.growing.effort.checked = nested.searches;
        if !self.search.stopping() {
            self.growing.set_examined();
        }
        Ok(())
    }

    /// Enter a state that was not met yet within this bound.
    fn visit(
        &mut self,
        state: (&[u32], u64),
        depth: u32,
        origin: Option<Origin>,
        cost: u32,
    ) -> PyResult<()> {
        let mut addresses = std::mem::take(&mut self.addresses);
        let machine = &mut self.machine;
        let mut rest = self
            .planner
            .arrange(machine, state, depth, origin, &mut addresses)?;
        let parent = origin.map(|origin| origin.parent);
        self.recorder
            .state(&mut machine.worker, state, parent, rest.is_some())?;
        let from = self.link();
        self.costs.resize(from, 0);
        let known = self.growing.space.meet(nonzero(state.1));
        self.costs[known as usize] = self.settle(state.1, cost, &mut rest, &mut addresses);
        match rest.map(|rest| (rest, self.planner.next_offset(&addresses, rest, 0))) {
            Some((rest, Some(offset))) => {
                let mut entry = Vec::new();
                rest.write(state.0, &addresses, offset, &mut entry);
                self.entries.insert(known, (entry, state.1));
            }
            Some((_, None)) => self.growing.set_complete(known),
            None => {}
        }
        self.addresses = addresses;
        Ok(())
    }

    /// Give a state the order that it was first met with, and what it cost then.
    fn settle(
        &mut self,
        sum: u64,
        cost: u32,
        rest: &mut Option<Rest>,
        addresses: &mut Vec<u32>,
    ) -> u32 {
        let Some(rest) = rest.as_mut().filter(|_| self.bound < u32::MAX) else {
            return cost;
        };
        let kept = self.kept.entry(nonzero(sum)).or_insert_with(|| Kept {
            cost,
            addresses: addresses.as_slice().into(),
            scheduler: rest.scheduler,
        });
        rest.scheduler = kept.scheduler;
        addresses.clear();
        addresses.extend_from_slice(&kept.addresses);
        kept.cost
    }

    /// Take over what the recorder has noted; gives how many states there are.
    fn link(&mut self) -> usize {
        let first = self.growing.edges.len();
        self.growing.write(self.recorder.take());
        let states = self.growing.space.len();
        for state in self.ends.len() as u32..states as u32 {
            let nodes = 1
                + (0..self.graph.claims.len())
                    .map(|claim| self.count(state, claim))
                    .sum::<usize>();
            self.copies.add(state, nodes);
        }
        self.ends.resize(states, (NONE, NONE));
        self.next.resize(self.growing.edges.len(), NONE);
        for (at, (source, _)) in self.growing.edges.iter().enumerate().skip(first) {
            let (head, last) = &mut self.ends[*source as usize];
            match *last {
                NONE => *head = at as u32,
                last => self.next[last as usize] = at as u32,
            }
            *last = at as u32;
        }
        states
    }

    /// Note an edge that was listed, and visit the state that it leads to if it is the first.
    fn follow(
        &mut self,
        waiting: Waiting<'_>,
        ran: Option<usize>,
        branch: usize,
        cost: u32,
    ) -> PyResult<()> {
        let (machine, depth) = (&mut self.machine, waiting.rest.depth);
        let candidate = machine.lister.branches[branch];
        self.recorder
            .note(&machine.worker.expander, waiting.state.1, &candidate)?;
        machine.is_new(waiting.state, depth, branch)?;
        let known = self.growing.space.ids.get(nonzero(candidate.fingerprint));
        if known.is_some() {
            return Ok(());
        }
        let mut next = std::mem::take(&mut self.reached);
        let sum = self.planner.build(machine, waiting, branch, &mut next)?;
        let origin = Some(waiting.origin(ran));
        self.visit((&next, sum), depth + 1, origin, cost)?;
        self.reached = next;
        Ok(())
    }

    /// The node that an edge leads to within a layer, and whether it is accepting there; none if
    /// it leads out of the layer.
    fn target(&self, edge: u32, place: Option<(usize, usize)>) -> Option<(usize, bool)> {
        let (source, edge) = self.growing.edges[edge as usize];
        let Some((claim, copy)) = place else {
            return Some((self.copies.first(edge.target) as usize, false));
        };
        if self.growing.space.holds(claim, edge.target) {
            return None;
        }
        let (here, there) = (self.due(source, claim), self.due(edge.target, claim));
        let (copy, accepting) = follow(here, copy, edge.unit, there);
        Some((self.first(edge.target, claim) + copy, accepting))
    }

    /// Follow what comes next in a state; false if there is nothing within the bound.
    fn expand(&mut self, state: u32) -> PyResult<bool> {
        let Some((mut entry, sum)) = self.entries.remove(&state) else {
            return Ok(false);
        };
        let waiting = Waiting::of(&entry, sum);
        let (rest, cost) = (waiting.rest, self.costs[state as usize]);
        let cost = cost.saturating_add(rest.offset);
        if cost > self.bound {
            self.cut = true;
            return Ok(false);
        }
        self.planner.forget();
        for at in waiting.places() {
            for branch in self.planner.list(&mut self.machine, waiting, at)? {
                self.follow(waiting, at, branch, cost)?;
            }
        }
        self.link();
        match self
            .planner
            .next_offset(waiting.addresses, rest, rest.offset + 1)
        {
            Some(offset) => {
                Rest::go_on(offset, &mut entry);
                self.entries.insert(state, (entry, sum));
            }
            None => self.growing.set_complete(state),
        }
        self.search.frontier.store(self.entries.len(), Relaxed);
        Ok(true)
    }
}

impl Lazy for Layered<'_> {
    /// What an edge is called: from 1 on a step into another layer, then its position among all.
    fn next(&mut self, node: usize, after: u32) -> PyResult<Option<Step>> {
        let layers = self.layers();
        let (state, place) = (self.copies.state(node as u32), self.place(node));
        let first = after as usize + 1;
        if place.is_none() && first < layers {
            let space = &self.growing.space;
            if let Some(into) = (first..layers).find(|into| !space.holds(into - 1, state)) {
                return Ok(Some(Step {
                    edge: into as u32,
                    target: self.first(state, into - 1),
                    accepting: false,
                }));
            }
        }
        let mut last = after.checked_sub(layers as u32);
        loop {
            let edge = match last {
                None => self.ends[state as usize].0,
                Some(last) => self.next[last as usize],
            };
            if edge == NONE {
                if self.expand(state)? {
                    continue;
                }
                return Ok(None);
            }
            if let Some((target, accepting)) = self.target(edge, place) {
                return Ok(Some(Step {
                    edge: edge + layers as u32,
                    target,
                    accepting,
                }));
            }
            last = Some(edge);
        }
    }

    fn stopping(&self) -> bool {
        self.search.stopping()
    }
}
