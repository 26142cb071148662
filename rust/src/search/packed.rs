//! Words that wait, in as few bytes as each of them needs.
//!
//! Interned ids are small, and a breadth-first search spends much of its memory on states that
//! wait. Four words share one byte that says how many bytes each of them takes ("group varint",
//! Dean, "Challenges in building large-scale information retrieval systems", 2009): packing and
//! unpacking have no branch per word.

/// Words that share one byte of lengths.
const GROUP: usize = 4;
/// What is read or written of a group at once: the most that one takes, and three bytes more, as
/// each word is four bytes there.
const WINDOW: usize = 1 + GROUP * size_of::<u32>() + 3;

pub struct Packed {
    /// How many there are.
    pub words: usize,
    /// Groups, and behind them enough that a window may be read anywhere.
    pub bytes: Vec<u8>,
}

impl Packed {
    /// `room` is where they are written first.
    pub fn of(words: &[u32], room: &mut Vec<u8>) -> Self {
        let most = words.len().div_ceil(GROUP) * WINDOW + WINDOW;
        if room.len() < most {
            room.resize(most, 0);
        }
        let mut at = 0;
        for group in words.chunks(GROUP) {
            let window = &mut room[at..at + WINDOW];
            let (mut lengths, mut end) = (0, 1);
            for (place, &word) in group.iter().enumerate() {
                let more = (31 - (word | 1).leading_zeros()) / 8;
                lengths |= (more as u8) << (2 * place);
                let from = end & 15; // it is 13 at most: so the compiler sees that it fits
                window[from..from + 4].copy_from_slice(&word.to_le_bytes());
                end += 1 + more as usize;
            }
            window[0] = lengths;
            at += end;
        }
        Packed {
            words: words.len(),
            bytes: room[..at + WINDOW].to_vec(),
        }
    }

    /// Replace what `into` holds by the words.
    pub fn unpack(&self, into: &mut Vec<u32>) {
        into.resize(self.words + GROUP, 0);
        let mut at = 0;
        for words in into.chunks_exact_mut(GROUP) {
            let group = &self.bytes[at..at + WINDOW];
            let (lengths, mut end) = (group[0], 1);
            for (place, word) in words.iter_mut().enumerate() {
                let more = usize::from(lengths >> (2 * place) & 3);
                let from = end & 15; // it is 13 at most: so the compiler sees that it fits
                let four = [
                    group[from],
                    group[from + 1],
                    group[from + 2],
                    group[from + 3],
                ];
                *word = u32::from_le_bytes(four) & (u32::MAX >> (8 * (3 - more)));
                end += 1 + more;
            }
            at += end;
        }
        into.truncate(self.words);
    }
}

#[cfg(test)]
mod tests {
    use super::Packed;
    use crate::table::fingerprint::scramble;

    #[test]
    fn what_is_unpacked_is_what_was_packed() {
        let mut room = Vec::new();
        for count in 0..200u64 {
            let word = |number| (scramble(number) >> (32 + scramble(number + 7) % 32)) as u32;
            let words: Vec<u32> = (count..2 * count).map(word).collect();
            let mut unpacked = vec![9; (3 * count % 500) as usize];
            Packed::of(&words, &mut room).unpack(&mut unpacked);
            assert_eq!(unpacked, words);
        }
        let edges: Vec<u32> = (0..32)
            .flat_map(|bit| [(1 << bit) - 1, 1 << bit, u32::MAX])
            .collect();
        let mut unpacked = Vec::new();
        Packed::of(&edges, &mut room).unpack(&mut unpacked);
        assert_eq!(unpacked, edges);
        assert!(Packed::of(&[7; 100], &mut room).bytes.len() < 150);
    }
}
