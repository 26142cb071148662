//! In the order of delays: a task is a process, and its branches are the answers it may get.
//!
//! A process goes on where it stopped. So `rtc` lets it run until it waits, unless it has enabled
//! another: that one runs first.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::met::{Met, START};
use super::state::State;
use super::world::World;
use crate::python::tables::StopReason;
use crate::reduce::por::{Machine as _, Step};
use crate::search::delay::agenda::{Address, Task};
use crate::search::delay::machine::{self, Machine, Turn};
use crate::search::delay::{Buckets, Explorer, Plan};
use crate::search::worker::store;
use crate::table::fingerprint::{LOCAL, mix};

/// Search; gives how many states were known when each bound was done.
pub fn search(met: &mut Met<'_>, world: &mut World, plan: &Plan, seed: u64) -> PyResult<Vec<u64>> {
    let buckets = Buckets::default();
    let mut explorer = Explorer::new(plan, seed, &buckets)?;
    let mut programs = Programs {
        met,
        world,
        user: plan.user.as_ref(),
        ranks: Vec::new(),
        waiting: FxHashMap::default(),
        steps: Vec::new(),
        branches: Vec::new(),
        reached: (0, State::default()),
    };
    explorer.begin(&mut programs)?;
    while !programs.world.memo.grew && explorer.go_on(&mut programs)? {}
    Ok(buckets.states())
}

struct Programs<'s, 'a> {
    met: &'s mut Met<'a>,
    world: &'s mut World,
    /// What ranks processes, and those that it has ranked.
    user: Option<&'s Py<PyAny>>,
    ranks: Vec<Option<u8>>,
    /// The states in which something is left to do; their words are their numbers.
    waiting: FxHashMap<u32, State>,
    /// What can happen in the state visited last, and what the task listed last can do.
    steps: Vec<Step>,
    branches: Vec<Step>,
    /// The state that is new, and its number.
    reached: (u32, State),
}

impl Programs<'_, '_> {
    fn rank(&mut self, process: u32) -> PyResult<u8> {
        let at = process as usize;
        if self.ranks.len() <= at {
            self.ranks.resize(at + 1, None);
        }
        if let Some(rank) = self.ranks[at] {
            return Ok(rank);
        }
        let asked = |user: &Py<PyAny>| {
            Python::attach(|py| {
                let question = (key(process), process, ("process",));
                user.call_method1(py, "rank", question)?.extract(py)
            })
        };
        let rank = self.user.map_or(Ok(0), asked)?;
        self.ranks[at] = Some(rank);
        Ok(rank)
    }
}

/// The key of a process.
fn key(process: u32) -> u64 {
    mix(LOCAL, u64::from(process), 0)
}

impl Machine for Programs<'_, '_> {
    fn begin(&mut self, out: &mut Vec<u32>) -> PyResult<()> {
        let start = self.world.start()?;
        self.met.meet(self.world, &start, START)?;
        store(out, start.fingerprint(), |out| out.push(0));
        self.waiting.insert(0, start);
        Ok(())
    }

    fn visit(
        &mut self,
        (words, _): machine::State<'_>,
        depth: u32,
        _parent: Option<u64>,
        tasks: &mut Vec<Task>,
    ) -> PyResult<Option<bool>> {
        let state = (words[0], &self.waiting[&words[0]]);
        let mut steps = std::mem::take(&mut self.steps);
        self.met
            .list(self.world, state, depth as usize - 1, &mut steps)?;
        tasks.clear();
        for branches in steps.chunk_by(|one, other| one.process == other.process) {
            let process = branches[0].process;
            tasks.push(Task {
                address: Address::of(process, branches.len() > 1),
                key: key(process),
                rank: self.rank(process)?,
                ends: Some((0, process)),
                is_message: false,
                runs_on: true,
            });
        }
        self.steps = steps;
        Ok(Some(false))
    }

    fn key(&mut self, _state: &[u32], address: Address) -> PyResult<u64> {
        Ok(key(address.place()))
    }

    fn list(&mut self, (words, _): machine::State<'_>, address: Address) -> PyResult<usize> {
        self.branches.clear();
        let state = &self.waiting[&words[0]];
        self.world
            .choices(state, address.place(), &mut self.branches)?;
        Ok(self.branches.len())
    }

    fn list_faults(
        &mut self,
        _state: machine::State<'_>,
        _first: Option<Address>,
        _turn: Turn,
    ) -> PyResult<usize> {
        Ok(0)
    }

    fn is_new(
        &mut self,
        (words, _): machine::State<'_>,
        depth: u32,
        branch: usize,
    ) -> PyResult<bool> {
        let at = words[0];
        self.reached.1.clone_from(&self.waiting[&at]);
        self.met.findings.delays = self.met.gauge.delays.load(Relaxed);
        let origin = (at, self.branches[branch]);
        let next = &mut self.reached.1;
        let known = self.met.run(self.world, next, origin, depth as usize - 1)?;
        self.reached.0 = known.unwrap_or(0);
        Ok(known.is_some())
    }

    fn build(
        &mut self,
        _from: machine::State<'_>,
        _depth: u32,
        _branch: usize,
        next: &mut Vec<u32>,
        _sent: &mut Vec<u64>,
    ) -> PyResult<u64> {
        let (at, state) = &self.reached;
        next.push(*at);
        self.waiting.insert(*at, state.clone());
        Ok(state.fingerprint())
    }

    fn leave(&mut self, (words, _): machine::State<'_>, _cut: bool) {
        self.waiting.remove(&words[0]);
    }

    fn count_execution(&self) {
        self.met.gauge.traces.fetch_add(1, Relaxed);
    }

    fn known(&self) -> usize {
        self.met.unique()
    }

    fn stopping(&self) -> bool {
        self.met.gauge.driver.stopping()
    }

    fn stop(&self, reason: StopReason) {
        self.met.gauge.driver.stop(reason);
    }

    fn allow(&self, delays: u32) {
        self.met.gauge.delays.store(delays, Relaxed);
    }
}
