//! Whose turn it is to ask Python, where threads explore parts of one tree ahead of time.
//!
//! What Python answers gets the next number, and may change what is explored from then on. So it is
//! asked in the order in which one thread would ask: a thread that works ahead waits until all that
//! comes before its part is done, which is when another thread waits for that part.
//!
//! Invariant: at most one of the threads that explore a tree is not held back by `wait`.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// A change that rang no bell is seen after this.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Rings when a turn may have come.
pub struct Bell {
    lock: Mutex<()>,
    ring: Condvar,
    /// Threads that work ahead never ask: one thread does everything, or asking belongs to one.
    native: bool,
}

impl Bell {
    pub fn new(native: bool) -> Self {
        Bell {
            lock: Mutex::default(),
            ring: Condvar::new(),
            native,
        }
    }

    pub fn ring(&self) {
        let _guard = self.lock.lock();
        self.ring.notify_all();
    }

    /// Wait until `ready`, or until somebody rings and it is worth while to look around.
    pub fn wait(&self, mut ready: impl FnMut() -> bool) {
        let mut guard = self.lock.lock();
        if !ready() {
            self.ring.wait_for(&mut guard, LOOK_AGAIN);
        }
    }
}

/// The turn of one part of the tree.
pub struct Turn {
    /// Of the part that this one is a part of.
    parent: Option<Arc<Turn>>,
    /// The thread that explores the parent has come to this part.
    awaited: AtomicBool,
    /// Nobody will ask for this part any more.
    abandoned: AtomicBool,
    bell: Arc<Bell>,
}

impl Turn {
    pub fn new(parent: Option<Arc<Turn>>, bell: Arc<Bell>) -> Self {
        Turn {
            parent,
            awaited: AtomicBool::new(false),
            abandoned: AtomicBool::new(false),
            bell,
        }
    }

    pub fn await_it(&self) {
        self.awaited.store(true, SeqCst);
        self.bell.ring();
    }

    pub fn abandon(&self) {
        self.abandoned.store(true, SeqCst);
        self.bell.ring();
    }

    fn has_come(&self) -> bool {
        self.awaited.load(SeqCst) && self.parent.as_ref().is_none_or(|parent| parent.has_come())
    }

    pub fn is_abandoned(&self) -> bool {
        let above = || self.parent.as_ref().is_some_and(|it| it.is_abandoned());
        self.abandoned.load(SeqCst) || above()
    }

    /// Whether this is a part of what `other` is the turn of.
    pub fn is_within(&self, other: &Arc<Turn>) -> bool {
        let parent = self.parent.as_ref();
        parent.is_some_and(|parent| Arc::ptr_eq(parent, other) || parent.is_within(other))
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Turn>>> = const { RefCell::new(None) };
}

/// While this lives, the thread waits for a turn before it asks Python.
pub struct Ahead(Option<Arc<Turn>>);

impl Ahead {
    pub fn of(turn: &Arc<Turn>) -> Self {
        Ahead(CURRENT.replace(Some(turn.clone())))
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        CURRENT.replace(self.0.take());
    }
}

/// Wait until this thread may ask Python; an error if it need not ask any more.
pub fn wait() -> PyResult<()> {
    let Some(turn) = CURRENT.with_borrow(Clone::clone) else {
        return Ok(());
    };
    let over = || PyRuntimeError::new_err("nobody waits for this part of the tree any more");
    loop {
        if turn.is_abandoned() || turn.bell.native {
            return Err(over());
        }
        if turn.has_come() {
            return Ok(());
        }
        turn.bell.wait(|| turn.has_come() || turn.is_abandoned());
    }
}
