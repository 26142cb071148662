//! Parts of a tree that other threads may explore, and where these find them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

use parking_lot::Mutex;

use super::debt::Debt;
use super::stack::{Labelled, Twigs};
use super::{Machine, Reduction, Step, Visitor};
use crate::python::turn::{Bell, Turn};

/// What was met in a part, and what it asks for above it.
pub struct Handed<M: Machine, R> {
    pub debts: Vec<(usize, Debt<M>)>,
    pub record: R,
    /// What slept at its root.
    pub asleep: Vec<Step>,
    /// `Stack::reversed` at its end.
    pub reversed: usize,
    /// `Machine::work` that it took.
    pub work: u64,
}

pub enum Progress<M: Machine, R> {
    Waiting,
    Running,
    Done(Handed<M, R>),
    /// Something came up that must be met in its order, or nobody wants it any more.
    Failed,
}

/// A part of the tree: all that is below one node.
pub struct Offer<M: Machine, R> {
    pub turn: Arc<Turn>,
    pub brief: M::Brief,
    pub version: u64,
    /// To the level of the branch; from there to the node; what must be taken first behind it.
    pub prefix: Vec<Step>,
    pub step: Step,
    pub below: Twigs<M>,
    /// At the level of the branch, when it is its turn.
    pub sleep: Vec<Labelled<M>>,
    pub progress: Mutex<Progress<M, R>>,
}

impl<M: Machine, R> Offer<M, R> {
    /// Take it, if it waits.
    pub fn claim(&self) -> bool {
        let mut progress = self.progress.lock();
        let waits = matches!(*progress, Progress::Waiting);
        if waits {
            *progress = Progress::Running;
        }
        waits
    }

    /// Nobody need explore it, or look any further.
    pub fn abandon(&self) {
        let mut progress = self.progress.lock();
        if matches!(*progress, Progress::Waiting) {
            *progress = Progress::Failed;
        }
        drop(progress);
        self.turn.abandon();
    }

    pub fn is_settled(&self) -> bool {
        !matches!(*self.progress.lock(), Progress::Running)
    }
}

/// Makes what another thread needs to take part: a machine, and who looks on.
pub trait Team<M: Machine, V: Visitor<M>>: Sync {
    /// `None` if there are enough already.
    fn recruit(&self) -> Option<(M, V)>;
}

type Offers<M, V> = Vec<Arc<Offer<M, <V as Visitor<M>>::Record>>>;

/// Where the threads that explore one tree meet.
pub struct Pool<'t, M: Machine, V: Visitor<M>> {
    pub team: &'t dyn Team<M, V>,
    pub reduction: Reduction,
    queue: Mutex<Offers<M, V>>,
    pub bell: Arc<Bell>,
    closed: AtomicBool,
    /// Threads that look for something to do.
    pub idle: AtomicUsize,
    waiting: AtomicUsize,
    /// Parts that others explored: taken over, and explored again.
    pub collected: AtomicU64,
    pub lost: AtomicU64,
    /// Instead of threads: what is handed over, when and whether, is thrown by dice.
    pub seed: Option<u64>,
}

impl<'t, M: Machine, V: Visitor<M>> Pool<'t, M, V> {
    /// Without a seed, threads take part. `asks`: these may ask Python, too, when it is their turn.
    pub fn new(
        team: &'t dyn Team<M, V>,
        reduction: Reduction,
        seed: Option<u64>,
        asks: bool,
    ) -> Self {
        Pool {
            team,
            reduction,
            queue: Mutex::new(Vec::new()),
            bell: Arc::new(Bell::new(seed.is_some() || !asks)),
            closed: AtomicBool::new(false),
            idle: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            collected: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            seed,
        }
    }

    /// Whether some thread has nothing to do.
    #[inline]
    pub fn is_hungry(&self) -> bool {
        self.idle.load(Relaxed) > self.waiting.load(Relaxed)
    }

    pub fn put(&self, offer: Arc<Offer<M, V::Record>>) {
        let mut queue = self.queue.lock();
        queue.push(offer);
        self.waiting.store(queue.len(), Relaxed);
        drop(queue);
        self.bell.ring();
    }

    /// Claim the part that was offered first, of those within a part if one is named.
    pub fn take(&self, within: Option<&Arc<Turn>>) -> Option<Arc<Offer<M, V::Record>>> {
        let mut queue = self.queue.lock();
        let waits =
            |offer: &Arc<Offer<M, V::Record>>| matches!(*offer.progress.lock(), Progress::Waiting);
        queue.retain(waits);
        let fits = |offer: &Arc<Offer<M, V::Record>>| {
            within.is_none_or(|turn| offer.turn.is_within(turn)) && offer.claim()
        };
        let at = queue.iter().position(fits);
        let taken = at.map(|at| queue.remove(at));
        self.waiting.store(queue.len(), Relaxed);
        taken
    }

    pub fn close(&self) {
        self.closed.store(true, Relaxed);
        self.bell.ring();
    }

    pub fn is_closed(&self) -> bool {
        self.closed.load(Relaxed)
    }
}

/// Lets the other threads go, however this one ends.
pub struct Closing<'p, 't, M: Machine, V: Visitor<M>>(pub &'p Pool<'t, M, V>);

impl<M: Machine, V: Visitor<M>> Drop for Closing<'_, '_, M, V> {
    fn drop(&mut self) {
        self.0.close();
    }
}
