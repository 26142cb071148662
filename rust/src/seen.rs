//! The set of fingerprints seen so far, each with the fingerprint it was first reached from.
//!
//! Open addressing over atomics: threads insert without locks. Only growing is exclusive; a thread
//! holds a `Reading` for a batch of insertions and must let go of it before it waits for anything,
//! the interpreter above all.
//!
//! Invariant: a key once written never changes, so a found key needs no second look. Sixteen
//! bytes a slot, at most three quarters full. With a `Scratch`, the slots live in a file once they
//! would not fit into memory.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock, RwLockReadGuard};

use crate::recent::Recent;
use crate::scratch::Scratch;
use crate::store::{Slot, Store};

/// Slots that are moved before the pages they filled are let go of.
const MOVED_AT_ONCE: usize = 1 << 18;
/// The part of the memory allowed that goes to `Recent`, one in so many.
const RECENT_SHARE: u64 = 8;

pub struct Slots {
    slots: Store,
    recent: Recent,
    depths: Box<[AtomicU32]>, // empty unless the search is bounded depth-first
    shift: u32,
}

pub struct Seen {
    slots: RwLock<Slots>,
    count: AtomicUsize,
    full_at: AtomicUsize,
    scratch: OnceLock<Arc<Scratch>>,
    /// Why the table could not go to a file.
    trouble: Mutex<Option<io::Error>>,
}

pub type Reading<'a> = RwLockReadGuard<'a, Slots>;

/// What became of an insertion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inserted {
    New,
    /// Known, but now reached by a shorter path, so a depth-bounded search must look again.
    Shorter,
    Known,
}

impl Slots {
    fn with_bits(bits: u32, depths: bool) -> Self {
        Self::over(Store::in_memory(bits), bits, depths)
    }

    fn over(slots: Store, bits: u32, depths: bool) -> Self {
        let mut depth_words = Vec::new();
        if depths {
            depth_words.resize_with(1 << bits, || AtomicU32::new(u32::MAX));
        }
        Slots {
            slots,
            recent: Recent::default(),
            depths: depth_words.into_boxed_slice(),
            shift: 64 - bits,
        }
    }

    /// Slots in a file. `Recent` knows nothing of depths.
    fn in_file(bits: u32, depths: bool, scratch: &Scratch) -> io::Result<Self> {
        let mut slots = Self::over(Store::on_disk(bits, scratch)?, bits, depths);
        if !depths {
            slots.recent = Recent::of_mib(scratch.limit_mib / RECENT_SHARE);
        }
        Ok(slots)
    }

    #[inline(always)]
    fn home(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// Ask for the cache line of `key` ahead of its insertion.
    #[inline(always)]
    pub fn prefetch(&self, key: u64) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch is a hint, it never faults.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(self.slots.as_ptr().add(self.home(key)).cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = key;
    }

    /// The slot of `key`, free or taken.
    #[inline(always)]
    fn find(&self, key: u64) -> (usize, u64) {
        let mask = self.slots.len() - 1;
        let mut index = self.home(key);
        loop {
            let found = self.slots[index].key.load(Relaxed);
            if found == key || found == 0 {
                return (index, found);
            }
            index = (index + 1) & mask;
        }
    }

    /// Insert `key`; `depth` matters only when depths are kept.
    #[inline(always)]
    pub fn insert(&self, key: u64, parent: u64, depth: u32) -> Inserted {
        if self.recent.has(key) {
            return Inserted::Known;
        }
        loop {
            let (index, found) = self.find(key);
            self.recent.note(key);
            if found == key {
                return self.revisit(index, parent, depth);
            }
            let slot = &self.slots[index];
            if slot.key.compare_exchange(0, key, Relaxed, Relaxed).is_ok() {
                slot.parent.store(parent, Relaxed);
                if !self.depths.is_empty() {
                    self.depths[index].fetch_min(depth, Relaxed);
                }
                return Inserted::New;
            }
        }
    }

    #[inline(always)]
    fn revisit(&self, index: usize, parent: u64, depth: u32) -> Inserted {
        if self.depths.is_empty() || self.depths[index].fetch_min(depth, Relaxed) <= depth {
            return Inserted::Known;
        }
        self.slots[index].parent.store(parent, Relaxed);
        Inserted::Shorter
    }

    /// Enter all that `other` holds. Homes keep their order, so both tables are met in order.
    fn take_over(&self, other: &Slots) {
        for (index, slot) in other.slots.iter().enumerate() {
            let key = slot.key.load(Relaxed);
            if key != 0 {
                let depth = other
                    .depths
                    .get(index)
                    .map_or(0, |depth| depth.load(Relaxed));
                self.insert(key, slot.parent.load(Relaxed), depth);
            }
            if index % MOVED_AT_ONCE == 0 {
                self.slots.release();
                other.slots.release();
            }
        }
    }

    fn parent(&self, key: u64) -> Option<u64> {
        let (index, found) = self.find(key);
        (found == key).then(|| self.slots[index].parent.load(Relaxed))
    }
}

impl Seen {
    /// `depths`: remember at which depth each state was reached, 4 bytes more a slot.
    pub fn new(depths: bool) -> Self {
        let bits = 14;
        Seen {
            slots: RwLock::new(Slots::with_bits(bits, depths)),
            count: AtomicUsize::new(0),
            full_at: AtomicUsize::new(Self::limit(bits)),
            scratch: OnceLock::new(),
            trouble: Mutex::new(None),
        }
    }

    /// From now on the table may live in a file. Once, before the search begins.
    pub fn may_spill(&self, scratch: Arc<Scratch>) {
        self.scratch.get_or_init(|| scratch);
    }

    /// What went wrong on the way to a file since the last time this was asked.
    pub fn trouble(&self) -> Option<io::Error> {
        self.trouble.lock().take()
    }

    fn limit(bits: u32) -> usize {
        (1usize << bits) / 4 * 3
    }

    pub fn read(&self) -> Reading<'_> {
        self.slots.read()
    }

    pub fn len(&self) -> usize {
        self.count.load(Relaxed)
    }

    /// Count `new` insertions made under a `Reading`.
    pub fn add(&self, new: usize) {
        self.count.fetch_add(new, Relaxed);
    }

    /// Make room for `more` insertions. Call without holding a `Reading`.
    #[inline]
    pub fn reserve(&self, more: usize) {
        if self.len() + more > self.full_at.load(Relaxed) {
            self.grow(more);
        }
    }

    #[cold]
    fn grow(&self, more: usize) {
        let mut slots = self.slots.write();
        let mut bits = 64 - slots.shift;
        while self.len() + more > Self::limit(bits) {
            bits += 1;
        }
        if bits == 64 - slots.shift {
            return; // another thread was here first
        }
        let larger = self.larger(&slots, bits);
        larger.take_over(&slots);
        *slots = larger;
        self.full_at.store(Self::limit(bits), Relaxed);
    }

    /// Room for 2^`bits` slots: in a file if the table is there already or would not fit.
    fn larger(&self, slots: &Slots, bits: u32) -> Slots {
        let depths = !slots.depths.is_empty();
        let passes = |scratch: &&Arc<Scratch>| {
            slots.slots.is_on_disk() || scratch.passes(size_of::<Slot>() << bits)
        };
        if let Some(scratch) = self.scratch.get().filter(passes) {
            match Slots::in_file(bits, depths, scratch) {
                Ok(larger) => return larger,
                Err(error) => *self.trouble.lock() = Some(error),
            }
        }
        Slots::with_bits(bits, depths)
    }

    /// Take as little memory as can be: move the table to a file, or drop the pages it has there.
    pub fn relieve(&self, scratch: &Scratch) -> io::Result<()> {
        let slots = self.read();
        if slots.slots.is_on_disk() {
            slots.slots.release();
            return Ok(());
        }
        drop(slots);
        let mut slots = self.slots.write();
        let bits = 64 - slots.shift;
        let moved = Slots::in_file(bits, !slots.depths.is_empty(), scratch)?;
        moved.take_over(&slots);
        *slots = moved;
        Ok(())
    }

    /// Enter `count` fingerprints with their parents, into an empty table.
    pub fn fill<E>(
        &self,
        count: usize,
        mut next: impl FnMut() -> Result<(u64, u64), E>,
    ) -> Result<(), E> {
        self.reserve(count);
        let slots = self.read();
        for index in 0..count {
            let (key, parent) = next()?;
            slots.insert(key, parent, 0);
            if index % MOVED_AT_ONCE == 0 {
                slots.slots.release();
            }
        }
        self.add(count);
        Ok(())
    }

    /// Every fingerprint with its parent, while nobody inserts.
    pub fn each<E>(&self, mut visit: impl FnMut(u64, u64) -> Result<(), E>) -> Result<(), E> {
        let slots = self.read();
        for (index, slot) in slots.slots.iter().enumerate() {
            let key = slot.key.load(Relaxed);
            if key != 0 {
                visit(key, slot.parent.load(Relaxed))?;
            }
            if index % MOVED_AT_ONCE == 0 {
                slots.slots.release();
            }
        }
        Ok(())
    }

    /// The fingerprints from an initial state to `last`, both included. No chain is longer than
    /// the table: one that goes round, as a forged checkpoint may have it, is cut there.
    pub fn chain(&self, last: u64) -> Vec<u64> {
        let longest = self.len();
        let slots = self.read();
        let mut chain = vec![last];
        let mut key = last;
        while let Some(parent) = slots.parent(key).filter(|&parent| parent != 0) {
            if chain.len() > longest {
                break;
            }
            chain.push(parent);
            key = parent;
        }
        chain.reverse();
        chain
    }
}

#[cfg(test)]
mod tests {
    use super::{Inserted, Seen};
    use crate::fingerprint::scramble;

    #[test]
    fn threads_that_insert_the_same_keys_agree_on_who_was_first() {
        let seen = Seen::new(false);
        let new = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for key in 1..=100_000u64 {
                        seen.reserve(16);
                        let inserted = seen.read().insert(scramble(key), scramble(key - 1), 0);
                        if inserted == Inserted::New {
                            seen.add(1);
                            new.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!(new.into_inner(), 100_000);
        assert_eq!(seen.len(), 100_000);
    }

    #[test]
    fn a_chain_leads_back_to_the_first_state() {
        let seen = Seen::new(false);
        for key in 1..=50u64 {
            seen.read().insert(key, key - 1, 0);
        }
        assert_eq!(seen.chain(50), (1..=50).collect::<Vec<_>>());
    }

    #[test]
    fn a_shorter_path_is_told_apart_only_when_depths_are_kept() {
        let bounded = Seen::new(true);
        assert_eq!(bounded.read().insert(9, 0, 5), Inserted::New);
        assert_eq!(bounded.read().insert(9, 0, 6), Inserted::Known);
        assert_eq!(bounded.read().insert(9, 0, 3), Inserted::Shorter);
        let plain = Seen::new(false);
        assert_eq!(plain.read().insert(9, 0, 5), Inserted::New);
        assert_eq!(plain.read().insert(9, 0, 3), Inserted::Known);
    }
}
