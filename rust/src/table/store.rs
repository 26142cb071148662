//! The memory of a seen table: zeroed slots, in memory or in a mapped scratch file.

use std::alloc::Layout;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

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
    /// Keeps the blocks of a mapped store; none for one in memory.
    file: Option<File>,
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
        let file = None;
        Store { start, count, file }
    }

    pub fn on_disk(bits: u32, scratch: &Scratch) -> io::Result<Self> {
        let (count, file) = (1usize << bits, scratch.file()?);
        let bytes = layout(count).size();
        reserve(&file, bytes)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of a file that is ours alone and has the size it is mapped with;
        // fresh blocks of a file read as zeros.
        let start = unsafe {
            let start = std::ptr::null_mut();
            libc::mmap(start, bytes, access, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: advice about a mapping we own. Probes are random: reading ahead is in vain.
        unsafe { libc::madvise(start, bytes, libc::MADV_RANDOM) };
        let start = NonNull::new(start.cast()).expect("a mapping is never at address 0");
        let file = Some(file);
        Ok(Store { start, count, file })
    }

    pub fn is_on_disk(&self) -> bool {
        self.file.is_some()
    }

    /// Let go of the resident pages of a mapped store. What they hold stays, in the file.
    pub fn release(&self) {
        if self.is_on_disk() {
            let bytes = layout(self.count).size();
            // SAFETY: for a shared mapping of a file this drops translations, never content.
            unsafe { libc::madvise(self.start.as_ptr().cast(), bytes, libc::MADV_DONTNEED) };
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let layout = layout(self.count);
        // SAFETY: made with the same size, by the same means, and nobody borrows it any more.
        unsafe {
            match self.file {
                Some(_) => {
                    libc::munmap(self.start.as_ptr().cast(), layout.size());
                }
                None => std::alloc::dealloc(self.start.as_ptr().cast(), layout),
            }
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
