//! The slots of a seen table: fingerprints in buckets, over atomics, and their parents beside them.
//!
//! A bucket is one cache line of keys, and behind it one of their parents. Most look-ups find what
//! they look for, and read keys only; a parent is written once and read for a trace. A full bucket
//! goes on to the next one.
//!
//! Threads insert without locks: a key takes the first free place of its bucket. Invariant: a key
//! once written never changes, so a found key needs no second look.

use std::convert::Infallible;
use std::io;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use super::growth::Growth;
use super::recent::Recent;
use super::store::Store;
use super::sync::{AtomicU32, BUCKET_BITS};
use crate::table::scratch::Scratch;

/// Words that are moved before the pages they filled are let go of: those of a huge page.
pub const MOVED_AT_ONCE: usize = 1 << 18;
/// The part of the memory allowed that goes to `Recent`, one in so many.
const RECENT_SHARE: u64 = 8;

/// Keys in a bucket.
const BUCKET: usize = 1 << BUCKET_BITS;

pub struct Slots {
    words: Store, // a key that is 0 is free
    pub recent: Recent,
    pub depths: Box<[AtomicU32]>, // empty unless the search is bounded depth-first
    pub bits: u32,
    /// Where all of it is being moved: nobody inserts here any more.
    pub growth: Option<Box<Growth>>,
}

/// The first word of the bucket of `key` in a table of 2^`bits` keys.
#[inline(always)]
fn home(bits: u32, key: u64) -> usize {
    let spread = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (spread >> (63 - bits)) as usize & !(2 * BUCKET - 1)
}

/// Where a table lies, or lay: enough to ask for cache lines while nobody holds it.
#[derive(Clone, Copy)]
pub struct Lines {
    start: usize,
    bits: u32,
}

impl Lines {
    /// Of no table: asks in vain.
    pub const NOWHERE: Lines = Lines { start: 0, bits: 3 };

    /// Ask for both cache lines of `key` ahead of its insertion: most keys that are asked for are
    /// new, and the next insertion would wait until the parent of this one is written.
    #[inline(always)]
    pub fn prefetch(self, key: u64) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch is a hint, it never faults, wherever it points.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let home = (self.start as *const u64).wrapping_add(home(self.bits, key));
            _mm_prefetch::<_MM_HINT_T0>(home.cast());
            _mm_prefetch::<_MM_HINT_T0>(home.wrapping_add(BUCKET).cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = key;
    }
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
        Self::over(Store::in_memory(bits + 1), bits, depths)
    }

    fn over(words: Store, bits: u32, depths: bool) -> Self {
        let mut depth_words = Vec::new();
        if depths {
            depth_words.resize_with(1 << bits, || AtomicU32::new(u32::MAX));
        }
        Slots {
            words,
            recent: Recent::default(),
            depths: depth_words.into_boxed_slice(),
            bits,
            growth: None,
        }
    }

    pub fn in_file(bits: u32, depths: bool, scratch: &Scratch) -> io::Result<Self> {
        let words = Store::on_disk(bits + 1, scratch)?;
        Ok(Self::over(words, bits, depths))
    }

    /// How many keys there is room for.
    pub fn room(&self) -> usize {
        1 << self.bits
    }

    /// What 2^`bits` slots take.
    pub fn bytes_of(bits: u32) -> usize {
        (2 * size_of::<u64>()) << bits
    }

    pub fn is_on_disk(&self) -> bool {
        self.words.is_on_disk()
    }

    /// Let go of the resident pages of slots in a file.
    pub fn release(&self) {
        self.words.release();
    }

    /// Keep what is met from now on in memory, too, if the slots lie in a file. `Recent` knows
    /// nothing of depths.
    pub fn keep_recent(&mut self, limit_mib: u64) {
        if self.is_on_disk() && self.depths.is_empty() {
            self.recent = Recent::of_mib(limit_mib / RECENT_SHARE);
        }
    }

    #[inline(always)]
    fn home(&self, key: u64) -> usize {
        home(self.bits, key)
    }

    /// The place, among the depths, of the key at `word`.
    fn depth_of(word: usize) -> usize {
        word / (2 * BUCKET) * BUCKET + word % BUCKET
    }

    /// Where it lies.
    #[inline(always)]
    pub fn lines(&self) -> Lines {
        Lines {
            start: self.words.as_ptr() as usize,
            bits: self.bits,
        }
    }

    /// The word of `key`, free or taken.
    #[inline(always)]
    pub fn find(&self, key: u64) -> (usize, u64) {
        let mut start = self.home(key);
        loop {
            let bucket = &self.words[start..start + BUCKET];
            for (place, slot) in bucket.iter().enumerate() {
                let found = slot.load(Relaxed);
                if found == key || found == 0 {
                    return (start + place, found);
                }
            }
            start = (start + 2 * BUCKET) & (self.words.len() - 1);
        }
    }

    /// Insert `key`; `depth` matters only when depths are kept.
    #[inline(always)]
    pub fn insert(&self, key: u64, parent: u64, depth: u32) -> Inserted {
        if self.recent.has(key) {
            return Inserted::Known;
        }
        loop {
            let (word, found) = self.find(key);
            self.recent.note(key);
            if found == key {
                return self.revisit(word, parent, depth);
            }
            let slot = &self.words[word];
            if slot.compare_exchange(0, key, Relaxed, Relaxed).is_ok() {
                self.words[word + BUCKET].store(parent, Relaxed);
                if !self.depths.is_empty() {
                    self.depths[Self::depth_of(word)].fetch_min(depth, Relaxed);
                }
                return Inserted::New;
            }
        }
    }

    #[inline(always)]
    fn revisit(&self, word: usize, parent: u64, depth: u32) -> Inserted {
        if self.depths.is_empty()
            || self.depths[Self::depth_of(word)].fetch_min(depth, Relaxed) <= depth
        {
            return Inserted::Known;
        }
        self.words[word + BUCKET].store(parent, Relaxed);
        Inserted::Shorter
    }

    /// Every key with its word; between pieces of the table, `pause` gets the words behind it.
    pub fn each<E>(
        &self,
        mut visit: impl FnMut(u64, usize) -> Result<(), E>,
        pause: impl Fn(usize),
    ) -> Result<(), E> {
        for start in (0..self.words.len()).step_by(MOVED_AT_ONCE) {
            let end = self.words.len().min(start + MOVED_AT_ONCE);
            self.each_within(start..end, &mut visit)?;
            pause(end);
        }
        Ok(())
    }

    /// Every key of these words, which are whole buckets, with its word.
    fn each_within<E>(
        &self,
        words: Range<usize>,
        visit: &mut impl FnMut(u64, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        for start in words.step_by(2 * BUCKET) {
            for (place, key) in self.words[start..start + BUCKET].iter().enumerate() {
                let key = key.load(Relaxed);
                if key != 0 {
                    visit(key, start + place)?;
                }
            }
        }
        Ok(())
    }

    /// How many words of keys and parents there are.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Give the memory of the words before `end` back, which nobody will read again.
    pub fn forget(&self, end: usize) {
        self.words.forget(end);
    }

    /// Enter all that these words of `other` hold.
    pub fn take_over_words(&self, other: &Slots, words: Range<usize>) {
        let mut enter = |key: u64, word: usize| {
            let depths = other.depths.get(Self::depth_of(word));
            let depth = depths.map_or(0, |depth| depth.load(Relaxed));
            self.insert(key, other.parent_at(word), depth);
            Ok::<(), Infallible>(())
        };
        let Ok(()) = other.each_within(words, &mut enter);
    }

    /// Enter all that `other` holds, and leave nothing there: each piece is given back when it is
    /// moved. Homes keep their order, so both tables are met in order.
    pub fn take_over(&self, other: &Slots) {
        for start in (0..other.words()).step_by(MOVED_AT_ONCE) {
            let end = other.words().min(start + MOVED_AT_ONCE);
            self.take_over_words(other, start..end);
            self.release();
            other.forget(end);
        }
    }

    pub fn parent(&self, key: u64) -> Option<u64> {
        let (word, found) = self.find(key);
        (found == key).then(|| self.parent_at(word))
    }

    /// The parent of the key at `word`.
    pub fn parent_at(&self, word: usize) -> u64 {
        self.words[word + BUCKET].load(Relaxed)
    }
}
