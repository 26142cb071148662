//! Stateless exploration: every execution that differs, none that only swaps independent steps.
//!
//! Generic: a `Machine` says what can happen and which steps depend on each other; the exploration
//! knows nothing else. Two executions are *equivalent* if one becomes the other by swapping
//! neighbouring steps that are independent; `odpor` runs exactly one of each class.
//!
//! What a machine must keep to:
//! - A process is sequential, and its id is the same in equivalent executions.
//! - Independent steps of two processes, both enabled, stay enabled and commute: the same state
//!   either way, the same choices and, save where `stale` says so, the same labels.
//! - The label of a step is what it was *in the state it ran in*. An explorer never carries one to
//!   another state unless what ran in between was independent and not `stale` for it.
//! - Every execution ends, or the visitor cuts it.
//! - If other processes can disable a step (`can_be_disabled`), `waiting` lists it while it is
//!   disabled; or `disabled_by` names the processes that disable it.
//! - Where `labels_depend_on_order`, all choices of one step depend on the same steps.

mod apart;
mod debt;
mod desk;
mod named;
mod odpor;
mod offer;
mod part;
mod queue;
mod run;
mod sets;
#[cfg(test)]
mod shared;
mod stack;
mod trace;
mod tree;
mod wakeup;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use self::apart::Apart;
pub use self::apart::{Atlas, Below, Witness, explore_below};
use self::desk::{Alone, Desk, Shared};
pub use self::named::{Name, Named};
use self::odpor::Odpor;
pub use self::offer::{Closing, Pool, Team};
pub use self::part::serve;
pub use self::queue::{explore as explore_queued, sample};
use self::sets::{Kind, Sets};

/// What one process does next, and how its choice turns out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Step {
    pub process: u32,
    pub choice: i32,
}

impl Step {
    pub fn pair(&self) -> (u32, i32) {
        (self.process, self.choice)
    }
}

pub trait Machine {
    type State: Clone;
    type Label: Clone;
    type Error;
    /// What a machine must know to explore a part of what another one explores.
    type Brief;

    fn start(&mut self) -> Result<Self::State, Self::Error>;

    fn brief(&self) -> Self::Brief;

    /// Begin where another machine began, and learn what it knows.
    fn adopt(&mut self, brief: &Self::Brief) -> Result<(), Self::Error>;

    /// Another number whenever something was learnt that changes what is explored, or judged.
    fn version(&self) -> u64 {
        0
    }

    /// Steps run, those of race analysis too.
    fn work(&self) -> u64 {
        0
    }

    /// Count steps that another machine has run.
    fn add_work(&mut self, _steps: u64) {}

    /// Every enabled step, process by process; all choices of a process are neighbours.
    fn enabled(&mut self, state: &Self::State, into: &mut Vec<Step>) -> Result<(), Self::Error>;

    /// The enabled steps, or those up to the first process of which one is `awake`.
    fn enabled_until(
        &mut self,
        state: &Self::State,
        into: &mut Vec<Step>,
        _awake: impl Fn(Step) -> bool,
    ) -> Result<(), Self::Error> {
        self.enabled(state, into)
    }

    /// The enabled steps of one process.
    fn choices(
        &mut self,
        state: &Self::State,
        process: u32,
        into: &mut Vec<Step>,
    ) -> Result<(), Self::Error>;

    /// Do an enabled step; an error if it is not, since then dependence is wrong.
    fn run(&mut self, state: &mut Self::State, step: Step) -> Result<Self::Label, Self::Error>;

    /// Whether two steps, of different processes, must not swap places.
    fn dependent(&self, one: &Self::Label, other: &Self::Label) -> bool;

    /// Whether a label may be another once `ran`, though independent, ran before it.
    fn stale(&self, _ran: &Self::Label, _label: &Self::Label) -> bool {
        true
    }

    /// Whether `later` was enabled by `first`, for sure: then it cannot come before. Saves looking.
    fn enables(&self, _first: &Self::Label, _later: &Self::Label) -> bool {
        false
    }

    /// Whether such a step is not always enabled, and others can disable it again.
    fn can_be_disabled(&self, _label: &Self::Label) -> bool {
        false
    }

    /// Hindered steps that are not enabled: nobody runs them, so their races would go unseen.
    fn waiting(&mut self, _state: &Self::State, _into: &mut Vec<(u32, Self::Label)>) {}

    /// Whether a step is one to try early, where there is a choice of what to explore next.
    fn is_urgent(&self, _step: Step) -> bool {
        false
    }

    /// Whether a step that comes before a dependent one instead of after it may then depend on
    /// others than it did.
    fn labels_depend_on_order(&self) -> bool {
        false
    }

    /// Whether the step from `before` to `after`, of an execution that ended in `last`, may have
    /// disabled another process. Saves looking.
    fn may_disable(
        &mut self,
        _before: &Self::State,
        _after: &Self::State,
        _last: &Self::State,
    ) -> Result<bool, Self::Error> {
        Ok(false)
    }

    /// Whether each of two steps may keep the same process from running, so that it is disabled
    /// while either of them has happened.
    fn may_hide(
        &mut self,
        _first: [&Self::State; 2],
        _second: [&Self::State; 2],
    ) -> Result<bool, Self::Error> {
        Ok(false)
    }

    /// The processes enabled in `free` that the step from `before` to `after` would disable there.
    /// `free` is what `before` becomes by all that does not happen after that step, or after one
    /// more that `may_hide` what this one disables.
    fn disabled_by(
        &mut self,
        _step: (&Self::State, &Self::State),
        _free: &Self::State,
        _into: &mut Vec<u32>,
    ) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// How an execution ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Nothing is enabled.
    Over,
    /// All that is enabled was explored elsewhere.
    Asleep,
    /// As deep as allowed.
    Cut,
}

/// Which executions are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    None,
    Dpor,
    Sdpor,
    Odpor,
}

impl Reduction {
    pub fn named(name: &str) -> PyResult<Self> {
        match name {
            "none" => Ok(Reduction::None),
            "dpor" => Ok(Reduction::Dpor),
            "sdpor" => Ok(Reduction::Sdpor),
            "odpor" => Ok(Reduction::Odpor),
            _ => Err(PyValueError::new_err(format!(
                "no reduction is called `{name}`"
            ))),
        }
    }
}

/// Where reversals wait that are still to be explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reversals {
    Stack,
    Queue,
    /// Of an execution that is picked at random; they are not reversed again.
    Random,
}

impl Reversals {
    pub fn named(name: &str) -> PyResult<Self> {
        match name {
            "stack" => Ok(Reversals::Stack),
            "queue" => Ok(Reversals::Queue),
            "random" => Ok(Reversals::Random),
            _ => Err(PyValueError::new_err(format!(
                "reversals cannot wait in a `{name}`"
            ))),
        }
    }
}

/// Explore executions from the start of `machine`, until `visitor` has seen enough; with a pool,
/// others take part.
pub fn explore<M: Machine, V: Visitor<M>>(
    machine: &mut M,
    reduction: Reduction,
    visitor: &mut V,
    pool: Option<&Pool<'_, M, V>>,
) -> Result<(), M::Error> {
    match pool {
        None => explore_at(machine, reduction, visitor, Alone),
        Some(pool) => explore_at(machine, reduction, visitor, Shared::new(pool)),
    }
}

/// Explore the top of a tree, whose parts are explored elsewhere.
pub fn explore_top<M: Named, V: Witness<M>>(
    machine: &mut M,
    reduction: Reduction,
    visitor: &mut V,
    atlas: &mut Atlas,
) -> PyResult<()> {
    explore_at(machine, reduction, visitor, Apart::new(atlas, reduction))
}

fn explore_at<M: Machine, V: Visitor<M>, D>(
    machine: &mut M,
    reduction: Reduction,
    visitor: &mut V,
    mut desk: D,
) -> Result<(), M::Error>
where
    D: Desk<M, Sets<M>, V> + Desk<M, Odpor<M>, V>,
{
    let desk = &mut desk;
    match reduction {
        Reduction::None => run::explore(machine, Sets::of(Kind::All), visitor, desk),
        Reduction::Dpor => run::explore(machine, Sets::of(Kind::Persistent), visitor, desk),
        Reduction::Sdpor => run::explore(machine, Sets::of(Kind::Source), visitor, desk),
        Reduction::Odpor => run::explore(machine, Odpor::default(), visitor, desk),
    }
}

/// Explore by `explore`, and again as long as `visitor` asks for it; gives the times it did.
pub fn restarting<M: Machine, V: Visitor<M>>(
    machine: &mut M,
    visitor: &mut V,
    mut explore: impl FnMut(&mut M, &mut V) -> Result<(), M::Error>,
) -> Result<u32, M::Error> {
    let mut restarts = 0;
    loop {
        explore(machine, visitor)?;
        if !visitor.restart(machine) {
            return Ok(restarts);
        }
        restarts += 1;
    }
}

/// What was met so far.
#[derive(Default, Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Of the tree of executions, or of the trees, their roots included.
    pub nodes: u64,
    /// Executions that went to the end.
    pub traces: u64,
    /// Executions begun in vain: all that was left sleeps.
    pub blocked: u64,
    /// Executions cut because of their length.
    pub truncated: u64,
    /// The most steps of an execution.
    pub depth: usize,
}

impl Counts {
    pub fn enter(&mut self, path: &[Step]) {
        self.nodes += 1;
        self.depth = self.depth.max(path.len());
    }

    /// Count an execution; how many there were.
    pub fn end(&mut self, how: End) -> u64 {
        match how {
            End::Over => self.traces += 1,
            End::Asleep => self.blocked += 1,
            End::Cut => self.truncated += 1,
        }
        self.ended()
    }

    /// Executions that ended, in whatever way.
    pub fn ended(&self) -> u64 {
        self.traces + self.blocked + self.truncated
    }

    pub fn add(&mut self, other: &Counts) {
        self.nodes += other.nodes;
        self.traces += other.traces;
        self.blocked += other.blocked;
        self.truncated += other.truncated;
        self.depth = self.depth.max(other.depth);
    }
}

/// Who looks on. `false` ends the exploration.
pub trait Visitor<M: Machine> {
    /// What was met in a part of the tree.
    type Record;

    /// Whether the exploration is to stop.
    fn is_stopping(&self) -> bool {
        false
    }

    /// What was met since the last time; `None` if there is something among it that must be met in
    /// its order.
    fn hand_in(&mut self) -> Option<Self::Record>;

    /// Whether no limit is reached within a part.
    fn accepts(&self, record: &Self::Record) -> bool;

    /// Take over what was met in a part, as if it had been met here.
    fn absorb(&mut self, record: Self::Record) -> Result<(), M::Error>;

    /// The last step of `path` led to `state`, a node of the tree of executions.
    fn enter(&mut self, machine: &mut M, state: &M::State, path: &[Step])
    -> Result<bool, M::Error>;

    /// The same, of a node entered before.
    fn pass(&mut self, _state: &M::State, _path: &[Step]) {}

    fn end(
        &mut self,
        machine: &mut M,
        state: &M::State,
        path: &[Step],
        how: End,
    ) -> Result<bool, M::Error>;

    /// The most steps an execution may have.
    fn depth(&self) -> usize;

    /// Whether what depends on what proved to be another than was assumed, and all must be explored
    /// again; if so, forget what was met, and let the machine use what is known now.
    fn restart(&mut self, _machine: &mut M) -> bool {
        false
    }
}
