//! Executions one by one, each of which moves a fault or an event of an earlier one.
//!
//! After Leesatapornwongsa, Hao, Joshi, Lukman, Gunawi, "SAMC: Semantic-Aware Model Checking", OSDI
//! 2014. An execution runs in a natural order to its end, and its faults come last. From it others
//! are made: a fault comes earlier, or an event comes before one that it does not commute with
//! (`moves.rs`). What commutes is found by taking both orders in the state: the paper's local
//! message and crash message independence, without rules. Of faults with equal keys
//! (`alike/keys.rs`) one is followed: its crash recovery and reboot synchronisation symmetry.
//!
//! Where no fault was left out, no execution was as long as may be, and no move is left, every
//! state was met: what could have happened is queued of each state that an execution was in, also
//! of those that a prescribed beginning only passes (`Runner::examined`).
//!
//! Which of the executions that wait is next decides how soon a bug is met (`lanes.rs`).
//!
//! **This is a heuristic.** Invariant: each state that is judged is reached by an execution from an
//! initial state; nobody claims that all of them are.

mod execution;
mod lanes;
mod moves;

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;

use self::execution::Runner;
use self::lanes::Lanes;
use super::Search;

/// Run executions until limits, a finding, or the last that waits.
pub fn work(search: &Search) -> PyResult<()> {
    let mut runner = Runner::new(search);
    let mut lanes = Lanes::default();
    runner.worker.sync();
    for start in 0..search.initial.len() {
        search.generated.fetch_add(1, Relaxed);
        lanes.begin(start, search.shared.layout.nodes as u32);
    }
    while let Some(item) = lanes.next(|item| runner.is_open(item)) {
        if search.walked.load(Relaxed) >= search.limits.walks || search.stopping() {
            return Ok(());
        }
        search.walked.fetch_add(1, Relaxed);
        let path = runner.run(&item)?;
        runner.make_moves(&item, &path, &mut lanes)?;
    }
    Ok(())
}
