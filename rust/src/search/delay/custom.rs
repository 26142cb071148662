//! A user's scheduler: a small state of its own, asked once for each answer.
//!
//! Python holds the states of the scheduler and numbers them. It is asked in which order the tasks
//! of a state come, and which state of its own a step leads to. Each thread remembers both answers
//! under all that they may depend on, so that the loop stays free of Python.

use std::sync::Arc;

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::agenda::Task;
use super::order::Step;
use crate::table::fingerprint::{combine_iter, scramble};

/// The keys of some tasks in order, and the state of the scheduler when each is next.
pub struct Arranged {
    keys: Vec<u64>,
    states: Vec<u32>,
}

pub struct Custom<'a> {
    user: &'a Py<PyAny>,
    arranged: FxHashMap<(u32, u64), Arc<Arranged>>,
    steps: FxHashMap<(u32, u64), u32>,
}

/// A number for a set of keys, in whatever order they come.
fn of_set(keys: impl Iterator<Item = u64>) -> u64 {
    keys.fold(0, |sum, key| sum.wrapping_add(scramble(key)))
}

fn sorted(keys: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut keys: Vec<u64> = keys.collect();
    keys.sort_unstable();
    keys
}

impl<'a> Custom<'a> {
    pub fn new(user: &'a Py<PyAny>) -> Self {
        Custom {
            user,
            arranged: FxHashMap::default(),
            steps: FxHashMap::default(),
        }
    }

    /// Sort the tasks of a state that `step` led to, or of one to begin with; gives the state of
    /// the scheduler there.
    pub fn arrange(&mut self, step: &Step<'_>, tasks: &mut [Task]) -> PyResult<u32> {
        let keys = || tasks.iter().map(|task| task.key);
        let state = match step.state {
            None => Python::attach(|py| {
                let state = self.user.call_method1(py, "start", (sorted(keys()),))?;
                state.extract(py)
            })?,
            Some(waited) => self.step(waited, step, keys)?,
        };
        let arranged = self.arranged(state, keys)?;
        tasks.sort_by_key(|task| arranged.keys.iter().position(|&key| key == task.key));
        Ok(state)
    }

    fn step<I>(&mut self, waited: u32, step: &Step<'_>, after: impl Fn() -> I) -> PyResult<u32>
    where
        I: Iterator<Item = u64>,
    {
        let before = || step.before.iter().copied();
        let ran = step.ran.map(|at| step.before[at]);
        let state = match step.ran {
            None => waited,
            Some(at) => self.arranged(waited, before)?.states[at],
        };
        let sets = [of_set(before()), of_set(after()), ran.unwrap_or(0)];
        let known = (state, combine_iter(sets));
        if let Some(&state) = self.steps.get(&known) {
            return Ok(state);
        }
        let state = Python::attach(|py| {
            let question = (state, ran, sorted(before()), sorted(after()));
            self.user.call_method1(py, "step", question)?.extract(py)
        })?;
        self.steps.insert(known, state);
        Ok(state)
    }

    fn arranged<I>(&mut self, state: u32, keys: impl Fn() -> I) -> PyResult<Arc<Arranged>>
    where
        I: Iterator<Item = u64>,
    {
        let known = (state, of_set(keys()));
        if let Some(arranged) = self.arranged.get(&known) {
            return Ok(arranged.clone());
        }
        let (keys, states) = Python::attach(|py| {
            let question = self
                .user
                .call_method1(py, "arrange", (state, sorted(keys())))?;
            question.extract(py)
        })?;
        let arranged = Arc::new(Arranged { keys, states });
        self.arranged.insert(known, arranged.clone());
        Ok(arranged)
    }
}
