//! A map from one word to one word, for look-ups that happen once per transition.
//!
//! Open addressing, linear probing, never shrinks, never deletes. Each thread has its own, so a hit
//! costs one multiplication and usually one cache line, and no synchronisation at all.

const EMPTY: u64 = u64::MAX;

pub struct FlatMap {
    slots: Vec<(u64, u64)>, // key EMPTY: free
    shift: u32,
    used: usize,
}

impl Default for FlatMap {
    fn default() -> Self {
        Self::with_bits(6)
    }
}

impl FlatMap {
    fn with_bits(bits: u32) -> Self {
        FlatMap {
            slots: vec![(EMPTY, 0); 1 << bits],
            shift: 64 - bits,
            used: 0,
        }
    }

    #[inline(always)]
    fn home(&self, key: u64) -> usize {
        // The two halves of a key are small ids; folding them spreads both before the multiply.
        let folded = key ^ key.rotate_right(29);
        (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    #[inline(always)]
    pub fn get(&self, key: u64) -> Option<u64> {
        let mask = self.slots.len() - 1;
        let mut index = self.home(key);
        loop {
            let (found, value) = self.slots[index];
            if found == key {
                return Some(value);
            }
            if found == EMPTY {
                return None;
            }
            index = (index + 1) & mask;
        }
    }

    pub fn insert(&mut self, key: u64, value: u64) {
        debug_assert_ne!(key, EMPTY);
        if self.used * 2 >= self.slots.len() {
            let mut larger = Self::with_bits(64 - self.shift + 1);
            for &(key, value) in self.slots.iter().filter(|slot| slot.0 != EMPTY) {
                larger.place(key, value);
            }
            *self = larger;
        }
        self.place(key, value);
    }

    fn place(&mut self, key: u64, value: u64) {
        let mask = self.slots.len() - 1;
        let mut index = self.home(key);
        while self.slots[index].0 != EMPTY && self.slots[index].0 != key {
            index = (index + 1) & mask;
        }
        self.used += usize::from(self.slots[index].0 == EMPTY);
        self.slots[index] = (key, value);
    }
}

/// Two ids as one key.
#[inline(always)]
pub fn pair(high: u32, low: u32) -> u64 {
    (u64::from(high) << 32) | u64::from(low)
}

#[cfg(test)]
mod tests {
    use super::{FlatMap, pair};

    #[test]
    fn what_was_inserted_is_found_and_nothing_else() {
        let mut map = FlatMap::default();
        for high in 0..200 {
            for low in 0..50 {
                map.insert(pair(high, low), u64::from(high * 1000 + low));
            }
        }
        for high in 0..200 {
            for low in 0..50 {
                let value = u64::from(high * 1000 + low);
                assert_eq!(map.get(pair(high, low)), Some(value));
            }
        }
        assert_eq!(map.get(pair(200, 0)), None);
        assert_eq!(map.get(pair(0, 50)), None);
    }
}
