//! Services, explored by delays.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;

use super::Plan;
use super::agenda::{Address, Names, Task, list_task, mail_key, stream_key};
use super::machine::{Machine, State, Turn};
use crate::liveness::{Bounded, Recorder};
use crate::python::tables::StopReason;
use crate::search::alike::Alike;
use crate::search::level::Level;
use crate::search::worker::Worker;
use crate::search::{Route, Search};
use crate::services::expand::{Candidate, Expander, NOWHERE};
use crate::table::fingerprint::nonzero;
use crate::table::seen::Inserted;

/// Names the tasks of services, and lists what each can do.
pub struct Lister<'a> {
    pub names: Names<'a>,
    /// The branches listed last.
    pub branches: Vec<Candidate>,
}

impl<'a> Lister<'a> {
    pub fn new(user: Option<&'a Py<PyAny>>) -> Self {
        Lister {
            names: Names::new(user),
            branches: Vec::new(),
        }
    }

    /// List the branches of a task, the likely first, or the faults; gives how many.
    pub fn list(
        &mut self,
        expander: &mut Expander,
        (state, sum): State<'_>,
        address: Option<Address>,
    ) -> PyResult<usize> {
        if let Some(address) = address {
            list_task(expander, (state, sum), address)?;
            self.branches.clone_from(&expander.candidates);
        } else {
            expander.candidates.clear();
            expander.list(state, sum, 0)?;
            let faults = expander.candidates.iter();
            let faults = faults.filter(|candidate| expander.is_fault(candidate));
            let faults = faults.filter(|candidate| candidate.fingerprint != sum);
            self.branches.clear();
            self.branches.extend(faults);
            // Listed by interned ids, which depend on what was met first.
            self.branches.sort_by_key(|candidate| candidate.fingerprint);
        }
        Ok(self.branches.len())
    }

    /// The key of the task at an address.
    pub fn key(
        &mut self,
        expander: &mut Expander,
        state: &[u32],
        address: Address,
    ) -> PyResult<u64> {
        self.names.key(expander, state, address)
    }

    /// Write out what a branch leads to, and in `sent` the keys of the mail that it sends; gives
    /// the branch.
    pub fn build(
        &self,
        expander: &mut Expander,
        state: &[u32],
        branch: usize,
        next: &mut Vec<u32>,
        sent: &mut Vec<u64>,
    ) -> Candidate {
        let candidate = self.branches[branch];
        self.sent(expander, branch, sent);
        expander.build(state, &candidate, next);
        candidate
    }

    /// The keys of the mail that a branch sends, in order.
    fn sent(&self, expander: &Expander, branch: usize, out: &mut Vec<u64>) {
        let candidate = &self.branches[branch];
        let Some(effect) = expander.effects.get(candidate.effect) else {
            return;
        };
        let sends = expander.sends_of(candidate.effect);
        let mail = sends.iter().map(|&envelope| mail_key(expander, envelope));
        out.extend(mail);
        if effect.flowing != NOWHERE {
            let flows = expander.flowing[effect.flowing as usize].flows().iter();
            let flows = flows.filter(|flow| flow.envelope.is_some());
            let keys = flows.map(|flow| stream_key((effect.node, flow.peer)));
            out.extend(keys);
        }
    }
}

/// One thread's share.
pub struct Services<'a> {
    pub worker: Worker<'a>,
    pub lister: Lister<'a>,
    /// The graph, and what writes it down, where it is looked at for cycles.
    pub graph: Option<&'a Bounded>,
    pub recorder: Option<Recorder<'a>>,
    /// Where faults are left out that are like others: which were followed.
    pub alike: Option<Box<Alike<'a>>>,
}

impl<'a> Services<'a> {
    pub fn new(search: &'a Search, plan: &'a Plan) -> Self {
        Services {
            worker: Worker::new(search),
            lister: Lister::new(plan.user.as_ref()),
            graph: None,
            recorder: None,
            alike: search.alike.as_ref().map(|plan| Box::new(Alike::new(plan))),
        }
    }
}

impl Services<'_> {
    /// Nothing is left to do: say what can only be said now.
    pub fn conclude(&mut self) -> PyResult<()> {
        let search = self.worker.search;
        let ended = search.driver.reason().is_none() && !search.cut.load(Relaxed);
        let Some(alike) = &mut self.alike else {
            return Ok(());
        };
        alike.audits(&mut self.worker, true)?;
        if ended {
            alike.conclude(search)?;
        }
        Ok(())
    }
}

impl Machine for Services<'_> {
    fn begin(&mut self, out: &mut Vec<u32>) -> PyResult<()> {
        self.worker.begin(out)
    }

    fn visit(
        &mut self,
        state: State<'_>,
        depth: u32,
        parent: Option<u64>,
        tasks: &mut Vec<Task>,
    ) -> PyResult<Option<bool>> {
        let search = self.worker.search;
        let cut = depth >= search.limits.depth;
        let mut faults = None;
        if cut {
            search.cut.store(true, Relaxed);
        } else {
            self.worker.visit(state, depth)?;
            let names = &mut self.lister.names;
            faults = Some(names.tasks(&mut self.worker.expander, state, tasks)?);
            if let Some(alike) = self.alike.as_deref_mut().filter(|_| tasks.is_empty()) {
                alike.rest(&self.worker, state.0)?;
            }
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.state(&mut self.worker, state, parent, !cut)?;
        }
        Ok(faults)
    }

    fn key(&mut self, state: &[u32], address: Address) -> PyResult<u64> {
        self.lister.key(&mut self.worker.expander, state, address)
    }

    fn list(&mut self, state: State<'_>, address: Address) -> PyResult<usize> {
        let expander = &mut self.worker.expander;
        self.lister.list(expander, state, Some(address))
    }

    fn list_faults(
        &mut self,
        state: State<'_>,
        first: Option<Address>,
        turn: Turn,
    ) -> PyResult<usize> {
        self.lister.list(&mut self.worker.expander, state, None)?;
        if turn != Turn::Any {
            self.keep_due(state, first, turn)?;
        }
        if let Some(alike) = &mut self.alike {
            alike.leave_out(&mut self.worker, state, &mut self.lister.branches)?;
        }
        Ok(self.lister.branches.len())
    }

    fn commutes(&mut self, state: State<'_>, first: Address, branch: usize) -> PyResult<bool> {
        let departure = self.lister.branches[branch];
        self.worker.commutes_with_task(state, first, &departure)
    }

    fn is_new(&mut self, (_, sum): State<'_>, depth: u32, branch: usize) -> PyResult<bool> {
        let candidate = &self.lister.branches[branch];
        if let Some(recorder) = &mut self.recorder {
            recorder.edge(&self.worker, sum, candidate)?;
        }
        let search = self.worker.search;
        let key = nonzero(candidate.fingerprint);
        search.seen.reserve(search.limits.threads);
        let inserted = search.seen.read().insert(key, nonzero(sum), depth + 1);
        if inserted != Inserted::New {
            return Ok(false);
        }
        search.seen.add(1);
        search.frontier.fetch_add(1, Relaxed);
        search.depth.fetch_max(depth as usize + 1, Relaxed);
        Ok(true)
    }

    fn build(
        &mut self,
        from: State<'_>,
        depth: u32,
        branch: usize,
        next: &mut Vec<u32>,
        sent: &mut Vec<u64>,
    ) -> PyResult<u64> {
        let expander = &mut self.worker.expander;
        let candidate = self.lister.build(expander, from.0, branch, next, sent);
        if let Some(alike) = &mut self.alike {
            alike.arrive(&self.worker, from, &candidate)?;
        }
        let route = || Route::Seen(nonzero(candidate.fingerprint), None);
        // A verdict is compared with those on images wherever it is asked for.
        let before = self.worker.symmetric.is_none().then_some(from.0);
        self.worker.check_state(next, before, depth, route)?;
        self.worker.search.check_states();
        Ok(candidate.fingerprint)
    }

    fn leave(&mut self, (_, sum): State<'_>, cut: bool) {
        self.worker.search.frontier.fetch_sub(1, Relaxed);
        if let Some(recorder) = self.recorder.as_mut().filter(|_| !cut) {
            recorder.complete(sum);
        }
    }

    fn count_execution(&self) {
        self.worker.search.walked.fetch_add(1, Relaxed);
    }

    fn pause(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.hand_over();
        }
    }

    fn sync(&mut self) {
        self.worker.sync();
    }

    fn threads(&self) -> usize {
        self.worker.search.limits.threads
    }

    fn known(&self) -> usize {
        self.worker.search.seen.len()
    }

    fn stopping(&self) -> bool {
        self.worker.search.stopping()
    }

    fn stop(&self, reason: StopReason) {
        self.worker.search.stop(reason);
    }

    fn bound_done(&self, last: bool) -> PyResult<()> {
        if let Some(graph) = self.graph {
            graph.bound_done(self.worker.search, last);
        }
        Ok(())
    }

    fn allow(&self, delays: u32) {
        self.worker.search.delays.store(delays, Relaxed);
    }

    fn relieve(&self, waiting: &mut Level) {
        let search = self.worker.search;
        if let Some(scratch) = search.spilling()
            && let Err(error) = waiting.file(scratch)
        {
            search.cannot_spill(&error);
        }
    }
}
