//! What deliveries do, by dense rows: one per local state, one entry for each message it may get.
//!
//! A state looks at every message in flight, and the same local state gets the same messages again
//! and again. An entry is four bytes, and those of one receiver lie side by side; a hash table has
//! sixteen bytes a slot, half of them free.
//!
//! Invariant: rows take at most `ENTRIES` entries; what does not fit is in a hash table.

use crate::services::effects::EffectRange;
use crate::services::ids::{EnvelopeId, LocalId};
use crate::services::tables::delivery_key;
use crate::table::flat::FlatMap;

/// 16 MiB of them.
const ENTRIES: usize = 4 << 20;
/// Nobody has asked, or the answer is in the hash table.
const UNKNOWN: u32 = u32::MAX;
/// The range is one effect that changes nothing, whatever the state.
const IDLE: u32 = 1 << 4;
const COUNT: u32 = IDLE - 1;
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

/// What is known of a delivery.
pub enum Known {
    Nothing,
    Idle,
    Range(EffectRange),
}

impl Rows {
    #[inline(always)]
    pub fn get(&self, arrival: Arrival) -> Known {
        let row = self.rows.get(arrival.local.index());
        match row.and_then(|row| row.get(arrival.place as usize)) {
            Some(&UNKNOWN) | None => self.other(arrival),
            Some(entry) if entry & IDLE != 0 => Known::Idle,
            Some(entry) => Known::Range(Self::range(*entry)),
        }
    }

    /// The effects of a delivery, if they are known.
    #[inline(always)]
    pub fn effects(&self, arrival: Arrival) -> Option<EffectRange> {
        match self.get(arrival) {
            Known::Nothing => None,
            Known::Range(range) => Some(range),
            Known::Idle => {
                let row = &self.rows[arrival.local.index()];
                Some(Self::range(row[arrival.place as usize]))
            }
        }
    }

    #[inline(always)]
    fn range(entry: u32) -> EffectRange {
        EffectRange::of(entry >> START_SHIFT, entry & COUNT)
    }

    #[cold]
    fn other(&self, arrival: Arrival) -> Known {
        let key = delivery_key(arrival.local, arrival.envelope);
        match self.others.get(key) {
            Some(range) => Known::Range(EffectRange::packed(range)),
            None => Known::Nothing,
        }
    }

    /// Remember the effects of a delivery; `idle`: there is one, and it changes nothing.
    pub fn insert(&mut self, arrival: Arrival, range: EffectRange, idle: bool) {
        let entry = (range.start() << START_SHIFT) | if idle { IDLE } else { 0 } | range.len();
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
    use super::{Arrival, ENTRIES, Known, Rows};
    use crate::services::effects::EffectRange;
    use crate::services::ids::{EnvelopeId, LocalId};

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
        for (at, (start, count)) in cases {
            let range = rows.effects(at).unwrap();
            assert_eq!((range.start(), range.len()), (start, count));
            assert!(matches!(rows.get(at), Known::Range(_)));
        }
        assert!(matches!(rows.get(arrival(4, 4)), Known::Idle));
        assert_eq!(rows.effects(arrival(4, 4)).unwrap().start(), 13);
        assert!(matches!(rows.get(arrival(4, 5)), Known::Nothing));
        assert!(rows.effects(arrival(9, 0)).is_none());
    }
}
