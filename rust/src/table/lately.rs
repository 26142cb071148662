//! A few answers that were asked for lately: one slot a key, and the newest stays.
//!
//! For questions that a search asks again and again while a walk hardly ever does: it takes the
//! same room for both. Keys are compared whole.

use std::hash::{BuildHasher, Hash};

use rustc_hash::FxBuildHasher;

const BITS: u32 = 12;

pub struct Lately<K, V> {
    slots: Vec<Option<(K, V)>>,
}

impl<K: Copy + Eq + Hash, V: Copy> Default for Lately<K, V> {
    fn default() -> Self {
        Lately {
            slots: vec![None; 1 << BITS],
        }
    }
}

impl<K: Copy + Eq + Hash, V: Copy> Lately<K, V> {
    #[inline(always)]
    fn place(&self, key: &K) -> usize {
        // Spread once more: the lower bits of the hash follow those of the key.
        let hash = FxBuildHasher.hash_one(key);
        (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BITS)) as usize
    }

    #[inline(always)]
    pub fn get(&self, key: &K) -> Option<V> {
        let (known, value) = self.slots[self.place(key)]?;
        (known == *key).then_some(value)
    }

    #[inline(always)]
    pub fn insert(&mut self, key: K, value: V) {
        let place = self.place(&key);
        self.slots[place] = Some((key, value));
    }
}

#[cfg(test)]
mod tests {
    use super::{BITS, Lately};

    #[test]
    fn what_is_still_known_is_what_was_answered() {
        let mut lately = Lately::default();
        let keys = 0..4u64 << BITS;
        let mut known = 0;
        for key in keys.clone() {
            lately.insert(key, key + 1);
            assert_eq!(lately.get(&key), Some(key + 1));
        }
        for key in keys {
            known += u32::from(lately.get(&key) == Some(key + 1));
            assert!(lately.get(&key).is_none_or(|value| value == key + 1));
        }
        assert!((1..=1 << BITS).contains(&known));
    }
}
