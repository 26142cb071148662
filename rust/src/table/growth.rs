//! A table that is being moved to a larger one, by whichever threads come along.
//!
//! Moving a large table takes as long as thousands of batches, and meanwhile nobody can insert. So
//! every thread that wants the table moves a part of it: it takes the next range of words and
//! enters what they hold into the larger table, like anything else.
//!
//! Invariant: ranges are taken under a `Reading`, and each is moved before that is given back.
//! A thread that holds the table alone and finds no range left therefore finds all of them moved.

use std::sync::atomic::Ordering::Relaxed;

use super::slots::Slots;
use super::sync::{AtomicUsize, Mutex, RANGE};

/// How often a thread has moved a part of a table while another moved the rest.
#[cfg(test)]
pub static SHARED: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

pub struct Growth {
    pub larger: Slots,
    /// The first word that nobody has taken.
    next: AtomicUsize,
    moved: Mutex<Moved>,
}

/// Which ranges are moved: all before the first one that is not, and some behind it.
#[derive(Default)]
struct Moved {
    ranges: Vec<bool>,
    first: usize,
}

impl Growth {
    pub fn to(larger: Slots) -> Self {
        Growth {
            larger,
            next: AtomicUsize::new(0),
            moved: Mutex::new(Moved::default()),
        }
    }

    /// Whether no range of `slots`, to which this belongs, is left to be taken.
    pub fn is_over(&self, slots: &Slots) -> bool {
        self.next.load(Relaxed) >= slots.words()
    }

    /// Move ranges of `slots` as long as there are any.
    pub fn help(&self, slots: &Slots) {
        let mut _words = 0; // moved here
        loop {
            let start = self.next.fetch_add(RANGE, Relaxed);
            if start >= slots.words() {
                #[cfg(test)]
                SHARED.fetch_add(usize::from((1..slots.words()).contains(&_words)), Relaxed);
                return;
            }
            let end = slots.words().min(start + RANGE);
            self.larger.take_over_words(slots, start..end);
            self.forget(slots, start / RANGE);
            _words += end - start;
        }
    }

    /// A range is moved: give back the memory of all that lies before the first one that is not.
    fn forget(&self, slots: &Slots, range: usize) {
        let mut moved = self.moved.lock();
        if moved.ranges.len() <= range {
            moved.ranges.resize(range + 1, false);
        }
        moved.ranges[range] = true;
        while moved.ranges.get(moved.first) == Some(&true) {
            moved.first += 1;
        }
        slots.forget(slots.words().min(moved.first * RANGE));
    }
}
