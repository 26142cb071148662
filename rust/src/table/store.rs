//! The memory of a seen table: zeroed slots, in memory or in a mapped scratch file.

use std::alloc::Layout;
use std::io;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use memmap2::{Advice, MmapMut, MmapOptions, UncheckedAdvice};

use crate::table::scratch::{Scratch, reserve};

#[derive(Default)]
pub struct Slot {
    pub key: AtomicU64, // 0: free
    pub parent: AtomicU64,
}

/// A slice of slots that frees itself. Read through `Deref`, it costs what a boxed slice costs.
pub struct Store {
    start: NonNull<Slot>,
    count: usize,
    /// Holds the slots of a mapped store; none for one in memory.
    map: Option<MmapMut>,
}

// SAFETY: a store owns its slots, and slots are atomics.
unsafe impl Send for Store {}
unsafe impl Sync for Store {}

impl Deref for Store {
    type Target = [Slot];

    #[inline(always)]
    fn deref(&self) -> &[Slot] {
        // SAFETY: `start` leads `count` slots, zeroed when made, that live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.count) }
    }
}

fn layout(count: usize) -> Layout {
    Layout::array::<Slot>(count).expect("a table that fits in memory")
}

impl Store {
    pub fn in_memory(bits: u32) -> Self {
        let count = 1usize << bits;
        // SAFETY: an all-zero Slot is a valid free slot. The allocator hands large zeroed blocks
        // out as untouched pages; building them slot by slot would touch the whole table at every
        // growth.
        let start = unsafe { std::alloc::alloc_zeroed(layout(count)) };
        let Some(start) = NonNull::new(start.cast::<Slot>()) else {
            std::alloc::handle_alloc_error(layout(count));
        };
        advise_huge_pages(start.as_ptr().cast(), layout(count).size());
        let map = None;
        Store { start, count, map }
    }

    pub fn on_disk(bits: u32, scratch: &Scratch) -> io::Result<Self> {
        let (count, file) = (1usize << bits, scratch.file()?);
        let bytes = layout(count).size();
        reserve(&file, bytes)?;
        // SAFETY: a file that is ours alone, without a name, and has the size it is mapped with.
        let mut map = unsafe { MmapOptions::new().len(bytes).map_mut(&file)? };
        map.advise(Advice::Random)?; // probes are random: reading ahead is in vain
        // Fresh blocks of a file read as zeros, and pages are aligned for slots.
        let start = NonNull::new(map.as_mut_ptr().cast()).expect("a mapping has an address");
        let map = Some(map);
        Ok(Store { start, count, map })
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

impl Drop for Store {
    fn drop(&mut self) {
        if self.map.is_none() {
            // SAFETY: allocated with the same layout, and nobody borrows it any more.
            unsafe { std::alloc::dealloc(self.start.as_ptr().cast(), layout(self.count)) };
        }
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
