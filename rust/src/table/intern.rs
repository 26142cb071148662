//! Canonical bytes to small integers, and back.
//!
//! Every distinct field value, message, stimulus and observer state is kept once, whole, so equal
//! ids mean equal values: interning never rests on a hash alone.

use std::sync::Arc;

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use crate::value::{Marks, digest};

pub struct Interned {
    pub bytes: Arc<[u8]>,
    pub digest: u64,
    pub marks: Marks,
    /// The value decoded once, where sharing it between handler runs is harmless: immutable ones.
    pub shared: Option<Py<PyAny>>,
    /// The same in the second order, where there is one.
    pub reordered: Option<Py<PyAny>>,
}

#[derive(Default)]
pub struct Interner {
    ids: FxHashMap<Arc<[u8]>, u32>,
    items: Vec<Interned>,
}

impl Interned {
    /// The value decoded before, in the second order or in the usual one.
    #[inline]
    pub fn known(&self, second: bool) -> Option<&Py<PyAny>> {
        match second && self.marks.unordered {
            true => self.reordered.as_ref(),
            false => self.shared.as_ref(),
        }
    }
}

impl Interner {
    pub fn find(&self, bytes: &[u8]) -> Option<u32> {
        self.ids.get(bytes).copied()
    }

    /// The id of `bytes`, and whether it is new.
    pub fn intern(&mut self, bytes: &[u8], marks: Marks) -> (u32, bool) {
        if let Some(id) = self.find(bytes) {
            return (id, false);
        }
        let id = u32::try_from(self.items.len()).expect("fewer than 2^32 distinct values");
        let bytes: Arc<[u8]> = bytes.into();
        self.ids.insert(bytes.clone(), id);
        self.items.push(Interned {
            digest: digest(&bytes),
            bytes,
            marks,
            shared: None,
            reordered: None,
        });
        (id, true)
    }

    /// All items, in the order of their ids.
    pub fn items(&self) -> &[Interned] {
        &self.items
    }

    pub fn get(&self, id: u32) -> &Interned {
        &self.items[id as usize]
    }

    pub fn share(&mut self, id: u32, value: Py<PyAny>, second: bool) {
        let item = &mut self.items[id as usize];
        match second && item.marks.unordered {
            true => item.reordered = Some(value),
            false => item.shared = Some(value),
        }
    }
}
