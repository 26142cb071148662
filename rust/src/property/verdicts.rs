//! Verdicts found lately, under all that a property has ever looked at, packed into one word.
//!
//! A trie asks one question after the other, and each answer is a load that waits for the one
//! before it. But the values that a property reads in one node are few: numbered per node, they
//! take some bits each, and those of all nodes together are often one word. That word is the key.
//!
//! Invariant: keys are exact, not hashes. Two states have the same key only if all that the
//! property has ever looked at is the same in both; then so is its verdict.

use rustc_hash::FxHashMap;

use super::claim::Interest;
use super::trie::Said;
use crate::services::mirror::Mirror;

/// A verdict and a key share a word: these bits are the verdict's, and 0 is none.
const SAID_BITS: u32 = 2;
const KEY_BITS: u32 = u64::BITS - SAID_BITS;
/// 128 KiB of verdicts.
const ENTRY_BITS: u32 = 14;
/// Places where a verdict may stand.
const WAYS: usize = 4;
/// Questions after which verdicts are worth their memory.
const WORTH_FROM: u32 = 1 << 12;
/// What the numbers of one node begin with, in bits.
const WIDTH: u32 = 4;
/// What an observer, of whose states there may be many, begins with.
const WIDTH_OBSERVER: u32 = 16;
const UNNUMBERED: u32 = u32::MAX;

/// One word of a state that is looked at, and the bits of its number.
struct Place {
    word: u32,
    width: u32,
    /// It is a node's; that of an observer is the number itself.
    is_node: bool,
}

/// How the local states of a node are numbered: by what these fields hold.
#[derive(Default)]
struct Numbering {
    fields: Vec<u32>,
    numbers: FxHashMap<Box<[u32]>, u32>,
}

#[derive(Default)]
pub struct Verdicts {
    places: Vec<Place>,
    numberings: Vec<Numbering>,
    /// Per local state, the number of its values among those of its node.
    numbers: Vec<u32>,
    entries: Box<[u64]>,
    asked: u32,
    /// How many questions the places were made for; and whether keys fit.
    made_for: usize,
    unfit: bool,
}

impl Verdicts {
    /// The key of `state`; `None` where there are none, or not yet. `queries` is how many things
    /// `interest` was made of: more of them are another key.
    #[inline(always)]
    pub fn key(
        &mut self,
        (interest, queries): (&Interest, usize),
        state: &[u32],
        (nodes, mirror): (usize, &Mirror),
    ) -> Option<u64> {
        if self.made_for != queries || (self.entries.is_empty() && !self.unfit) {
            self.prepare(interest, queries, nodes)?;
        }
        if self.unfit {
            return None;
        }
        let (mut key, mut beyond) = (0u64, 0);
        for place in &self.places {
            let word = state[place.word as usize];
            let number = match place.is_node {
                true => self.numbers.get(word as usize).copied(),
                false => Some(word),
            };
            let number = number.unwrap_or(UNNUMBERED);
            beyond |= number.checked_shr(place.width).unwrap_or(0);
            key = key << place.width | u64::from(number);
        }
        match beyond {
            0 => Some(key),
            _ => self.number(state, mirror),
        }
    }

    /// Whether there are keys.
    #[inline(always)]
    pub fn has_keys(&self) -> bool {
        !self.unfit && !self.entries.is_empty()
    }

    /// What was said where the key was this one, if that is still known.
    #[inline(always)]
    pub fn get(&self, key: u64) -> Option<Said> {
        let first = Self::slot(key);
        let mut known = self.entries[first..first + WAYS].iter();
        let entry = known.find(|&entry| entry >> SAID_BITS == key)?;
        match entry & 3 {
            1 => Some(Said::Fails),
            2 => Some(Said::Holds),
            3 => Some(Said::More),
            _ => None,
        }
    }

    /// Each key has a few places, in one cache line; the oldest there makes room.
    #[inline(always)]
    pub fn insert(&mut self, key: u64, said: Said) {
        let said = match said {
            Said::Fails => 1,
            Said::Holds => 2,
            Said::More => 3,
        };
        let first = Self::slot(key);
        self.entries.copy_within(first..first + WAYS - 1, first + 1);
        self.entries[first] = key << SAID_BITS | said;
    }

    /// The first place of a key.
    #[inline(always)]
    fn slot(key: u64) -> usize {
        let spread = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - ENTRY_BITS);
        spread as usize & !(WAYS - 1)
    }

    /// Begin anew where the property looks at more than it did.
    #[cold]
    fn prepare(&mut self, interest: &Interest, queries: usize, nodes: usize) -> Option<()> {
        if self.made_for != queries {
            let place = |word: u32, width: u32, is_node: bool| Place {
                word,
                width,
                is_node,
            };
            let of_nodes = interest.fields.iter();
            let of_nodes = of_nodes.map(|(node, _)| place(*node, WIDTH, true));
            let of_observers = interest.observers.iter();
            let of_observers =
                of_observers.map(|slot| place(nodes as u32 + slot, WIDTH_OBSERVER, false));
            self.places = of_nodes.chain(of_observers).collect();
            let numbering = |(_, fields): &(u32, Vec<u32>)| Numbering {
                fields: fields.clone(),
                ..Numbering::default()
            };
            self.numberings = interest.fields.iter().map(numbering).collect();
            self.numbers.clear();
            self.entries = Box::default();
            self.asked = 0;
            self.made_for = queries;
            // Where one thing is looked at, the trie is one look-up, too.
            self.unfit = interest.between || self.places.len() < 2 || !self.fits();
        }
        if self.unfit {
            return Some(());
        }
        self.asked += 1;
        if self.asked < WORTH_FROM {
            return None;
        }
        self.entries = vec![0; 1 << ENTRY_BITS].into();
        Some(())
    }

    fn fits(&self) -> bool {
        self.places.iter().map(|place| place.width).sum::<u32>() <= KEY_BITS
    }

    /// The key of a state with values that have no number, or one of more bits than there were.
    #[cold]
    fn number(&mut self, state: &[u32], mirror: &Mirror) -> Option<u64> {
        let mut wider = false;
        let mut numberings = self.numberings.iter_mut();
        for place in &mut self.places {
            let word = state[place.word as usize];
            let mut number = word;
            if place.is_node
                && let Some(known) = numberings.next()
            {
                let row = mirror.locals[word as usize].row;
                let value = |field: &u32| mirror.rows[(row + field) as usize];
                let next = known.numbers.len() as u32;
                let values = known.fields.iter().map(value).collect();
                number = *known.numbers.entry(values).or_insert(next);
                let length = self.numbers.len().max(word as usize + 1);
                self.numbers.resize(length, UNNUMBERED);
                self.numbers[word as usize] = number;
            }
            let width = (u32::BITS - number.leading_zeros()).max(place.width);
            wider |= width > place.width;
            place.width = width;
        }
        if wider {
            self.entries.fill(0); // keys are others now
            self.unfit = !self.fits();
        }
        let of = |place: &Place| match place.is_node {
            true => self.numbers[state[place.word as usize] as usize],
            false => state[place.word as usize],
        };
        let join = |key: u64, place: &Place| key << place.width | u64::from(of(place));
        (!self.unfit).then(|| self.places.iter().fold(0, join))
    }
}

#[cfg(test)]
mod tests {
    use super::{Verdicts, WORTH_FROM};
    use crate::property::claim::Interest;
    use crate::property::trie::{Query, Said};
    use crate::services::mirror::Mirror;
    use crate::services::tables::LocalInfo;
    use crate::table::fingerprint::scramble;

    const NODES: usize = 3;
    const FIELDS: u32 = 2;

    /// `locals` local states for each node, each with two values below `values`.
    fn mirror(locals: u32, values: u64) -> Mirror {
        let mut mirror = Mirror::default();
        for number in 0..locals * NODES as u32 {
            mirror.locals.push(LocalInfo {
                node: number / locals,
                row: mirror.rows.len() as u32,
                mix: 0,
            });
            let value = |field: u64| (scramble(2 * u64::from(number) + field) % values) as u32;
            mirror.rows.extend([value(0), value(1)]);
        }
        mirror
    }

    fn interest(queries: &[Query]) -> Interest {
        let mut interest = Interest::default();
        queries.iter().for_each(|query| interest.add(query));
        interest
    }

    fn answer(query: &Query, state: &[u32], mirror: &Mirror) -> u32 {
        match query {
            Query::Field { node, field } => {
                mirror.rows[(mirror.locals[state[*node as usize] as usize].row + field) as usize]
            }
            Query::Observer(slot) => state[NODES + *slot as usize],
            _ => unreachable!("not asked here"),
        }
    }

    /// What is remembered is what was said where all answers were the same; how often it was known.
    fn compare(queries: &[Query], locals: u32, values: u64, observers: u64) -> u32 {
        let (mirror, interest) = (mirror(locals, values), interest(queries));
        let (mut verdicts, mut known) = (Verdicts::default(), 0);
        for round in 0..u64::from(4 * WORTH_FROM) {
            let dice = |place: u64| scramble(round * 8 + place);
            let node =
                |node: u64| (node * u64::from(locals) + dice(node) % u64::from(locals)) as u32;
            let state = [node(0), node(1), node(2), (dice(3) % observers) as u32];
            let answers = queries.iter().map(|query| answer(query, &state, &mirror));
            let sum = answers.fold(0, |sum, answer| scramble(sum ^ u64::from(answer)));
            let said = [Said::Fails, Said::Holds, Said::More][(sum % 3) as usize];
            let looked_at = (&interest, queries.len());
            let Some(key) = verdicts.key(looked_at, &state, (NODES, &mirror)) else {
                continue;
            };
            if let Some(remembered) = verdicts.get(key) {
                assert_eq!(remembered, said);
                known += 1;
            }
            verdicts.insert(key, said);
        }
        known
    }

    fn fields(count: u32) -> Vec<Query> {
        let places = (0..NODES as u32).flat_map(|node| (0..FIELDS).map(move |field| (node, field)));
        let query = |(node, field)| Query::Field { node, field };
        places.map(query).take(count as usize).collect()
    }

    #[test]
    fn what_is_remembered_is_what_was_said_of_the_same_values() {
        assert!(compare(&fields(6), 9, 3, 1) > 1000);
        assert!(compare(&fields(4), 40, 9, 1) > 1000); // more numbers than the first width has
        let observed = [&fields(3)[..], &[Query::Observer(0)]].concat();
        assert!(compare(&observed, 5, 2, 4) > 1000);
        compare(&observed, 5, 2, u64::from(u32::MAX)); // wide, but it fits
    }

    #[test]
    fn there_are_no_keys_where_they_would_not_fit_or_would_not_pay() {
        let mirror = mirror(4, 1);
        let keys = |queries: &[Query], observed: u32| {
            let (mut verdicts, state) = (Verdicts::default(), [0, 4, 8, observed, observed]);
            let looked_at = (&interest(queries), queries.len());
            let mut ask = || verdicts.key(looked_at, &state, (NODES, &mirror));
            (0..2 * WORTH_FROM).filter(|_| ask().is_some()).count()
        };
        let observers = [Query::Observer(0), Query::Observer(1)];
        assert!(keys(&fields(4), 0) > 0);
        assert_eq!(keys(&fields(2), 0), 0); // of one node
        assert_eq!(keys(&[&fields(4)[..], &[Query::Partition]].concat(), 0), 0);
        assert!(keys(&observers, 1 << 30) > 0);
        assert_eq!(keys(&observers, u32::MAX), 0);
    }

    #[test]
    fn more_to_look_at_is_another_key() {
        let (mirror, mut verdicts) = (mirror(4, 1), Verdicts::default());
        let state = [0, 4, 8, 7];
        let mut ask = |queries: &[Query]| {
            let looked_at = (&interest(queries), queries.len());
            let mut ask = || verdicts.key(looked_at, &state, (NODES, &mirror));
            (1..WORTH_FROM).for_each(|_| assert_eq!(ask(), None));
            let key = ask().unwrap();
            let known = verdicts.get(key);
            verdicts.insert(key, Said::Holds);
            known
        };
        assert_eq!(ask(&fields(4)), None);
        assert_eq!(ask(&fields(6)), None);
    }
}
