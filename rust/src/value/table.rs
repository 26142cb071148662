//! Where CPython puts the elements of a set: enough of its table to foretell an iteration order.
//!
//! `Objects/setobject.c`: a power of two of slots; up to nine slots after the first are looked at
//! one after the other, then the higher bits of the hash decide. The table grows when three fifths
//! are taken, and what was taken away leaves a slot that nobody else gets.
//!
//! Should another Python do it differently, a foretold order is wrong and no value is.

const LINEAR_PROBES: usize = 9;
const PERTURB_SHIFT: u32 = 5;
const SMALLEST: usize = 8;

/// What is in a slot: an element by number, or one that will be taken away.
pub const BLOCKER: u32 = u32::MAX;

#[derive(Default)]
pub struct Table {
    slots: Vec<Option<(u64, u32)>>,
    fill: usize,
}

impl Table {
    pub fn clear(&mut self) {
        self.slots.clear();
        self.slots.resize(SMALLEST, None);
        self.fill = 0;
    }

    pub fn add(&mut self, hash: u64, number: u32) {
        self.put(hash, number);
        self.fill += 1;
        let mask = self.slots.len() - 1;
        if self.fill * 5 >= mask * 3 {
            self.grow(self.fill * 4);
        }
    }

    /// The elements as they are iterated, without blockers.
    pub fn order(&self) -> impl DoubleEndedIterator<Item = u32> {
        let numbers = self.slots.iter().flatten().map(|&(_, number)| number);
        numbers.filter(|&number| number != BLOCKER)
    }

    fn grow(&mut self, least: usize) {
        let mut size = SMALLEST;
        while size <= least {
            size *= 2;
        }
        let old = std::mem::replace(&mut self.slots, vec![None; size]);
        for (hash, number) in old.into_iter().flatten() {
            self.put(hash, number);
        }
    }

    fn put(&mut self, hash: u64, number: u32) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        let mut perturb = hash;
        loop {
            let probes = if at + LINEAR_PROBES <= mask {
                LINEAR_PROBES
            } else {
                0
            };
            let free = self.slots[at..=at + probes]
                .iter()
                .position(Option::is_none);
            if let Some(free) = free {
                self.slots[at + free] = Some((hash, number));
                return;
            }
            perturb >>= PERTURB_SHIFT;
            at = (at.wrapping_mul(5).wrapping_add(1 + perturb as usize)) & mask;
        }
    }
}
