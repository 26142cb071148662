//! Search in the order of delays: what a scheduler would do comes first, departures from it later.
//!
//! A scheduler orders the tasks of each state. To run the first costs nothing, the i-th costs i
//! delays; an unlikely answer of a choice and a fault have prices of their own. States wait in one
//! bucket per number of delays (Udupa, Desai, Rajamani, "Depth bounded explicit-state model
//! checking", 2011; Emmi, Qadeer, Rakamaric, "Delay-bounded scheduling", 2011).
//!
//! Only the state is in the seen table. Prices are whole and buckets are emptied in ascending
//! order, so the first visit of a state is a cheapest one of the orders kept. A second order for a
//! known state is dropped: what needs n delays in theory may be found with more. Every task of
//! every state met is an alternative, so a search that ends has met what `bfs` meets.

mod agenda;
mod bucket;
mod custom;
mod entry;
mod order;

use std::sync::atomic::Ordering::Relaxed;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use self::agenda::{Address, Names, Task, list_task, mail_key, stream_key};
use self::bucket::Buckets;
use self::custom::Custom;
use self::entry::Rest;
use self::order::{Scheduler, Step};
use super::dfs::Stack;
use super::worker::{HEADER, Stored, Worker, store, stored};
use super::{Route, Search};
use crate::services::expand::{Candidate, NOWHERE};
use crate::table::fingerprint::nonzero;
use crate::table::seen::Inserted;

/// Entries are handed over when they take this many words.
const CHUNK: usize = 1 << 14;

/// Which order, and what departures from it cost: see `presage.limits`.
#[derive(FromPyObject)]
pub struct Plan {
    scheduler: String,
    /// Stop when so many delays are explored.
    delays: Option<u32>,
    /// Every task but the first costs one delay, wherever it stands.
    deviation: bool,
    /// What it costs to take another answer of a choice than the likely one; and any fault.
    choice: u32,
    fault: u32,
    /// What a user says of tasks: their ranks, or all of their order.
    user: Option<Py<PyAny>>,
}

/// Search; gives the seconds, and how many states were known when each bound was done.
pub fn run(
    py: Python<'_>,
    plan: &Plan,
    search: &Search,
    progress: Option<&Py<PyAny>>,
) -> PyResult<(f64, Vec<u64>)> {
    let scheduler = match plan.scheduler.as_str() {
        "rtc" => Scheduler::RunToCompletion,
        "rr" => Scheduler::RoundRobin,
        "random" => Scheduler::Random(search.limits.seed),
        "custom" => Scheduler::Custom,
        other => {
            let text = format!("no scheduler is called `{other}`");
            return Err(PyValueError::new_err(text));
        }
    };
    let buckets = Buckets::default();
    let work = |thread| Explorer::new(search, plan, scheduler, &buckets).work(thread);
    let seconds = search.supervise(py, progress, work)?;
    Ok((seconds, buckets.states()))
}

/// One thread.
struct Explorer<'a> {
    worker: Worker<'a>,
    plan: &'a Plan,
    scheduler: Scheduler,
    buckets: &'a Buckets,
    names: Names<'a>,
    custom: Option<Custom<'a>>,
    /// What is to be done within the delays now allowed, and later, by how many delays.
    stack: Stack,
    later: Vec<Vec<u32>>,
    /// The state just reached is on top of the stack.
    reached: bool,
    tasks: Vec<Task>,
    addresses: Vec<u32>,
    places: Vec<(order::Place, Task)>,
    keys: Vec<u64>,
    sent: Vec<u64>,
    followed: Vec<Candidate>,
    next: Vec<u32>,
}

impl<'a> Explorer<'a> {
    fn new(search: &'a Search, plan: &'a Plan, scheduler: Scheduler, buckets: &'a Buckets) -> Self {
        let custom = plan.user.as_ref();
        let custom = custom.filter(|_| scheduler == Scheduler::Custom);
        let furthest = plan.choice.max(plan.fault).max(1) as usize;
        Explorer {
            worker: Worker::new(search),
            plan,
            scheduler,
            buckets,
            names: Names::new(plan.user.as_ref()),
            custom: custom.map(Custom::new),
            stack: Stack::default(),
            later: vec![Vec::new(); furthest + 1],
            reached: false,
            tasks: Vec::new(),
            addresses: Vec::new(),
            places: Vec::new(),
            keys: Vec::new(),
            sent: Vec::new(),
            followed: Vec::new(),
            next: Vec::new(),
        }
    }

    fn work(&mut self, thread: usize) -> PyResult<()> {
        let search = self.worker.search;
        if thread == 0 {
            self.begin()?;
        }
        let mut entry = Vec::new();
        loop {
            while self.stack.pop(&mut entry).is_some() {
                if search.stopping() {
                    return Ok(());
                }
                self.resume(&entry)?;
                self.buckets.share(&mut self.stack);
            }
            if !self
                .buckets
                .next(search, self.plan.delays, &mut self.later, &mut self.stack)?
            {
                return Ok(());
            }
            self.worker.sync();
        }
    }

    fn begin(&mut self) -> PyResult<()> {
        let mut initial = Vec::new();
        self.worker.begin(&mut initial)?;
        let mut at = 0;
        while at < initial.len() {
            let Stored { words, sum } = stored(&initial, at);
            self.keys.clear();
            self.sent.clear();
            self.visit((words, sum), 1, (None, None))?;
            at += HEADER + words.len();
        }
        self.worker.search.walked.fetch_add(1, Relaxed);
        Ok(())
    }

    /// Judge a state that was never visited, put its tasks in order, and let it wait.
    fn visit(
        &mut self,
        state: (&[u32], u64),
        depth: u32,
        (ran, scheduler): (Option<usize>, Option<u32>),
    ) -> PyResult<()> {
        let search = self.worker.search;
        if depth >= search.limits.depth {
            search.cut.store(true, Relaxed);
            search.frontier.fetch_sub(1, Relaxed);
            return Ok(());
        }
        self.worker.visit(state, depth)?;
        let faults = self
            .names
            .tasks(&mut self.worker.expander, state, &mut self.tasks)?;
        let step = Step {
            before: &self.keys,
            ran,
            sent: &self.sent,
            state: scheduler,
        };
        let scheduler = match &mut self.custom {
            Some(custom) => custom.arrange(&step, &mut self.tasks)?,
            None => {
                self.scheduler
                    .arrange(&step, state.1, &mut self.places, &mut self.tasks);
                0
            }
        };
        let rest = Rest::new(depth, self.tasks.len(), faults, scheduler);
        let mut addresses = std::mem::take(&mut self.addresses);
        addresses.clear();
        addresses.extend(self.tasks.iter().map(|task| task.address.0));
        self.wait(state, &addresses, rest, 0);
        self.addresses = addresses;
        Ok(())
    }

    /// Let a state wait for what is to be done in it when its offset is at least `from`.
    fn wait(&mut self, (words, sum): (&[u32], u64), addresses: &[u32], rest: Rest, from: u32) {
        let search = self.worker.search;
        let Some(offset) = self.next_offset(addresses, rest, from) else {
            search.frontier.fetch_sub(1, Relaxed);
            return;
        };
        let delays = (offset - rest.offset) as usize;
        let top = self.stack.words.len();
        let out = match delays {
            0 => &mut self.stack.words,
            _ => &mut self.later[delays],
        };
        store(out, sum, |out| {
            out.extend_from_slice(words);
            out.extend_from_slice(addresses);
            out.extend_from_slice(&rest.words(offset));
        });
        if delays == 0 {
            self.stack.index(top, rest.depth);
            self.reached = true;
        } else if out.len() >= CHUNK {
            self.buckets.pass_on(search, delays, out);
        }
    }

    /// The first offset, from `from` on, at which there is something to do.
    fn next_offset(&self, addresses: &[u32], rest: Rest, from: u32) -> Option<u32> {
        let Plan { choice, fault, .. } = *self.plan;
        let own = (0..addresses.len()).map(|at| self.price(at));
        let several = addresses.iter().enumerate();
        let several = several.filter(|(_, address)| Address(**address).is_several());
        let branches = several.map(|(at, _)| self.price(at) + choice);
        let faults = rest.has_faults().then_some(fault);
        own.chain(branches)
            .chain(faults)
            .filter(|&offset| offset >= from)
            .min()
    }

    /// What it costs to run the task at a place in the order.
    fn price(&self, at: usize) -> u32 {
        if self.plan.deviation {
            u32::from(at > 0)
        } else {
            at as u32
        }
    }

    /// Go on with a state that waited.
    fn resume(&mut self, entry: &[u32]) -> PyResult<()> {
        let goes_on = std::mem::take(&mut self.reached);
        let Stored { words, sum } = stored(entry, 0);
        let (state, addresses, rest) = Rest::of(words);
        // First what waits on: what is reached now is on top of it.
        self.wait((state, sum), addresses, rest, rest.offset + 1);
        let mut new = false;
        self.keys.clear();
        for at in 0..addresses.len() {
            let first = self.price(at) == rest.offset;
            let others = self.price(at) + self.plan.choice == rest.offset;
            if first || (others && Address(addresses[at]).is_several()) {
                list_task(
                    &mut self.worker.expander,
                    (state, sum),
                    Address(addresses[at]),
                )?;
                self.followed.clear();
                let branches = &self.worker.expander.candidates;
                let split = branches.len().min(1);
                let (likely, unlikely) = branches.split_at(split);
                self.followed.extend(likely.iter().filter(|_| first));
                self.followed.extend(unlikely.iter().filter(|_| others));
                new |= self.follow((state, sum), addresses, rest, Some(at))?;
            }
        }
        if rest.has_faults() && self.plan.fault == rest.offset {
            self.list_faults((state, sum))?;
            new |= self.follow((state, sum), addresses, rest, None)?;
        }
        if !goes_on && new {
            self.worker.search.walked.fetch_add(1, Relaxed);
        }
        Ok(())
    }

    fn list_faults(&mut self, (state, sum): (&[u32], u64)) -> PyResult<()> {
        let expander = &mut self.worker.expander;
        expander.candidates.clear();
        expander.list(state, sum, 0)?;
        self.followed.clear();
        let faults = expander.candidates.iter();
        let faults = faults.filter(|candidate| expander.is_fault(candidate));
        let faults = faults.filter(|candidate| candidate.fingerprint != sum);
        self.followed.extend(faults);
        // Listed by interned ids, which depend on what was met first.
        self.followed.sort_by_key(|candidate| candidate.fingerprint);
        Ok(())
    }

    /// Enter what the followed candidates lead to, and visit what is new; gives if anything is.
    fn follow(
        &mut self,
        (state, sum): (&[u32], u64),
        addresses: &[u32],
        rest: Rest,
        ran: Option<usize>,
    ) -> PyResult<bool> {
        let depth = rest.depth;
        let search = self.worker.search;
        let mut new = false;
        for index in 0..self.followed.len() {
            let candidate = self.followed[index];
            let key = nonzero(candidate.fingerprint);
            search.seen.reserve(search.limits.threads);
            let inserted = search.seen.read().insert(key, nonzero(sum), depth + 1);
            if inserted != Inserted::New {
                continue;
            }
            new = true;
            search.seen.add(1);
            search.frontier.fetch_add(1, Relaxed);
            search.depth.fetch_max(depth as usize + 1, Relaxed);
            self.learn_keys(state, addresses)?;
            self.learn_sent(&candidate);
            let mut next = std::mem::take(&mut self.next);
            next.clear();
            self.worker.expander.build(state, &candidate, &mut next);
            let route = || Route::Seen(key, None);
            self.worker.check_state(&next, Some(state), depth, route)?;
            search.check_states();
            let step = (ran, Some(rest.scheduler));
            self.visit((&next, candidate.fingerprint), depth + 1, step)?;
            self.next = next;
        }
        Ok(new)
    }

    /// The keys of the tasks of the state that is followed; once.
    fn learn_keys(&mut self, state: &[u32], addresses: &[u32]) -> PyResult<()> {
        if self.keys.is_empty() {
            for &address in addresses {
                let expander = &mut self.worker.expander;
                let key = self.names.key(expander, state, Address(address))?;
                self.keys.push(key);
            }
        }
        Ok(())
    }

    /// The keys of what a candidate sends.
    fn learn_sent(&mut self, candidate: &Candidate) {
        self.sent.clear();
        let expander = &self.worker.expander;
        let Some(effect) = expander.effects.get(candidate.effect) else {
            return;
        };
        let sends = expander.sends_of(candidate.effect);
        let mail = sends.iter().map(|&envelope| mail_key(expander, envelope));
        self.sent.extend(mail);
        if effect.flowing != NOWHERE {
            let flows = expander.flowing[effect.flowing as usize].flows().iter();
            let flows = flows.filter(|flow| flow.envelope.is_some());
            let keys = flows.map(|flow| stream_key((effect.node, flow.peer)));
            self.sent.extend(keys);
        }
    }
}
