//! Bytes that shards send each other: numbers, texts and words, one after the other.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

#[derive(Default)]
pub struct Packer {
    pub bytes: Vec<u8>,
}

impl Packer {
    pub fn word(&mut self, word: u32) {
        self.bytes.extend_from_slice(&word.to_le_bytes());
    }

    pub fn long(&mut self, long: u64) {
        self.bytes.extend_from_slice(&long.to_le_bytes());
    }

    pub fn text(&mut self, text: &[u8]) {
        self.long(text.len() as u64);
        self.bytes.extend_from_slice(text);
    }

    pub fn words(&mut self, words: &[u32]) {
        self.long(words.len() as u64);
        self.bytes.extend_from_slice(bytemuck::cast_slice(words));
    }

    pub fn longs(&mut self, longs: &[u64]) {
        self.long(longs.len() as u64);
        self.bytes.extend_from_slice(bytemuck::cast_slice(longs));
    }
}

pub struct Unpacker<'a> {
    rest: &'a [u8],
}

pub fn damaged() -> PyErr {
    PyValueError::new_err("what a shard was sent is cut short or not for it")
}

impl<'a> Unpacker<'a> {
    pub fn new(rest: &'a [u8]) -> Self {
        Unpacker { rest }
    }

    fn take(&mut self, count: usize) -> PyResult<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or_else(damaged)?;
        self.rest = rest;
        Ok(taken)
    }

    pub fn word(&mut self) -> PyResult<u32> {
        let bytes = self.take(size_of::<u32>())?.try_into();
        Ok(u32::from_le_bytes(bytes.map_err(|_| damaged())?))
    }

    pub fn long(&mut self) -> PyResult<u64> {
        let bytes = self.take(size_of::<u64>())?.try_into();
        Ok(u64::from_le_bytes(bytes.map_err(|_| damaged())?))
    }

    fn sized(&mut self, size: usize) -> PyResult<&'a [u8]> {
        let count = self.long()? as usize;
        self.take(count.checked_mul(size).ok_or_else(damaged)?)
    }

    pub fn text(&mut self) -> PyResult<&'a [u8]> {
        self.sized(1)
    }

    pub fn words(&mut self) -> PyResult<Vec<u32>> {
        let bytes = self.sized(size_of::<u32>())?;
        let mut words = vec![0; bytes.len() / size_of::<u32>()];
        bytemuck::cast_slice_mut(&mut words).copy_from_slice(bytes);
        Ok(words)
    }

    pub fn longs(&mut self) -> PyResult<Vec<u64>> {
        let bytes = self.sized(size_of::<u64>())?;
        let mut longs = vec![0; bytes.len() / size_of::<u64>()];
        bytemuck::cast_slice_mut(&mut longs).copy_from_slice(bytes);
        Ok(longs)
    }
}

#[cfg(test)]
mod tests {
    use super::{Packer, Unpacker};

    #[test]
    fn what_was_packed_comes_out_again_and_no_more() {
        let mut packer = Packer::default();
        packer.word(7);
        packer.text(b"abc");
        packer.words(&[1, 2, 3]);
        packer.longs(&[u64::MAX]);
        let mut unpacker = Unpacker::new(&packer.bytes);
        assert_eq!(unpacker.word().unwrap(), 7);
        assert_eq!(unpacker.text().unwrap(), b"abc");
        assert_eq!(unpacker.words().unwrap(), [1, 2, 3]);
        assert_eq!(unpacker.longs().unwrap(), [u64::MAX]);
        assert!(unpacker.word().is_err());
        let mut short = Unpacker::new(&packer.bytes[..9]);
        short.word().unwrap();
        assert!(short.text().is_err());
    }
}
