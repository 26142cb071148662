//! The memory of a seen table: zeroed words, in memory or in a mapped scratch file.

use std::alloc::Layout;
use std::io;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use memmap2::{Advice, MmapMut, MmapOptions, UncheckedAdvice};

use crate::table::scratch::{Scratch, reserve};

/// Words begin where a cache line begins; so many are in one.
const LINE: usize = 8;
/// Pages are given back in pieces of this size, that of a huge page.
const HUGE: usize = 2 << 20;

/// A slice of words that frees itself. Read through `Deref`, it costs what a boxed slice costs.
pub struct Store {
    start: NonNull<AtomicU64>,
    count: usize,
    /// Words before `start` that were allocated with it.
    skipped: usize,
    /// Holds the words of a mapped store; none for one in memory.
    map: Option<MmapMut>,
}

// SAFETY: a store owns its words, and words are atomics.
unsafe impl Send for Store {}
unsafe impl Sync for Store {}

impl Deref for Store {
    type Target = [AtomicU64];

    #[inline(always)]
    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: `start` leads `count` words, zeroed when made, that live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.count) }
    }
}

fn layout(count: usize) -> Layout {
    Layout::array::<AtomicU64>(count).expect("a table that fits in memory")
}

impl Store {
    pub fn in_memory(bits: u32) -> Self {
        let count = 1usize << bits;
        let room = layout(count + LINE);
        // SAFETY: an all-zero word is valid. The allocator hands large zeroed blocks out as
        // untouched pages, if it is not asked for an alignment of its own; building them word by
        // word would touch the whole table at every growth.
        let whole = unsafe { std::alloc::alloc_zeroed(room) };
        let Some(whole) = NonNull::new(whole.cast::<AtomicU64>()) else {
            std::alloc::handle_alloc_error(room);
        };
        let skipped = whole.align_offset(LINE * size_of::<AtomicU64>());
        // SAFETY: fewer words are skipped than were allocated beyond `count`.
        let start = unsafe { whole.add(skipped.min(LINE)) };
        advise_huge_pages(start.as_ptr().cast(), layout(count).size());
        Store {
            start,
            count,
            skipped: skipped.min(LINE),
            map: None,
        }
    }

    pub fn on_disk(bits: u32, scratch: &Scratch) -> io::Result<Self> {
        let (count, file) = (1usize << bits, scratch.file()?);
        let bytes = layout(count).size();
        reserve(&file, bytes)?;
        // SAFETY: a file that is ours alone, without a name, and has the size it is mapped with.
        let mut map = unsafe { MmapOptions::new().len(bytes).map_mut(&file)? };
        map.advise(Advice::Random)?; // probes are random: reading ahead is in vain
        // Fresh blocks of a file read as zeros, and pages are aligned for words.
        let start = NonNull::new(map.as_mut_ptr().cast()).expect("a mapping has an address");
        Ok(Store {
            start,
            count,
            skipped: 0,
            map: Some(map),
        })
    }

    pub fn is_on_disk(&self) -> bool {
        self.map.is_some()
    }

    /// Let go of the resident pages of a mapped store. What they hold stays, in the file.
    pub fn release(&self) {
        if let Some(map) = &self.map {
            // SAFETY: for a shared mapping of a file this drops translations, never content.
            let released = unsafe { map.unchecked_advise(UncheckedAdvice::DontNeed) };
            debug_assert!(released.is_ok(), "advice about a mapping of our own");
        }
    }
}

impl Store {
    /// Give the memory of the words before `end` back, which nobody will read again.
    pub fn forget(&self, end: usize) {
        let bytes = end * size_of::<AtomicU64>();
        let (start, offset) = (
            self.start.as_ptr().cast::<u8>(),
            self.start.align_offset(HUGE),
        );
        let offset = offset * size_of::<AtomicU64>();
        if self.map.is_some() || bytes < offset + HUGE {
            return self.release();
        }
        let whole = (bytes - offset) / HUGE * HUGE;
        // SAFETY: whole pages of memory that we own. They read as zeros from now on, which are
        // valid words.
        unsafe {
            libc::madvise(start.add(offset).cast(), whole, libc::MADV_DONTNEED);
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.map.is_none() {
            // SAFETY: allocated there with the same layout, and nobody borrows it any more.
            unsafe {
                let whole = self.start.sub(self.skipped);
                std::alloc::dealloc(whole.as_ptr().cast(), layout(self.count + LINE));
            }
        }
    }
}

/// Probes are random, so on a large table nearly each would miss the translation cache as well.
pub fn advise_huge_pages(start: *mut libc::c_void, bytes: usize) {
    let offset = start.align_offset(HUGE);
    if bytes >= 4 * HUGE && offset < bytes {
        // SAFETY: advice about memory we own; a refusal changes nothing but speed.
        unsafe {
            libc::madvise(start.add(offset), bytes - offset, libc::MADV_HUGEPAGE);
        }
    }
}
