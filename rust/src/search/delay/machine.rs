//! What a search by delays explores: services, services in a hunt, or processes.

use pyo3::prelude::*;

use super::agenda::{Address, Task};
pub use super::price::Turn;
use crate::python::tables::StopReason;
use crate::search::level::Level;

/// A state: its words and its fingerprint.
pub type State<'s> = (&'s [u32], u64);

pub trait Machine {
    /// Enter and judge the states to begin with, and store them in `out`.
    fn begin(&mut self, out: &mut Vec<u32>) -> PyResult<()>;

    /// List the tasks of a state that was just entered, and judge its steps; gives whether faults
    /// can happen, and nothing if the state is too deep. `parent`: from which it was reached.
    fn visit(
        &mut self,
        state: State<'_>,
        depth: u32,
        parent: Option<u64>,
        tasks: &mut Vec<Task>,
    ) -> PyResult<Option<bool>>;

    /// The key of the task at an address.
    fn key(&mut self, state: &[u32], address: Address) -> PyResult<u64>;

    /// List the branches of a task, the likely first; gives how many. They stay listed while states
    /// are visited.
    fn list(&mut self, state: State<'_>, address: Address) -> PyResult<usize>;

    /// List the faults whose turn it is, where `first` is the first task; gives how many.
    fn list_faults(
        &mut self,
        state: State<'_>,
        first: Option<Address>,
        turn: Turn,
    ) -> PyResult<usize>;

    /// Whether a branch listed and the likely branch of the first task lead to the same state in
    /// either order. Where nobody can tell, they do not.
    fn commutes(&mut self, _state: State<'_>, _first: Address, _branch: usize) -> PyResult<bool> {
        Ok(false)
    }

    /// Whether what a branch listed leads to was never met; then it is entered.
    fn is_new(&mut self, from: State<'_>, depth: u32, branch: usize) -> PyResult<bool>;

    /// Write out and judge what a branch leads to; gives its fingerprint, and in `sent` the keys of
    /// the mail that is sent, in order.
    fn build(
        &mut self,
        from: State<'_>,
        depth: u32,
        branch: usize,
        next: &mut Vec<u32>,
        sent: &mut Vec<u64>,
    ) -> PyResult<u64>;

    /// A run ends here: what goes on without a delay leads to nothing new.
    fn end(&mut self, _state: State<'_>) {}

    /// Nothing is left to do in a state; `cut`: it is too deep.
    fn leave(&mut self, state: State<'_>, cut: bool);

    /// An execution was begun that is not the one just gone on with.
    fn count_execution(&self);

    /// Before waiting for other threads, or for good.
    fn pause(&mut self) {}

    /// Before working on states that other threads made.
    fn sync(&mut self) {}

    fn threads(&self) -> usize {
        1
    }

    /// How many states are known.
    fn known(&self) -> usize;

    fn stopping(&self) -> bool;

    fn stop(&self, reason: StopReason);

    /// All that costs as much as is allowed was explored; `last`: no more will be. Called by one
    /// thread, while all others wait.
    fn bound_done(&self, _last: bool) -> PyResult<()> {
        Ok(())
    }

    /// So many delays are allowed from now on.
    fn allow(&self, delays: u32);

    /// Move what waits to a file, if memory is short.
    fn relieve(&self, _waiting: &mut Level) {}
}
