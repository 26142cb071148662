//! The slots of a seen table: fingerprints and parents by open addressing, over atomics.
//!
//! Threads insert without locks. Invariant: a key once written never changes, so a found key needs
//! no second look.

use std::io;
use std::sync::atomic::Ordering::Relaxed;

use super::recent::Recent;
use super::store::Store;
use super::sync::AtomicU32;
use crate::table::scratch::Scratch;

/// Slots that are moved before the pages they filled are let go of.
pub const MOVED_AT_ONCE: usize = 1 << 18;
/// The part of the memory allowed that goes to `Recent`, one in so many.
const RECENT_SHARE: u64 = 8;

pub struct Slots {
    pub slots: Store,
    pub recent: Recent,
    pub depths: Box<[AtomicU32]>, // empty unless the search is bounded depth-first
    pub shift: u32,
}

/// What became of an insertion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inserted {
    New,
    /// Known, but now reached by a shorter path, so a depth-bounded search must look again.
    Shorter,
    Known,
}

impl Slots {
    pub fn with_bits(bits: u32, depths: bool) -> Self {
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

    pub fn in_file(bits: u32, depths: bool, scratch: &Scratch) -> io::Result<Self> {
        Ok(Self::over(Store::on_disk(bits, scratch)?, bits, depths))
    }

    /// Keep what is met from now on in memory, too, if the slots lie in a file. `Recent` knows
    /// nothing of depths.
    pub fn keep_recent(&mut self, limit_mib: u64) {
        if self.slots.is_on_disk() && self.depths.is_empty() {
            self.recent = Recent::of_mib(limit_mib / RECENT_SHARE);
        }
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
    pub fn find(&self, key: u64) -> (usize, u64) {
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
    pub fn take_over(&self, other: &Slots) {
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

    pub fn parent(&self, key: u64) -> Option<u64> {
        let (index, found) = self.find(key);
        (found == key).then(|| self.slots[index].parent.load(Relaxed))
    }
}
