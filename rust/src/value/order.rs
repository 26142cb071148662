//! The second order: sets and dicts rebuilt so that they are iterated in another order.
//!
//! Python promises no order of a set, and the order of a dict is no part of its value here. A step
//! whose outcome depends on either is found by running it once more on copies in another order: a
//! dict filled the other way round, a set whose table has another layout. CPython could show each
//! of them, for other hashes or after other elements were removed.
//!
//! Invariant: the order holds for one thread, while a guard lives; everything decoded there obeys.

use std::cell::{Cell, RefCell};

use pyo3::prelude::*;
use pyo3::types::{PyAny, PySet};
use rustc_hash::FxHashMap;

use super::raw;
use super::table::{BLOCKER, Table};

thread_local! {
    static SECOND: Cell<bool> = const { Cell::new(false) };
    /// What `blockers` found, by hashes: the same few sets come again and again.
    static KNOWN: RefCell<FxHashMap<Vec<u64>, Vec<u64>>> = RefCell::default();
}

/// So many sets are remembered; when they are reached, all are forgotten.
const KNOWN_MAX: usize = 1 << 12;

/// How many of the places where an element could go are taken before it comes. A small table, for
/// up to four elements, is tried first; in a larger one ten places follow each other.
const BLOCKED: [u64; 14] = [1, 2, 10, 11, 12, 3, 0, 13, 14, 4, 20, 6, 15, 30];
/// If that was no use, any two numbers below this are tried.
const MANY: u64 = 31;
/// From here on a table is not small.
const LARGE: usize = 4;
/// The bits of a hash that decide where the first probes go.
const LOW_BITS: u64 = (1 << 55) - 1;

/// Is everything that this thread decodes rebuilt in the second order?
#[inline]
pub fn is_second() -> bool {
    SECOND.get()
}

/// While it lives, this thread decodes in the second order, or in the canonical one again.
pub struct OrderGuard(bool);

impl OrderGuard {
    pub fn new(second: bool) -> Self {
        OrderGuard(SECOND.replace(second))
    }
}

impl Drop for OrderGuard {
    fn drop(&mut self) {
        SECOND.set(self.0);
    }
}

/// Put `items`, at least two, into the empty `set` so that it begins and ends with other elements
/// than if they had been added one after the other; in any other order if none of these is found.
pub fn fill<'py>(set: &Bound<'py, PySet>, items: &[Bound<'py, PyAny>]) -> PyResult<()> {
    let hashes = items.iter().map(|item| Ok(item.hash()? as u64));
    let hashes = hashes.collect::<PyResult<Vec<u64>>>()?;
    // An integer is its own hash; one that differs in high bits only goes the same way.
    let blockers = known_blockers(hashes);
    blockers.iter().try_for_each(|blocker| set.add(blocker))?;
    items.iter().rev().try_for_each(|item| set.add(item))?;
    blockers
        .iter()
        .try_for_each(|blocker| set.discard(blocker).map(drop))?;
    if set.len() < items.len() {
        // An element is a large number, and equal to a blocker: it went with that one.
        items.iter().try_for_each(|item| set.add(item))?;
    }
    Ok(())
}

/// `blockers`, remembered.
fn known_blockers(hashes: Vec<u64>) -> Vec<u64> {
    let known = KNOWN.with_borrow(|known| known.get(&hashes).cloned());
    known.unwrap_or_else(|| {
        let found: Vec<u64> = blockers(&hashes).collect();
        KNOWN.with_borrow_mut(|known| {
            if known.len() >= KNOWN_MAX {
                known.clear();
            }
            known.insert(hashes, found.clone());
        });
        found
    })
}

/// The integers to be in a set before its elements come, last first.
fn blockers(hashes: &[u64]) -> impl Iterator<Item = u64> + use<> {
    let mut table = Table::default();
    table.clear();
    for (number, &hash) in (0..).zip(hashes) {
        table.add(hash, number);
    }
    let usual: Vec<u32> = table.order().collect();
    let ends = [usual.first(), usual.last()];
    let places = ends.map(|end| hashes[end.copied().unwrap_or_default() as usize] & LOW_BITS);
    let skipped = if hashes.len() < LARGE { 0 } else { 2 };
    let tries = BLOCKED.into_iter().skip(skipped);
    let tries = tries.flat_map(|one| [0, one, 1, 10, 11, 2, 12].map(|two| [one, two]));
    let rest = (0..MANY).flat_map(|one| (0..MANY).map(move |two| [one, two]));
    let mut tries = tries.chain(rest);
    let mut other = [0, 0];
    let found = tries.find(|&counts| {
        table.clear();
        for blocker in taken(places, counts) {
            table.add(blocker, BLOCKER);
        }
        for (number, &hash) in (0..hashes.len() as u32).zip(hashes).rev() {
            table.add(hash, number);
        }
        if table.order().ne(usual.iter().copied()) {
            other = counts;
        }
        let begins = table.order().next() != ends[0].copied();
        begins && table.order().next_back() != ends[1].copied()
    });
    taken(places, found.unwrap_or(other))
}

/// Integers that take so many of the first slots of each place.
fn taken(places: [u64; 2], counts: [u64; 2]) -> impl Iterator<Item = u64> {
    let each = |(place, count): (u64, u64)| (1..=count).map(move |number| place | number << 55);
    places.into_iter().zip(counts).flat_map(each)
}

/// A frozenset of `items` in another order.
pub fn frozen<'py>(py: Python<'py>, items: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    let set = PySet::empty(py)?;
    fill(&set, items)?;
    // SAFETY: it was made here, and nobody else has seen it.
    Ok(unsafe { raw::freeze(set) })
}
