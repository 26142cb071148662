//! The graph that a search by delays has met so far, and when it is looked at for cycles.
//!
//! When the graph has grown by a tenth, and when a bound is done, one thread looks for a cycle on
//! which a claim never holds. So a cycle that few delays lead to is found before the rest of the
//! graph is, and before the rest of its bound.
//!
//! Invariant: a state keeps the order and the delays of its first visit, so the graph only grows;
//! what is a fair cycle of it is one of the system, whatever is added later. An edge waits until
//! both its ends are written down: before, nobody can say what holds and is enabled there.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use parking_lot::Mutex;
use pyo3::prelude::*;

use super::accepting::Lacking;
use super::copies::{Copies, count};
use super::crew::Crew;
use super::fair::{Fair, Fairness};
use super::map::Map;
use super::patience::{Cut, Patience};
use super::reachability::Survey;
use super::recorder::Log;
use super::round::Fresh;
use super::space::{Edge, NOBODY, Space};
use super::units::UnitNames;
use crate::python::tables::StopReason;
use crate::search::Search;

/// States that a pass goes through before it asks again whether to stop.
pub const ASK_EVERY: u32 = 1024;
/// The graph is looked at again when it has grown by one part in so many.
const GROWTH: usize = 10;

/// Edges after which a thread hands over what it noted: at least, and at most.
const CHUNK: std::ops::RangeInclusive<usize> = 32..=1 << 12;
/// States from which on more than one thread is worth its while.
const WORTH: usize = 20_000;

/// A property that has to hold again and again.
pub struct Claim {
    /// Its index in the kernel.
    pub property: usize,
    pub fairness: Fairness,
}

/// A cycle on which a claim never holds: see `Witness`.
pub struct Cycle {
    pub states: Vec<u32>,
    /// What it cost.
    pub delays: u32,
}

/// What was done to find cycles.
#[derive(Clone, Copy, Default)]
pub struct Effort {
    /// How often the graph was looked at, and how many candidates were examined.
    pub passes: u64,
    pub checked: u64,
    /// Seconds spent on that; of these, on what the first round of each pass left open.
    pub seconds: f64,
    pub refining: f64,
}

pub struct Bounded {
    pub claims: Vec<Claim>,
    pub names: UnitNames,
    /// By predecessors instead of components.
    by_map: bool,
    growing: Mutex<Growing>,
    /// Edges after which a thread hands over what it noted.
    pub chunk: AtomicUsize,
}

/// What is known of the graph.
pub struct Growing {
    pub space: Space,
    /// Edges that are not in the graph yet, each with its source.
    pub edges: Vec<(u32, Edge)>,
    /// Flags by state: it is written down, and not only known as an end of an edge.
    written: Vec<bool>,
    /// How many edges are in it.
    size: usize,
    /// Since it was last looked at: states that were written down, and those with new edges, each
    /// with how many edges it had.
    met: Vec<u32>,
    sources: Vec<(u32, u32)>,
    /// By claim, where there are any: the copies of states, and their predecessors.
    copies: Vec<Copies>,
    maps: Vec<Map>,
    /// By claim.
    pub cycles: Vec<Option<Cycle>>,
    pub effort: Effort,
    /// States and edges when it was last looked at; none if a pass was cut.
    examined: Option<usize>,
}

impl Bounded {
    pub fn new(claims: Vec<Claim>, by_map: bool) -> Self {
        Bounded {
            names: UnitNames::default(),
            by_map,
            growing: Mutex::new(Growing::new(claims.len())),
            chunk: AtomicUsize::new(*CHUNK.start()),
            claims,
        }
    }

    /// Write down what a thread has noted.
    pub fn take(&self, log: Log) {
        self.growing.lock().write(log);
    }

    /// Write down what a thread has noted amid a bound, and look for cycles if that was much.
    /// Threads that have more to hand over wait meanwhile.
    pub fn take_amid(&self, log: Log, search: &Search) {
        let mut growing = self.growing.lock();
        growing.write(log);
        if growing.has_grown(false) {
            self.examine(&mut growing, search);
            let share = growing.count() / (2 * GROWTH * search.limits.threads);
            let chunk = share.clamp(*CHUNK.start(), *CHUNK.end());
            self.chunk.store(chunk, Relaxed);
        }
    }

    /// A bound is done: look for cycles, if the graph has grown enough or will grow no more.
    pub fn bound_done(&self, search: &Search, last: bool) {
        let mut growing = self.growing.lock();
        if growing.has_grown(last) {
            self.examine(&mut growing, search);
        }
    }

    fn examine(&self, growing: &mut Growing, search: &Search) {
        let started = Instant::now();
        growing.settle(self.names.lock().len());
        let crew = Crew {
            threads: search.limits.threads,
            alone_below: WORTH,
            stopping: &|| search.stopping(),
        };
        let looked = growing.look(search, self, &crew);
        growing.effort.passes += 1;
        growing.effort.seconds += started.elapsed().as_secs_f64();
        growing.examined = looked.ok().map(|()| growing.count());
    }

    /// Begin anew with a graph that was made elsewhere.
    pub fn replace(&self, graph: Growing) {
        let mut growing = self.growing.lock();
        let before = std::mem::replace(&mut *growing, graph).effort;
        growing.effort.passes += before.passes;
        growing.effort.checked += before.checked;
    }

    /// The graph, when nobody explores any more.
    pub fn into_graph(self) -> Growing {
        let units = self.names.lock().len();
        let mut growing = self.growing.into_inner();
        growing.settle(units);
        growing
    }
}

impl Growing {
    pub fn new(claims: usize) -> Self {
        Growing {
            space: Space::growing(claims),
            edges: Vec::new(),
            written: Vec::new(),
            size: 0,
            met: Vec::new(),
            sources: Vec::new(),
            copies: (0..claims).map(|_| Copies::default()).collect(),
            maps: (0..claims).map(|_| Map::default()).collect(),
            cycles: (0..claims).map(|_| None).collect(),
            effort: Effort::default(),
            examined: None,
        }
    }

    fn count(&self) -> usize {
        self.space.len() + self.size + self.edges.len()
    }

    /// Whether all of it was looked at.
    pub fn is_examined(&self) -> bool {
        self.examined == Some(self.count()) && self.edges.is_empty()
    }

    pub fn set_examined(&mut self) {
        self.examined = Some(self.count());
    }

    fn has_grown(&self, last: bool) -> bool {
        let before = self.examined.unwrap_or(0);
        if last {
            return !self.is_examined();
        }
        self.count() >= before + before / GROWTH
    }

    pub fn write(&mut self, log: Log) {
        let mut first = 0;
        for met in &log.states {
            let state = self.space.meet(met.key);
            if self.written.len() <= state as usize {
                self.written.resize(state as usize + 1, false);
            }
            self.written[state as usize] = true;
            self.met.push(state);
            self.space.parents[state as usize] = match met.parent {
                0 => NOBODY,
                parent => self.space.meet(parent),
            };
            for at in (0..self.cycles.len()).filter(|at| met.holds >> at & 1 == 1) {
                self.space.set_holds(at, state);
            }
            if let (Some(end), Some(partial)) = (met.units, &mut self.space.partial) {
                partial.set_enabled(state, &log.units[first..end]);
                first = end;
            }
        }
        for (from, to, unit) in log.edges {
            let source = self.space.meet(from);
            let target = self.space.meet(to);
            self.edges.push((source, Edge { target, unit }));
        }
        for key in log.complete {
            let state = self.space.meet(key);
            self.set_complete(state);
        }
    }

    fn is_written(&self, state: u32) -> bool {
        self.written.get(state as usize) == Some(&true)
    }

    pub fn set_complete(&mut self, state: u32) {
        if let Some(partial) = &mut self.space.partial {
            partial.set_complete(state);
        }
    }

    /// Put all edges that need not wait into the graph, in which so many units occur; where every
    /// claim holds, only what they lead to counts.
    fn settle(&mut self, units: usize) {
        self.space.units = units;
        let edges = std::mem::take(&mut self.edges).into_iter();
        let (mut edges, waiting): (Vec<_>, _) = edges
            .partition(|(source, edge)| self.is_written(*source) && self.is_written(edge.target));
        self.edges = waiting;
        self.size += edges.len();
        edges.retain(|(source, edge)| {
            let kept = !self.space.all_hold(*source);
            self.space.entered[edge.target as usize] += u32::from(!kept);
            kept
        });
        let known = |source| self.space.targets(source).len() as u32;
        let sources = edges.iter().map(|&(source, _)| (source, known(source)));
        self.sources.extend(sources);
        self.sources.sort_unstable();
        self.sources.dedup_by_key(|(source, _)| *source);
        self.met.sort_unstable();
        self.space.extend(edges);
    }

    /// Look for a cycle of every claim that is open.
    fn look(&mut self, search: &Search, graph: &Bounded, crew: &Crew<'_>) -> Result<(), Cut> {
        let mut found = false;
        for (at, claim) in graph.claims.iter().enumerate() {
            let decided = &search.shared.properties[claim.property].decided;
            if decided.load(Relaxed) {
                continue;
            }
            let states = match graph.by_map {
                true => self.by_map(at, claim.fairness, crew)?,
                false => self.by_components(at, claim.fairness, crew)?,
            };
            let Some(states) = states else {
                continue;
            };
            self.cycles[at] = Some(Cycle {
                states,
                delays: search.delays.load(Relaxed),
            });
            decided.store(true, Relaxed);
            found = true;
        }
        self.sources.clear();
        self.met.clear();
        if found && !search.limits.keep_going {
            search.stop(StopReason::Violation);
        }
        Ok(())
    }

    fn by_components(
        &mut self,
        claim: usize,
        fairness: Fairness,
        crew: &Crew<'_>,
    ) -> Result<Option<Vec<u32>>, Cut> {
        let stopping = || (crew.stopping)();
        let patience = Patience::new(ASK_EVERY, &stopping);
        let survey = Survey::of(&self.space, claim, &patience)?;
        self.effort.checked += survey.cyclic.len() as u64;
        let fair = Fair::new(&self.space, fairness);
        let witness = fair.nearest(&survey.cyclic, &patience)?;
        Ok(witness.map(|witness| witness.states))
    }

    fn by_map(
        &mut self,
        claim: usize,
        fairness: Fairness,
        crew: &Crew<'_>,
    ) -> Result<Option<Vec<u32>>, Cut> {
        let (space, copies) = (&self.space, &mut self.copies[claim]);
        for &state in &self.met {
            if !space.holds(claim, state) && !copies.contains(state) {
                copies.add(state, count(space.due(state, fairness)));
            }
        }
        let sources = self.sources.iter();
        let sources = sources.filter(|(state, _)| copies.contains(*state));
        let fresh = sources.flat_map(|&(state, known)| {
            let nodes = copies.nodes(state);
            nodes.map(move |node| Fresh { node, known })
        });
        let fresh: Vec<Fresh> = fresh.collect();
        let lacking = Lacking {
            space,
            claim,
            fairness,
            copies,
        };
        let cycle = self.maps[claim].cycle(&lacking, &fresh, crew, &mut self.effort)?;
        let state = |node: u32| lacking.copies.state(node);
        Ok(cycle.map(|cycle| cycle.into_iter().map(state).collect()))
    }
}

impl Claim {
    pub fn new(property: usize, fairness: &str) -> PyResult<Self> {
        let fairness = Fairness::of(fairness)?;
        Ok(Claim { property, fairness })
    }
}
