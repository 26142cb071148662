//! The set of fingerprints seen so far, each with the fingerprint it was first reached from.
//!
//! Open addressing over atomics: threads insert without locks. Only growing is exclusive; a thread
//! holds a `Reading` for a batch of insertions and must let go of it before it waits for anything,
//! the interpreter above all.
//!
//! Invariant: a key once written never changes, so a found key needs no second look. Sixteen
//! bytes a slot, at most three quarters full.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

use parking_lot::{RwLock, RwLockReadGuard};

#[derive(Default)]
struct Slot {
    key: AtomicU64, // 0: free
    parent: AtomicU64,
}

pub struct Slots {
    slots: Box<[Slot]>,
    depths: Box<[AtomicU32]>, // empty unless the search is bounded depth-first
    shift: u32,
}

pub struct Seen {
    slots: RwLock<Slots>,
    count: AtomicUsize,
    full_at: AtomicUsize,
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

fn zeroed(bits: u32) -> Box<[Slot]> {
    let words = 1usize << bits;
    let layout = std::alloc::Layout::array::<Slot>(words).expect("a table that fits in memory");
    // SAFETY: an all-zero Slot is a valid free slot. The allocator hands large zeroed blocks out as
    // untouched pages; building them slot by slot would touch the whole table at every growth.
    unsafe {
        let start = std::alloc::alloc_zeroed(layout).cast::<Slot>();
        if start.is_null() {
            std::alloc::handle_alloc_error(layout);
        }
        advise_huge_pages(start.cast(), layout.size());
        Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, words))
    }
}

/// Probes are random, so on a large table nearly each would miss the translation cache as well.
pub fn advise_huge_pages(start: *mut libc::c_void, bytes: usize) {
    const HUGE: usize = 2 << 20;
    let offset = start.align_offset(HUGE);
    if bytes >= 4 * HUGE && offset < bytes {
        // SAFETY: advice about memory we own; a refusal changes nothing but speed.
        unsafe {
            libc::madvise(start.add(offset), bytes - offset, libc::MADV_HUGEPAGE);
        }
    }
}

impl Slots {
    fn with_bits(bits: u32, depths: bool) -> Self {
        let mut depth_words = Vec::new();
        if depths {
            depth_words.resize_with(1 << bits, || AtomicU32::new(u32::MAX));
        }
        Slots {
            slots: zeroed(bits),
            depths: depth_words.into_boxed_slice(),
            shift: 64 - bits,
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
        loop {
            let (index, found) = self.find(key);
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
        }
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
        let larger = Slots::with_bits(bits, !slots.depths.is_empty());
        for (index, slot) in slots.slots.iter().enumerate() {
            let key = slot.key.load(Relaxed);
            if key != 0 {
                let depth = slots
                    .depths
                    .get(index)
                    .map_or(0, |depth| depth.load(Relaxed));
                larger.insert(key, slot.parent.load(Relaxed), depth);
            }
        }
        *slots = larger;
        self.full_at.store(Self::limit(bits), Relaxed);
    }

    /// The fingerprints from an initial state to `last`, both included.
    pub fn chain(&self, last: u64) -> Vec<u64> {
        let slots = self.read();
        let mut chain = vec![last];
        let mut key = last;
        while let Some(parent) = slots.parent(key).filter(|&parent| parent != 0) {
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
