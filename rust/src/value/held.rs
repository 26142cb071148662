//! Two ways to one mutable object: refused, because a copy of the state would have two of them.
//!
//! While the fields of one node are written, the address of every mutable object is noted. One that
//! comes a second time is shared: a later step that changes it here would change it there as well,
//! and in a state rebuilt from bytes it would not.
//!
//! Invariant: only objects that the state or `recipes` keep alive are noted, so no address comes
//! twice by chance.

use pyo3::prelude::*;
use rustc_hash::FxHashSet;

use super::blame::{Encoded, Fail, Frame};
use super::encode::Encoder;

/// Up to here, looking through a list is faster than hashing.
const FEW: usize = 16;

#[derive(Default)]
pub struct Held {
    few: Vec<usize>,
    many: FxHashSet<usize>,
    /// Look for this object alone, and stop where it is first met; 0: note them all.
    wanted: usize,
    /// What objects were reduced to: it lives as long as addresses in there count.
    recipes: Vec<Py<PyAny>>,
}

impl Held {
    pub fn looking_for(address: usize) -> Self {
        Held {
            wanted: address,
            ..Held::default()
        }
    }

    pub fn keep(&mut self, recipe: &Bound<'_, PyAny>) {
        self.recipes.push(recipe.clone().unbind());
    }

    /// Note an object; was it there already, or is it the one that is looked for?
    #[inline]
    fn meets(&mut self, address: usize) -> bool {
        if self.wanted != 0 {
            return address == self.wanted;
        }
        if self.few.len() < FEW {
            let known = self.few.contains(&address);
            self.few.push(address);
            return known;
        }
        self.few.contains(&address) || !self.many.insert(address)
    }
}

impl<'py> Encoder<'_, 'py> {
    /// Note a mutable object that lives as long as addresses count.
    #[inline]
    pub fn hold(&mut self, object: &Bound<'py, PyAny>, frame: &Frame<'_>) -> Encoded {
        let address = object.as_ptr() as usize;
        let held = self.held.as_deref_mut();
        match held.is_some_and(|held| held.meets(address)) {
            true => self.met_again(object, frame),
            false => Ok(()),
        }
    }

    #[cold]
    fn met_again(&self, object: &Bound<'py, PyAny>, frame: &Frame<'_>) -> Encoded {
        // One that contains itself is told apart by its depth.
        match frame.is_within_itself() {
            true => Ok(()),
            false => Err(Fail::shared(object)),
        }
    }
}
