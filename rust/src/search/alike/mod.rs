//! Crashes and restarts that are like ones tried before are left out.
//!
//! After Leesatapornwongsa, Hao, Joshi, Lukman, Gunawi, "SAMC: Semantic-Aware Model Checking", OSDI
//! 2014: crash recovery symmetry and reboot synchronization symmetry. A fault of a node is known by
//! its kind, the role of the node and the sorted roles of the others (`keys.rs`); a role is what
//! recovery depends on, as far as the user says. Of faults with equal keys one is followed. A
//! restart is not followed either while no role has changed since the crash.
//!
//! **This is a heuristic**: roles say less than states. Each place that was left out is counted,
//! and a search that left out anything has not met all states. Some of these places are followed
//! all the same for a while (`audit.rs`), to find out whether they are alike.
//!
//! **It is exact where nodes are interchangeable** (`exact`): there a fault is left out if a fault
//! followed before led to the same state up to an exchange of nodes. Let V be the states met. For
//! each step from s in V to t, either t is in V, or the step is a fault and some image of t is in
//! V. Claim: of each reachable state some image is in V. By induction: an initial state is in V. If
//! u is reached from s by a step, and the image p(s) is in V, then there is a step from p(s) to
//! p(u), since exchanges preserve steps. So p(u) is in V, or an image of p(u) is, which is an image
//! of u. Properties that do not tell images apart are thus judged as in all states. That exchanges
//! preserve steps and verdicts is compared while searching, as in every symmetric search. Steps
//! themselves are judged when a state is met, also those of faults that are not followed.
//!
//! Invariant: where the counts say that nothing was skipped, nothing was.

mod audit;
mod faults;
mod keys;
mod walked;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use pyo3::prelude::*;

pub use self::faults::Alike;
pub use self::keys::{Crashed, Keys, Place, is_at_rest};
pub use self::walked::InWalk;
use super::Search;

/// How faults are compared: see `presage.limits`.
#[derive(FromPyObject)]
pub struct Plan {
    /// Says what the roles of local states are, and hears of faults that are not alike.
    roles: Py<PyAny>,
    /// Per node: whether the types of the messages to and from it count, too.
    flight: Vec<bool>,
    /// How many states are looked at behind a fault that is followed all the same.
    audit: usize,
    /// Whether faults are compared by the states that they lead to, up to an exchange of nodes.
    pub exact: bool,
}

impl Plan {
    /// Call what Python gave.
    fn call<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        asked: impl pyo3::call::PyCallArgs<'py>,
    ) -> PyResult<()> {
        self.roles.bind(py).call_method1(method, asked).map(drop)
    }
}

/// What was left out, by all threads.
#[derive(Default)]
pub struct Counts {
    pub places: AtomicU64,
    pub skipped: AtomicU64,
    pub audited: AtomicU64,
    /// States, by audits.
    pub looked_at: AtomicU64,
}

impl Counts {
    pub fn place(&self) {
        self.places.fetch_add(1, Relaxed);
    }

    /// Count a place that is left out; gives how many are.
    pub fn skip(&self) -> u64 {
        self.skipped.fetch_add(1, Relaxed) + 1
    }

    fn audit(&self) {
        self.audited.fetch_add(1, Relaxed);
    }
}

impl Search {
    /// Listed faults that are not followed have not happened.
    fn discount_faults(&self, fault: usize, steps: usize) {
        self.faults[fault].fetch_sub(steps as u64, Relaxed);
    }
}
