//! The seen table once more, made of loom's atomics and locks: loom tries the interleavings of its
//! threads, and for each load the stores that it may see. The three files find what they are made
//! of in `super`, which is this module here.

#[path = "growth.rs"]
#[allow(dead_code, clippy::duplicate_mod)]
mod growth;
#[path = "seen.rs"]
#[allow(dead_code, clippy::duplicate_mod)]
mod seen;
#[path = "slots.rs"]
#[allow(dead_code, clippy::duplicate_mod)]
mod slots;

use super::recent;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use self::seen::{Inserted, Seen};

mod sync {
    pub use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};
    pub use loom::sync::{RwLockReadGuard, RwLockWriteGuard};

    /// Room for three entries.
    pub const BITS_MIN: u32 = 2;
    /// Two keys a bucket: some go on to the next one.
    pub const BUCKET_BITS: u32 = 1;
    /// One bucket: the smallest table is two ranges.
    pub const RANGE: usize = 4;

    pub struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub fn new(value: T) -> Self {
            Mutex(loom::sync::Mutex::new(value))
        }

        pub fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
            self.0.lock().unwrap()
        }
    }

    pub struct RwLock<T>(loom::sync::RwLock<T>);

    impl<T> RwLock<T> {
        pub fn new(value: T) -> Self {
            RwLock(loom::sync::RwLock::new(value))
        }

        pub fn read(&self) -> RwLockReadGuard<'_, T> {
            self.0.read().unwrap()
        }

        pub fn write(&self) -> RwLockWriteGuard<'_, T> {
            self.0.write().unwrap()
        }
    }
}

mod store {
    use std::io;

    use super::sync::AtomicU64;
    use crate::table::scratch::Scratch;

    /// Words in memory: loom's atomics are no plain words.
    pub struct Store(Vec<AtomicU64>);

    impl std::ops::Deref for Store {
        type Target = [AtomicU64];

        fn deref(&self) -> &[AtomicU64] {
            &self.0
        }
    }

    impl Store {
        pub fn in_memory(bits: u32) -> Self {
            Store((0..1 << bits).map(|_| AtomicU64::new(0)).collect())
        }

        pub fn on_disk(_bits: u32, _scratch: &Scratch) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub fn is_on_disk(&self) -> bool {
            false
        }

        pub fn release(&self) {}

        pub fn forget(&self, _end: usize) {}
    }
}

/// Insert keys one by one, each reached from the one before it; how many were new.
fn enter(seen: &Seen, keys: impl Iterator<Item = u64>) -> usize {
    let new = keys.filter(|&key| {
        seen.reserve(2); // one for each of two threads
        let new = seen.read().insert(key, key - 1, 0) == Inserted::New;
        seen.add(usize::from(new));
        new
    });
    new.count()
}

#[test]
fn no_interleaving_of_growth_and_insertion_loses_or_doubles_a_key() {
    let grown = Arc::new(AtomicUsize::new(0));
    let (counted, mut model) = (grown.clone(), loom::model::Builder::new());
    model.preemption_bound = Some(3);
    model.check(move || {
        let seen = Arc::new(Seen::new(false));
        let mut new = enter(&seen, 1..=1);
        assert_eq!(seen.read().room(), 4); // it grows while both threads are at work
        let shared = seen.clone();
        let other = loom::thread::spawn(move || enter(&shared, 2..=3));
        new += enter(&seen, 3..=4);
        new += other.join().unwrap();
        assert_eq!((new, seen.len()), (4, 4));
        assert_eq!(seen.chain(4), [1, 2, 3, 4]);
        counted.fetch_add(usize::from(seen.read().room() > 4), Relaxed);
    });
    assert!(grown.load(Relaxed) > 0);
    assert!(growth::SHARED.load(Relaxed) > 0); // both threads moved keys, in some interleaving
}
