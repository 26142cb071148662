//! What deliveries do, by dense rows: one per local state, one entry for each message it may get.
//!
//! A state looks at every message in flight, and the same local state gets the same messages again
//! and again. An entry is four bytes, and those of one receiver lie side by side; a hash table has
//! sixteen bytes a slot, half of them free.
//!
//! Invariant: rows take at most `ENTRIES` entries; what does not fit is in a hash table.

use crate::services::effects::EffectRange;
use crate::services::ids::{EffectId, EnvelopeId, LocalId};
use crate::services::tables::delivery_key;
use crate::table::flat::FlatMap;

/// 16 MiB of them.
const ENTRIES: usize = 4 << 20;
/// Nobody has asked, or the answer is in the hash table.
const UNKNOWN: u32 = u32::MAX;
/// The range is at most one effect, and adds its difference to the fingerprint and nothing else.
const SIMPLE: u32 = 1 << 4;
const COUNT: u32 = SIMPLE - 1;
const START_SHIFT: u32 = 5;

#[derive(Default)]
pub struct Rows {
    rows: Vec<Vec<u32>>,
    /// Entries of all rows.
    held: usize,
    others: FlatMap,
}

/// A delivery: who gets what. `place` numbers the messages of one receiver.
#[derive(Clone, Copy)]
pub struct Arrival {
    pub local: LocalId,
    pub envelope: EnvelopeId,
    pub place: u32,
}

/// A delivery of at most one effect: which, and whether there is one at all.
pub struct Simple {
    pub effect: EffectId,
    pub happens: bool,
}

impl Rows {
    #[inline(always)]
    fn entry(&self, arrival: Arrival) -> u32 {
        let row = self.rows.get(arrival.local.index());
        let entry = row.and_then(|row| row.get(arrival.place as usize));
        entry.copied().unwrap_or(UNKNOWN)
    }

    /// The one effect of a delivery that is known and simple.
    #[inline(always)]
    pub fn simple(&self, arrival: Arrival) -> Option<Simple> {
        let entry = self.entry(arrival);
        (entry & ((COUNT - 1) | SIMPLE) == SIMPLE).then(|| Simple {
            effect: EffectId::of(entry >> START_SHIFT),
            happens: entry & 1 != 0,
        })
    }

    /// The effects of a delivery, if they are known.
    #[inline(always)]
    pub fn effects(&self, arrival: Arrival) -> Option<EffectRange> {
        match self.entry(arrival) {
            UNKNOWN => self.other(arrival),
            entry => Some(Self::range(entry)),
        }
    }

    #[inline(always)]
    fn range(entry: u32) -> EffectRange {
        EffectRange::of(entry >> START_SHIFT, entry & COUNT)
    }

    #[cold]
    fn other(&self, arrival: Arrival) -> Option<EffectRange> {
        let key = delivery_key(arrival.local, arrival.envelope);
        self.others.get(key).map(EffectRange::packed)
    }

    /// Remember the effects of a delivery; `simple`: at most one, and all that it adds to the
    /// fingerprint is its difference.
    pub fn insert(&mut self, arrival: Arrival, range: EffectRange, simple: bool) {
        let mark = if simple { SIMPLE } else { 0 };
        let entry = (range.start() << START_SHIFT) | mark | range.len();
        let fits = range.start() < (UNKNOWN >> START_SHIFT) && range.len() <= COUNT;
        if !fits || !self.make_room(arrival) {
            let key = delivery_key(arrival.local, arrival.envelope);
            return self.others.insert(key, range.pack());
        }
        self.rows[arrival.local.index()][arrival.place as usize] = entry;
    }

    /// Whether there is an entry for a delivery, or can be.
    fn make_room(&mut self, arrival: Arrival) -> bool {
        let (local, place) = (arrival.local.index(), arrival.place as usize);
        if self.rows.len() <= local {
            self.rows.resize_with(local + 1, Vec::new);
        }
        let row = &mut self.rows[local];
        if row.len() > place {
            return true;
        }
        let length = (place + 1).next_multiple_of(16).max(row.len() * 3 / 2);
        let more = length - row.len();
        if self.held + more > ENTRIES {
            return false;
        }
        self.held += more;
        row.resize(length, UNKNOWN);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{Arrival, ENTRIES, Rows};
    use crate::services::effects::EffectRange;
    use crate::services::ids::{EffectId, EnvelopeId, LocalId};

    fn arrival(local: u32, place: u32) -> Arrival {
        Arrival {
            local: LocalId::of(local),
            envelope: EnvelopeId::of(place),
            place,
        }
    }

    #[test]
    fn what_was_inserted_is_known_in_a_row_or_beside_it() {
        let mut rows = Rows::default();
        let far = ENTRIES as u32; // no row is that long
        let cases = [
            (arrival(3, 40), (7, 2)),
            (arrival(3, 0), (9, 0)),
            (arrival(0, 5), (11, 200)),
            (arrival(1, 5), (u32::MAX - 400, 3)),
            (arrival(2, far), (12, 1)),
        ];
        for (at, (start, count)) in cases {
            rows.insert(at, EffectRange::of(start, count), false);
        }
        rows.insert(arrival(4, 4), EffectRange::of(13, 1), true);
        rows.insert(arrival(4, 3), EffectRange::of(14, 0), true);
        for (at, (start, count)) in cases {
            let range = rows.effects(at).unwrap();
            assert_eq!((range.start(), range.len()), (start, count));
            assert!(rows.simple(at).is_none());
        }
        let simple = rows.simple(arrival(4, 4)).unwrap();
        assert!(simple.happens && simple.effect == EffectId::of(13));
        assert_eq!(rows.effects(arrival(4, 4)).unwrap().start(), 13);
        assert!(!rows.simple(arrival(4, 3)).unwrap().happens);
        assert!(rows.effects(arrival(4, 5)).is_none());
        assert!(rows.simple(arrival(4, 5)).is_none());
        assert!(rows.effects(arrival(9, 0)).is_none());
    }
}
