//! How long a pass over the graph may go on: until its driver stops it.
//!
//! A pass asks once in so many states, so that asking costs nothing that can be measured. The first
//! state asks already: a pass whose time is over before it begins does nothing.

use std::cell::Cell;

/// The pass was stopped before its end: it says nothing.
#[derive(Debug, PartialEq, Eq)]
pub struct Cut;

pub struct Patience<'a> {
    stopping: &'a dyn Fn() -> bool,
    every: u32,
    left: Cell<u32>,
}

impl<'a> Patience<'a> {
    /// Ask `stopping` once in so many states, and at the first.
    pub fn new(every: u32, stopping: &'a dyn Fn() -> bool) -> Self {
        Patience {
            stopping,
            every,
            left: Cell::new(1),
        }
    }

    /// One state more.
    #[inline(always)]
    pub fn ask(&self) -> Result<(), Cut> {
        let left = self.left.get() - 1;
        self.left.set(left);
        if left == 0 { self.ask_now() } else { Ok(()) }
    }

    #[cold]
    fn ask_now(&self) -> Result<(), Cut> {
        self.left.set(self.every);
        if (self.stopping)() { Err(Cut) } else { Ok(()) }
    }
}
