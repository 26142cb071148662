//! Dense ids for fingerprints, in the order in which they are first met.
//!
//! Open addressing, at most three quarters full; a slot holds the fingerprint itself, so that a hit
//! costs one cache line.

use crate::table::store::advise_huge_pages;

/// Ask for the cache line of an element ahead of its use.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint, it never faults, not even beyond the end.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(slice.as_ptr().wrapping_add(index).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

/// An empty vector with room for `count` elements, in large pages where there are many.
pub fn roomy<T>(count: usize) -> Vec<T> {
    let mut room = Vec::<T>::with_capacity(count);
    advise_huge_pages(room.as_mut_ptr().cast(), count * size_of::<T>());
    room
}

#[derive(Clone, Copy)]
struct Slot {
    key: u64, // 0: free
    id: u32,
}

const FREE: Slot = Slot { key: 0, id: 0 };

pub struct Ids {
    slots: Vec<Slot>,
    shift: u32,
    count: u32,
}

impl Ids {
    /// Room for `count` ids before the first growth.
    pub fn with_room(count: usize) -> Self {
        Self::with_bits(Self::bits(count))
    }

    fn bits(count: usize) -> u32 {
        (count / 3 * 4).max(1 << 12).ilog2() + 1
    }

    /// What room for `count` ids takes.
    pub fn bytes(count: usize) -> usize {
        size_of::<Slot>() << Self::bits(count)
    }

    fn with_bits(bits: u32) -> Self {
        let mut slots = roomy(1 << bits);
        slots.resize(1 << bits, FREE);
        Ids {
            slots,
            shift: 64 - bits,
            count: 0,
        }
    }

    #[inline(always)]
    fn home(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    #[inline(always)]
    pub fn prefetch(&self, key: u64) {
        prefetch(&self.slots, self.home(key));
    }

    #[inline(always)]
    fn find(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut index = self.home(key);
        while self.slots[index].key != key && self.slots[index].key != 0 {
            index = (index + 1) & mask;
        }
        index
    }

    pub fn get(&self, key: u64) -> Option<u32> {
        let slot = self.slots[self.find(key)];
        (slot.key == key && key != 0).then_some(slot.id)
    }

    /// The id of `key`, and whether it is new.
    #[inline(always)]
    pub fn insert(&mut self, key: u64) -> (u32, bool) {
        let index = self.find(key);
        if self.slots[index].key == key {
            return (self.slots[index].id, false);
        }
        let id = self.count;
        self.slots[index] = Slot { key, id };
        self.count += 1;
        if self.count as usize * 4 > self.slots.len() * 3 {
            self.grow();
        }
        (id, true)
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = Self::with_bits(64 - self.shift + 1);
        larger.count = self.count;
        for slot in self.slots.iter().filter(|slot| slot.key != 0) {
            let index = larger.find(slot.key);
            larger.slots[index] = *slot;
        }
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::Ids;
    use crate::table::fingerprint::scramble;

    #[test]
    fn ids_are_dense_and_stay_the_same_as_the_table_grows() {
        let mut ids = Ids::with_room(0);
        for n in 0..20_000u64 {
            assert_eq!(ids.insert(scramble(n + 1)), (n as u32, true));
        }
        for n in 0..20_000u64 {
            assert_eq!(ids.insert(scramble(n + 1)), (n as u32, false));
            assert_eq!(ids.get(scramble(n + 1)), Some(n as u32));
        }
        assert_eq!(ids.get(scramble(20_001)), None);
    }
}
