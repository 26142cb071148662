//! The alphabet of encoded values: one tag byte, then lengths, numbers and text.
//!
//! Every encoding is self-delimiting, so none is a proper prefix of another and comparing whole
//! entries of a dict compares their keys first. Integers are written so that byte order is
//! numeric order: a dict keyed by round, term or index is rebuilt in the order people expect.
//!
//! Invariant: equal values have equal bytes on every platform; all numbers are big-endian.

use pyo3::exceptions::PyValueError;
use pyo3::{PyErr, PyResult};

/// First byte of a whole encoding: may the decoded object be shared, or must it be copied.
pub const MUTABLE: u8 = 0;
pub const IMMUTABLE: u8 = 1;

/// First byte of every value inside an encoding.
pub mod tag {
    pub const NONE: u8 = 0x00;
    pub const FALSE: u8 = 0x01;
    pub const TRUE: u8 = 0x02;
    pub const FLOAT: u8 = 0x03;
    pub const COMPLEX: u8 = 0x04;
    pub const STR: u8 = 0x05;
    /// A string with lone surrogates, which UTF-8 proper cannot hold.
    pub const SURROGATES: u8 = 0x06;
    pub const BYTES: u8 = 0x07;
    pub const BYTEARRAY: u8 = 0x08;
    pub const TUPLE: u8 = 0x09;
    pub const LIST: u8 = 0x0a;
    pub const DICT: u8 = 0x0b;
    pub const SET: u8 = 0x0c;
    pub const FROZENSET: u8 = 0x0d;
    /// Class, content of its builtin base, slots, attributes.
    pub const OBJECT: u8 = 0x0e;
    pub const ENUM: u8 = 0x0f;
    /// A flag without a name of its own, by value.
    pub const FLAG: u8 = 0x10;
    /// Something importable: a function or a class.
    pub const REFERENCE: u8 = 0x11;
    /// A class known by its instances; need not be importable.
    pub const CLASS: u8 = 0x12;
    pub const REDUCED: u8 = 0x13;
    /// A slot or field that is not set.
    pub const ABSENT: u8 = 0x14;
    /// `INT_SMALL - k`: a negative integer of `k` bytes, 1 to 8.
    pub const INT_FIRST: u8 = 0x20;
    /// `INT_SMALL..=INT_SMALL_LAST`: the integers -16 to 111 themselves.
    pub const INT_SMALL: u8 = 0x28;
    pub const INT_SMALL_LAST: u8 = 0xa7;
    /// `INT_SMALL_LAST + k`: a positive integer of `k` bytes, 1 to 8.
    pub const INT_LAST: u8 = 0xaf;
    /// Beyond 64 bits: length, then two's complement.
    pub const INT_BIG: u8 = 0xb0;
}

/// The integer that `tag::INT_SMALL` stands for.
const SMALLEST: i64 = -16;
const LARGEST: i64 = SMALLEST + (tag::INT_SMALL_LAST - tag::INT_SMALL) as i64;
/// Every NaN is written as this one.
const NAN: u64 = 0x7ff8_0000_0000_0000;
const SIGN: u64 = 1 << 63;

#[inline]
pub fn put_length(out: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

#[inline]
pub fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    put_length(out, text.len());
    out.extend_from_slice(text);
}

#[inline]
pub fn put_digest(out: &mut Vec<u8>, digest: u64) {
    out.extend_from_slice(&digest.to_be_bytes());
}

#[inline]
pub fn put_int(out: &mut Vec<u8>, number: i64) {
    if (SMALLEST..=LARGEST).contains(&number) {
        out.push((number - SMALLEST) as u8 + tag::INT_SMALL);
        return;
    }
    let magnitude = if number < 0 { !number } else { number };
    let width = 8 - magnitude.leading_zeros() as usize / 8;
    out.push(match number < 0 {
        true => tag::INT_SMALL - width as u8,
        false => tag::INT_SMALL_LAST + width as u8,
    });
    out.extend_from_slice(&number.to_be_bytes()[8 - width..]);
}

#[inline]
pub fn put_float(out: &mut Vec<u8>, number: f64) {
    let bits = if number.is_nan() {
        NAN
    } else {
        number.to_bits()
    };
    // Flipping like this makes byte order numeric order.
    let ordered = if bits & SIGN == 0 { bits | SIGN } else { !bits };
    out.extend_from_slice(&ordered.to_be_bytes());
}

/// Reads what the functions above write; anything else is a `ValueError`, never a panic.
#[derive(Clone, Copy)]
pub struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// What was read since, by `later`.
    pub fn until(&self, later: &Self) -> &'b [u8] {
        &self.rest[..self.rest.len() - later.rest.len()]
    }

    /// The bytes that are left.
    pub fn rest(&self) -> &'b [u8] {
        self.rest
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline]
    pub fn byte(&mut self) -> PyResult<u8> {
        let (&first, rest) = self.rest.split_first().ok_or_else(cut_short)?;
        self.rest = rest;
        Ok(first)
    }

    /// Is the next byte `tag`? If so, step over it.
    #[inline]
    pub fn skip(&mut self, tag: u8) -> bool {
        let here = self.rest.first() == Some(&tag);
        if here {
            self.rest = &self.rest[1..];
        }
        here
    }

    #[inline]
    fn take(&mut self, count: usize) -> PyResult<&'b [u8]> {
        let (head, rest) = self.rest.split_at_checked(count).ok_or_else(cut_short)?;
        self.rest = rest;
        Ok(head)
    }

    pub fn number(&mut self) -> PyResult<usize> {
        let mut length = 0usize;
        for shift in (0..usize::BITS).step_by(7) {
            let byte = self.byte()?;
            length |= ((byte & 0x7f) as usize) << shift;
            if byte & 0x80 == 0 {
                return Ok(length);
            }
        }
        Err(malformed("a length is too long"))
    }

    /// How many values follow; each needs a byte, so a lying count cannot exhaust memory.
    #[inline]
    pub fn count(&mut self) -> PyResult<usize> {
        let count = self.number()?;
        match count <= self.rest.len() {
            true => Ok(count),
            false => Err(cut_short()),
        }
    }

    #[inline]
    pub fn text(&mut self) -> PyResult<&'b [u8]> {
        let length = self.number()?;
        self.take(length)
    }

    #[inline]
    pub fn digest(&mut self) -> PyResult<u64> {
        self.uint(8)
    }

    #[inline]
    fn uint(&mut self, width: usize) -> PyResult<u64> {
        let bytes = self.take(width)?;
        Ok(bytes
            .iter()
            .fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// The integer whose tag, between `INT_FIRST` and `INT_LAST`, was just read.
    #[inline]
    pub fn int(&mut self, tag: u8) -> PyResult<i64> {
        if (tag::INT_SMALL..=tag::INT_SMALL_LAST).contains(&tag) {
            return Ok(i64::from(tag - tag::INT_SMALL) + SMALLEST);
        }
        if tag > tag::INT_SMALL_LAST {
            return Ok(self.uint((tag - tag::INT_SMALL_LAST) as usize)? as i64);
        }
        let width = (tag::INT_SMALL - tag) as usize;
        let ones = u64::MAX.checked_shl(8 * width as u32).unwrap_or(0);
        Ok((self.uint(width)? | ones) as i64)
    }

    #[inline]
    pub fn float(&mut self) -> PyResult<f64> {
        let ordered = self.uint(8)?;
        let bits = if ordered & SIGN == 0 {
            !ordered
        } else {
            ordered & !SIGN
        };
        Ok(f64::from_bits(bits))
    }
}

#[cold]
fn cut_short() -> PyErr {
    malformed("it is cut short")
}

#[cold]
pub fn malformed(what: &str) -> PyErr {
    PyValueError::new_err(format!("not an encoded value: {what}"))
}
