//! The set of fingerprints seen so far, each with the fingerprint it was first reached from.
//!
//! Buckets over atomics (`slots.rs`): threads insert without locks. A thread holds a `Reading` for
//! a batch of insertions and must let go of it before it waits for anything, the interpreter above
//! all. Where the table grows, a thread that wants a `Reading` helps to move it (`growth.rs`).
//!
//! Invariant: a key once written never changes, so a found key needs no second look. Sixteen
//! bytes a slot, at most seven eighths full. With a `Scratch`, the slots live in a file once they
//! would not fit into memory.

use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::growth::Growth;
use super::recent::Recent;
pub use super::slots::Inserted;
use super::slots::{MOVED_AT_ONCE, Slots};
use super::sync::{AtomicBool, AtomicUsize, BITS_MIN, RwLock, RwLockReadGuard, RwLockWriteGuard};
use crate::table::scratch::{Scratch, page_size, passes};

/// The part of it that pages of the file may fill between two looks, one in so many.
const PAGES_SHARE: u64 = 16;
/// What one look-up may bring in: the system maps the neighbours of a page, too.
const BROUGHT_IN: usize = 64 << 10;
/// Tables of fewer bytes grow whatever the limit says: the watcher sees that in time.
pub const SMALL: usize = 4 << 20;

pub struct Seen {
    slots: RwLock<Slots>,
    depths: bool,
    count: AtomicUsize,
    full_at: AtomicUsize,
    scratch: OnceLock<Arc<Scratch>>,
    /// Memory allowed to the process.
    limit_mib: u64,
    /// The table would have to grow past that limit.
    full: AtomicBool,
    /// Look-ups in a file since somebody looked how much memory its pages take.
    touched: AtomicUsize,
    /// How many of them there may be, before somebody does again.
    touched_max: usize,
    /// Why the table could not go to a file.
    trouble: Mutex<Option<io::Error>>,
    /// The table lies in a file.
    in_file: AtomicBool,
}

pub type Reading<'a> = RwLockReadGuard<'a, Slots>;

impl Seen {
    /// `depths`: remember at which depth each state was reached, 4 bytes more a slot.
    pub fn new(depths: bool) -> Self {
        Self::within(depths, u64::MAX)
    }

    /// One that does not grow where the process would then hold more than `limit_mib`.
    pub fn within(depths: bool, limit_mib: u64) -> Self {
        let bits = BITS_MIN;
        let allowed = limit_mib.min(u64::MAX >> 20) << 20;
        Seen {
            depths,
            limit_mib,
            full: AtomicBool::new(false),
            touched: AtomicUsize::new(0),
            touched_max: (allowed / PAGES_SHARE) as usize / page_size().max(BROUGHT_IN),
            slots: RwLock::new(Slots::with_bits(bits, depths)),
            count: AtomicUsize::new(0),
            full_at: AtomicUsize::new(Self::limit(bits)),
            scratch: OnceLock::new(),
            trouble: Mutex::new(None),
            in_file: AtomicBool::new(false),
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
        (1usize << bits) * 7 / 8
    }

    /// The table, where nobody moves it. Who comes while it grows moves a part of it first.
    pub fn read(&self) -> Reading<'_> {
        loop {
            let slots = self.slots.read();
            let Some(growth) = &slots.growth else {
                return slots;
            };
            growth.help(&slots);
            drop(slots);
            self.finish(&mut self.slots.write());
        }
    }

    /// The table for one thread alone, where nobody moves it.
    fn alone(&self) -> RwLockWriteGuard<'_, Slots> {
        loop {
            drop(self.read());
            let slots = self.slots.write();
            if slots.growth.is_none() {
                return slots;
            }
        }
    }

    /// Use the larger table, if everything is moved there.
    fn finish(&self, slots: &mut Slots) {
        let is_moved = |growth: &Growth| growth.is_over(slots);
        if !slots.growth.as_deref().is_some_and(is_moved) {
            return; // another thread was here first; the table may even grow again
        }
        if let Some(growth) = slots.growth.take() {
            let limit = Self::limit(growth.larger.bits);
            self.replace(slots, growth.larger);
            self.full_at.store(limit, Relaxed);
        }
    }

    /// Whether it remembers at which depth each state was reached.
    pub fn has_depths(&self) -> bool {
        self.depths
    }

    pub fn len(&self) -> usize {
        self.count.load(Relaxed)
    }

    /// What the table takes, in memory or in a file.
    pub fn bytes(&self) -> usize {
        Slots::bytes_of(self.read().bits)
    }

    /// Count `new` insertions made under a `Reading`.
    pub fn add(&self, new: usize) {
        self.count.fetch_add(new, Relaxed);
    }

    /// Is there no memory for the table to grow? Then nobody may insert for long.
    pub fn is_full(&self) -> bool {
        self.full.load(Relaxed)
    }

    /// Make room for `more` insertions. Call without holding a `Reading`.
    #[inline]
    pub fn reserve(&self, more: usize) {
        if self.len() + more > self.full_at.load(Relaxed) {
            self.grow(more);
        }
        if self.in_file.load(Relaxed) {
            self.touch(more);
        }
    }

    /// Count look-ups in a file, and let go of its pages before they take too much memory.
    #[cold]
    fn touch(&self, more: usize) {
        if self.touched.fetch_add(more, Relaxed) + more > self.touched_max {
            self.touched.store(0, Relaxed);
            if passes(self.limit_mib, 0) {
                self.read().release();
            }
        }
    }

    #[cold]
    fn grow(&self, more: usize) {
        let mut slots = self.alone();
        let mut bits = slots.bits;
        while self.len() + more > Self::limit(bits) {
            bits += 1;
        }
        if bits == slots.bits {
            return; // another thread was here first
        }
        let Some(larger) = self.larger(&slots, bits, self.len() + more) else {
            // A fuller table is slower; one that is full nearly to the last slot would never end.
            let crowded = slots.room() / 16 * 15;
            self.full.store(self.len() + more > crowded, Relaxed);
            self.full_at.store(crowded, Relaxed);
            return;
        };
        slots.recent = Recent::default();
        if larger.is_on_disk() {
            larger.take_over(&slots);
            self.replace(&mut slots, larger);
            self.full_at.store(Self::limit(bits), Relaxed);
            return;
        }
        slots.growth = Some(Box::new(Growth::to(larger)));
        drop(slots);
        drop(self.read()); // helps, like everybody
    }

    /// Use `larger` from now on; what was in memory is freed before more is taken.
    fn replace(&self, slots: &mut Slots, larger: Slots) {
        *slots = larger;
        slots.keep_recent(self.limit_mib);
        self.in_file.store(slots.is_on_disk(), Relaxed);
        self.touched.store(0, Relaxed);
    }

    /// Room for 2^`bits` slots: in a file if the table is there already or would not fit. `None`
    /// where nothing would do, and `count` entries find room as it is: the search has to stop.
    fn larger(&self, slots: &Slots, bits: u32, count: usize) -> Option<Slots> {
        let depths = !slots.depths.is_empty();
        let bytes = Slots::bytes_of(bits);
        let fits = bytes < SMALL || !passes(self.limit_mib, bytes);
        if let Some(scratch) = self.scratch.get()
            && (slots.is_on_disk() || !fits)
        {
            match Slots::in_file(bits, depths, scratch) {
                Ok(larger) => return Some(larger),
                Err(error) => *self.trouble.lock() = Some(error),
            }
        }
        let crowded = count > slots.room() / 32 * 31;
        (fits || crowded).then(|| Slots::with_bits(bits, depths))
    }

    /// Take as little memory as can be: move the table to a file, or drop the pages it has there.
    pub fn relieve(&self, scratch: &Scratch) -> io::Result<()> {
        let slots = self.read();
        if slots.is_on_disk() {
            slots.release();
            return Ok(());
        }
        drop(slots);
        let mut slots = self.alone();
        let moved = Slots::in_file(slots.bits, !slots.depths.is_empty(), scratch)?;
        moved.take_over(&slots);
        self.replace(&mut slots, moved);
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
                slots.release();
            }
        }
        self.add(count);
        Ok(())
    }

    /// Every fingerprint with its parent, while nobody inserts.
    pub fn each<E>(&self, mut visit: impl FnMut(u64, u64) -> Result<(), E>) -> Result<(), E> {
        let slots = self.read();
        let visit = |key, word| visit(key, slots.parent_at(word));
        slots.each(visit, |_| slots.release())
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
