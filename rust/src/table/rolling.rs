//! The digest of a queue: 64 bits that follow it as messages join its end and leave its head.
//!
//! It is the value of a polynomial, at a fixed point, whose coefficients are what the messages add
//! to a fingerprint alone. So a longer or a shorter queue costs one multiplication, however many
//! messages it holds. Arithmetic is modulo a prime: modulo 2^64 the order of repeated messages
//! would be seen by fewer and fewer bits.

use pyo3::prelude::*;

use super::fingerprint::{CHANNEL, mix};

/// The largest prime below 2^64.
const PRIME: u64 = u64::MAX - 58;
/// 2^64 modulo the prime.
const FOLD: u64 = 59;
/// Its powers repeat only after half as many steps as there are numbers.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

const TABLE: usize = 1 << 10;
const POWERS: [u64; TABLE] = {
    let mut powers = [1; TABLE];
    let mut at = 1;
    while at < TABLE {
        powers[at] = times(powers[at - 1], BASE);
        at += 1;
    }
    powers
};

#[inline(always)]
const fn reduce(number: u128) -> u64 {
    let folded = (number >> 64) * FOLD as u128 + (number as u64) as u128;
    let (sum, over) = (folded as u64).overflowing_add((folded >> 64) as u64 * FOLD);
    let sum = if over { sum + FOLD } else { sum };
    if sum >= PRIME { sum - PRIME } else { sum }
}

#[inline(always)]
const fn times(one: u64, other: u64) -> u64 {
    reduce(one as u128 * other as u128)
}

/// `BASE` to the power of `exponent`.
#[inline(always)]
fn power(exponent: u32) -> u64 {
    let low = POWERS[exponent as usize % TABLE];
    match exponent as usize / TABLE {
        0 => low,
        high => times(low, large_power(high)),
    }
}

/// `BASE` to the power of `exponent` times `TABLE`.
#[cold]
fn large_power(mut exponent: usize) -> u64 {
    let (mut square, mut power) = (times(POWERS[TABLE - 1], BASE), 1);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = times(power, square);
        }
        square = times(square, square);
        exponent >>= 1;
    }
    power
}

/// A queue of which nothing is known but its digest and its length.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Rolling {
    pub sum: u64,
    pub len: u32,
}

impl Rolling {
    /// With a message that adds `digest` alone at its end.
    #[inline(always)]
    pub fn pushed(self, digest: u64) -> Self {
        Rolling {
            sum: reduce(self.sum as u128 * BASE as u128 + digest as u128),
            len: self.len + 1,
        }
    }

    /// Without its head, which adds `digest` alone.
    #[inline(always)]
    pub fn popped(self, digest: u64) -> Self {
        let head = times(digest, power(self.len - 1));
        let (sum, below) = self.sum.overflowing_sub(head);
        Rolling {
            sum: if below { sum.wrapping_sub(FOLD) } else { sum },
            len: self.len - 1,
        }
    }

    /// With its head, which adds `digest` alone, standing there twice.
    #[inline(always)]
    pub fn doubled(self, digest: u64) -> Self {
        let head = times(digest, power(self.len));
        Rolling {
            sum: reduce(self.sum as u128 + head as u128),
            len: self.len + 1,
        }
    }

    /// What the queue adds to a fingerprint. Messages name their ends, so it need not.
    #[inline(always)]
    pub fn share(self) -> u64 {
        mix(CHANNEL, u64::from(self.len), self.sum)
    }
}

impl FromIterator<u64> for Rolling {
    fn from_iter<I: IntoIterator<Item = u64>>(digests: I) -> Self {
        let empty = Rolling::default();
        digests.into_iter().fold(empty, Rolling::pushed)
    }
}

/// What a queue adds to a fingerprint, from what each of its messages adds alone, oldest first.
#[pyfunction]
pub fn queue_share(parts: Vec<u64>) -> u64 {
    parts.into_iter().collect::<Rolling>().share()
}

#[cfg(test)]
mod tests {
    use super::{BASE, PRIME, Rolling, TABLE, power};
    use crate::table::fingerprint::scramble;

    /// The same, written plainly.
    fn plain(digests: &[u64]) -> u64 {
        let modulus = u128::from(PRIME);
        let sum = digests.iter().fold(0u128, |sum, &digest| {
            (sum * u128::from(BASE) + u128::from(digest)) % modulus
        });
        sum as u64
    }

    /// Digests at the limits of the arithmetic among others.
    fn digest(number: u64) -> u64 {
        match number % 5 {
            0 => u64::MAX - number % 70,
            1 => number % 3,
            _ => scramble(number),
        }
    }

    #[test]
    fn a_queue_that_grows_and_shrinks_has_the_digest_of_what_it_holds() {
        let (mut held, mut rolling) = (Vec::new(), Rolling::default());
        for number in 0..20_000u64 {
            match scramble(number) % 7 {
                0..=3 => {
                    held.push(digest(number));
                    rolling = rolling.pushed(digest(number));
                }
                4 if !held.is_empty() => {
                    rolling = rolling.doubled(held[0]);
                    held.insert(0, held[0]);
                }
                _ if !held.is_empty() => {
                    rolling = rolling.popped(held.remove(0));
                }
                _ => {}
            }
            if held.len() < 40 || number % 97 == 0 {
                assert_eq!(
                    (rolling.sum, rolling.len),
                    (plain(&held), held.len() as u32)
                );
            }
        }
        assert!(held.len() > 3 * TABLE);
        while !held.is_empty() {
            rolling = rolling.popped(held.remove(0));
        }
        assert_eq!(rolling, Rolling::default());
    }

    #[test]
    fn powers_go_on_beyond_the_table() {
        let mut expected = 1u128;
        for exponent in 0..5 * TABLE as u32 {
            assert_eq!(u128::from(power(exponent)), expected);
            expected = expected * u128::from(BASE) % u128::from(PRIME);
        }
    }

    #[test]
    fn queues_of_the_same_messages_in_another_order_differ() {
        // Thue and Morse: modulo a power of two, these two agree from some length on.
        let word =
            |flip: u32| (0..1u32 << 12).map(move |at| 7 + u64::from((at.count_ones() + flip) & 1));
        let (one, other): (Rolling, Rolling) = (word(0).collect(), word(1).collect());
        assert_ne!(one, other);
    }
}
