//! Executions one by one, each of which moves a fault or an event of an earlier one.
//!
//! After Leesatapornwongsa, Hao, Joshi, Lukman, Gunawi, "SAMC: Semantic-Aware Model Checking", OSDI
//! 2014. An execution runs in a natural order to its end, and its faults come last. From it others
//! are made: a fault comes earlier, or an event comes before one that it does not commute with
//! (`moves.rs`). What commutes is found by taking both orders in the state: the paper's local
//! message and crash message independence, without rules. Of faults with equal keys
//! (`alike/keys.rs`) one is followed: its crash recovery and reboot synchronisation symmetry.
//!
//! Which of the executions that wait comes next decides how soon a bug is met (`lanes.rs`).
//!
//! **This is a heuristic.** It finds what is there, and never says that nothing else is.

mod execution;
mod lanes;
mod moves;

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;

use self::execution::Runner;
use self::lanes::{Item, Lanes};
use super::Search;

pub fn work(search: &Search) -> PyResult<()> {
    let mut runner = Runner::new(search);
    let mut lanes = Lanes::default();
    runner.worker.sync();
    for start in 0..search.initial.len() {
        lanes.begin(start);
    }
    while let Some(item) = lanes.next(|item: &Item| runner.is_open(item)) {
        if search.walked.load(Relaxed) >= search.limits.walks || search.stopping() {
            return Ok(());
        }
        search.walked.fetch_add(1, Relaxed);
        if std::env::var("SEM_LOG").is_ok() { eprintln!("{} {:?} pure {} cost {} prefix {}", search.walked.load(Relaxed), item.order, item.pure, item.cost, item.steps.len()); }
        if let Some(path) = runner.run(&item)? {
            runner.moves(&item, &path, &mut lanes)?;
        }
    }
    Ok(())
}
