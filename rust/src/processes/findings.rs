//! What is wrong in a state: failed processes, deadlocks, broken properties, posts without partner.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rustc_hash::FxHashMap;

use super::op::Op;
use super::state::{State, Status};
use super::world::World;
use crate::python::outcome::RunFinding;
use crate::python::turn;
use crate::reduce::por::Step;

pub struct Finding {
    pub kind: &'static str,
    pub detail: Vec<i64>,
    pub path: Vec<Step>,
    /// How often it was met.
    pub count: u64,
    /// What it cost, in a search in the order of delays.
    pub delays: u32,
}

impl Finding {
    fn outcome(&self) -> RunFinding {
        RunFinding {
            kind: self.kind,
            detail: self.detail.clone(),
            path: pairs(&self.path),
            count: self.count,
            delays: self.delays,
        }
    }
}

pub fn pairs(path: &[Step]) -> Vec<(u32, i32)> {
    path.iter().map(Step::pair).collect()
}

/// What to look for besides failures and deadlocks.
#[derive(Clone, Copy)]
pub struct Wanted {
    pub unmatched: bool,
    pub judge: bool,
}

pub struct Findings {
    wanted: Wanted,
    bridge: Py<PyAny>,
    pub all: Vec<Finding>,
    /// What is met now costs, in a search in the order of delays.
    pub delays: u32,
    /// Of a thread that works ahead: nothing is handed over.
    pub ahead: bool,
    verdicts: FxHashMap<Vec<(u32, i32, i32)>, Vec<i64>>,
}

type Wrong = (&'static str, Vec<i64>);

impl Findings {
    pub fn new(wanted: Wanted, bridge: Py<PyAny>) -> Self {
        Findings {
            wanted,
            bridge,
            all: Vec::new(),
            delays: 0,
            ahead: false,
            verdicts: FxHashMap::default(),
        }
    }

    /// Judge a state that `mover` has just led to, `None` at the start; whether all is well.
    /// `path` is asked for only when something is found that is new.
    pub fn inspect(
        &mut self,
        world: &World,
        state: &State,
        mover: Option<u32>,
        path: impl Fn() -> Vec<Step>,
    ) -> PyResult<bool> {
        let known = self.all.len();
        match mover {
            Some(process) => {
                let moved = [Some(process), state.born];
                let moved = moved.into_iter().flatten();
                moved.for_each(|process| self.failure(world, state, process, &path));
            }
            None => {
                let all = 0..state.members.len() as u32;
                all.for_each(|process| self.failure(world, state, process, &path));
            }
        }
        if self.wanted.judge {
            for broken in self.broken(&state.published)? {
                self.add(("property", vec![broken]), &path);
            }
        }
        Ok(self.all.len() == known)
    }

    fn failure(
        &mut self,
        world: &World,
        state: &State,
        process: u32,
        path: &impl Fn() -> Vec<Step>,
    ) {
        let member = state.member(process);
        if member.status == Status::Failed
            && let Op::Fail(message) = world.memo.op(member.local)
        {
            self.add(("failure", vec![process.into(), (*message).into()]), path);
        }
    }

    /// Judge a state in which nothing is enabled; whether all is well.
    pub fn inspect_end(&mut self, state: &State, path: impl Fn() -> Vec<Step>) -> bool {
        let known = self.all.len();
        let stuck: Vec<i64> = (0..state.members.len())
            .filter(|&at| state.members[at].stuck())
            .map(|at| at as i64)
            .collect();
        if !stuck.is_empty() {
            self.add(("deadlock", stuck), &path);
        } else if self.wanted.unmatched {
            for post in &state.posts {
                if state.member(post.owner).over() {
                    let detail = [post.mailbox, post.owner, post.send.into()];
                    self.add(("unmatched", detail.map(i64::from).into()), &path);
                }
            }
        }
        self.all.len() == known
    }

    fn add(&mut self, (kind, detail): Wrong, path: &impl Fn() -> Vec<Step>) {
        let same = |finding: &&mut Finding| finding.kind == kind && finding.detail == detail;
        match self.all.iter_mut().find(same) {
            Some(finding) => finding.count += 1,
            None => {
                let finding = Finding {
                    kind,
                    detail,
                    path: path(),
                    count: 1,
                    delays: self.delays,
                };
                self.hand_over(&finding);
                self.all.push(finding);
            }
        }
    }

    /// Let Python save what was just found: code that runs next may end the process. What goes
    /// wrong here is told when the exploration is over, where the same is done again.
    fn hand_over(&self, finding: &Finding) {
        if self.ahead {
            return;
        }
        Python::attach(|py| {
            let bridge = self.bridge.bind(py);
            drop(bridge.call_method1("found", (finding.outcome(),)));
        });
    }

    /// All of them, as Python sees them.
    pub fn outcome(&self, py: Python<'_>) -> PyResult<Vec<Py<RunFinding>>> {
        let all = self.all.iter();
        all.map(|finding| Py::new(py, finding.outcome())).collect()
    }

    /// The properties that published values break, by number.
    fn broken(&mut self, published: &[(u32, i32, i32)]) -> PyResult<Vec<i64>> {
        if let Some(known) = self.verdicts.get(published) {
            return Ok(known.clone());
        }
        turn::wait()?;
        let broken: Vec<i64> = Python::attach(|py| {
            let shown = PyTuple::new(py, published)?;
            self.bridge
                .bind(py)
                .call_method1("judge", (shown,))?
                .extract()
        })?;
        self.verdicts.insert(published.to_vec(), broken.clone());
        Ok(broken)
    }
}
