//! Words that wait, in as few bytes as each of them needs.
//!
//! Interned ids are small, and a breadth-first search spends much of its memory on states that
//! wait. Four words share one byte that says how many bytes each of them takes ("group varint",
//! Dean, "Challenges in building large-scale information retrieval systems", 2009): packing and
//! unpacking have no branch per word.

/// Words that share one byte of lengths.
const GROUP: usize = 4;
/// The most that a group takes.
const GROUP_BYTES: usize = 1 + GROUP * size_of::<u32>();

pub struct Packed {
    /// How many there are.
    pub words: usize,
    /// Groups, and behind them enough that a word may be read as four bytes anywhere.
    pub bytes: Vec<u8>,
}

impl Packed {
    pub fn of(words: &[u32]) -> Self {
        let mut bytes = Vec::with_capacity(2 * words.len());
        for group in words.chunks(GROUP) {
            let (mut room, mut end) = ([0u8; GROUP_BYTES + 3], 1);
            for (place, &word) in group.iter().enumerate() {
                let more = (31 - (word | 1).leading_zeros()) / 8;
                room[0] |= (more as u8) << (2 * place);
                room[end..end + 4].copy_from_slice(&word.to_le_bytes());
                end += 1 + more as usize;
            }
            bytes.extend_from_slice(&room[..end]);
        }
        bytes.extend_from_slice(&[0; GROUP_BYTES]);
        bytes.shrink_to_fit();
        Packed {
            words: words.len(),
            bytes,
        }
    }

    /// Replace what `into` holds by the words.
    pub fn unpack(&self, into: &mut Vec<u32>) {
        into.clear();
        into.reserve(self.words + GROUP);
        let mut at = 0;
        while into.len() < self.words {
            let group = &self.bytes[at..at + GROUP_BYTES];
            let (lengths, mut end) = (group[0], 1);
            let mut words = [0u32; GROUP];
            for (place, word) in words.iter_mut().enumerate() {
                let more = usize::from(lengths >> (2 * place) & 3);
                let four = [group[end], group[end + 1], group[end + 2], group[end + 3]];
                *word = u32::from_le_bytes(four) & (u32::MAX >> (8 * (3 - more)));
                end += 1 + more;
            }
            into.extend_from_slice(&words);
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
        for count in 0..200u64 {
            let word = |number| (scramble(number) >> (32 + scramble(number + 7) % 32)) as u32;
            let words: Vec<u32> = (count..2 * count).map(word).collect();
            let mut unpacked = vec![9];
            Packed::of(&words).unpack(&mut unpacked);
            assert_eq!(unpacked, words);
        }
        let edges: Vec<u32> = (0..32)
            .flat_map(|bit| [(1 << bit) - 1, 1 << bit, u32::MAX])
            .collect();
        let mut unpacked = Vec::new();
        Packed::of(&edges).unpack(&mut unpacked);
        assert_eq!(unpacked, edges);
        assert!(Packed::of(&[7; 100]).bytes.len() < 150);
    }
}
