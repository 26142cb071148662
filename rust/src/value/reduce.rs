//! The last resort: ask the object itself how it is rebuilt, and prove that it is true.
//!
//! `__reduce_ex__` gives a function, its arguments and perhaps a state, as for `pickle`; this is
//! how dates, decimals, identifiers and library types travel. Nothing says that what comes back
//! is the same, so it is rebuilt and written again, and the bytes must agree.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::*;

use super::blame::{Encoded, Fail, Frame};
use super::classes::Reduction;
use super::decode::Decoder;
use super::encode::{Encoder, Pair};
use super::wire::{put_digest, put_length, tag};

/// What follows the arguments of a reduced object.
pub mod state {
    pub const NONE: u8 = 0;
    pub const ATTRIBUTES: u8 = 1;
    pub const OTHER: u8 = 2;
}

const PROTOCOL: u8 = 4;

impl<'py> Encoder<'_, 'py> {
    pub fn reduced(
        &mut self,
        object: &Bound<'py, PyAny>,
        reduction: &Reduction,
        frame: &Frame<'_>,
    ) -> Encoded {
        let reduced = match &reduction.reducer {
            Some(reducer) => reducer.bind(self.py).call1((object,)),
            None => object.call_method1(intern!(self.py, "__reduce_ex__"), (PROTOCOL,)),
        };
        let reduced = reduced.map_err(|error| Fail::raised(&object.get_type(), error))?;
        if let Ok(name) = reduced.cast::<PyString>() {
            return self.global(object, &name.to_string_lossy());
        }
        let start = self.out.len();
        self.mutable |= !reduction.trusted;
        // In a recipe stand parts that a library shares and nobody changes, such as data types.
        if !reduction.trusted && !self.reducing {
            self.hold(object, frame)?;
        }
        if let Some(held) = self.held.as_deref_mut() {
            held.keep(&reduced);
        }
        let outer = std::mem::replace(&mut self.reducing, true);
        let written = self.recipe(object, &reduced, frame);
        self.reducing = outer;
        written?;
        if self.proving && !reduction.trusted {
            self.prove(object, start)?;
        }
        Ok(())
    }

    fn recipe(
        &mut self,
        object: &Bound<'py, PyAny>,
        reduced: &Bound<'py, PyAny>,
        frame: &Frame<'_>,
    ) -> Encoded {
        let nothing = self.py.None().into_bound(self.py);
        let part = |index: usize| reduced.get_item(index).unwrap_or_else(|_| nothing.clone());
        let (make, arguments) = (part(0), part(1));
        let (Ok(arguments), true) = (arguments.cast::<PyTuple>(), part(5).is_none()) else {
            return Err(Fail::of(
                object,
                "its `__reduce_ex__` gives a form that is not supported",
            ));
        };
        self.out.push(tag::REDUCED);
        self.ingredient(object, &make, frame)?;
        put_length(self.out, arguments.len());
        for argument in arguments {
            self.ingredient(object, &argument, frame)?;
        }
        self.state(&part(2), frame)?;
        let items = self.gather(object, &part(3))?;
        put_length(self.out, items.len());
        for (index, item) in items.iter().enumerate() {
            let place = || format!("[{index}]");
            self.value(item, frame)
                .map_err(|fail| fail.at(frame.depth, place))?;
        }
        let pairs = self.gather(object, &part(4))?;
        put_length(self.out, pairs.len());
        for pair in &pairs {
            self.pair(&pair.extract()?, frame)?;
        }
        Ok(())
    }

    /// A part of the recipe. The object's own class need not be importable, as for any instance.
    fn ingredient(
        &mut self,
        object: &Bound<'py, PyAny>,
        part: &Bound<'py, PyAny>,
        frame: &Frame<'_>,
    ) -> Encoded {
        let class = object.get_type();
        if part.is(&class) {
            self.out.push(tag::CLASS);
            put_digest(self.out, self.plan(&class)?.digest);
            return Ok(());
        }
        self.value(part, frame)
            .map_err(|fail| fail.at(frame.depth, String::new))
    }

    fn state(&mut self, given: &Bound<'py, PyAny>, frame: &Frame<'_>) -> Encoded {
        if given.is_none() {
            self.out.push(state::NONE);
            return Ok(());
        }
        if let Ok(dict) = given.cast_exact::<PyDict>() {
            let pairs: Vec<Pair<'py>> = dict.iter().collect();
            if pairs
                .iter()
                .all(|(name, _)| name.is_exact_instance_of::<PyString>())
            {
                self.out.push(state::ATTRIBUTES);
                return self.named(&pairs, frame);
            }
        }
        self.out.push(state::OTHER);
        self.value(given, frame)
            .map_err(|fail| fail.at(frame.depth, String::new))
    }

    /// Rebuild what was written since `start` and write that: it must be the same again.
    fn prove(&mut self, object: &Bound<'py, PyAny>, start: usize) -> Encoded {
        let copy = Decoder::new(self.codec, self.py, &self.out[start..])
            .whole()
            .map_err(|error| Fail::raised(&object.get_type(), error))?;
        if !copy.get_type().is(object.get_type()) {
            return Err(Fail::of(
                object,
                "a copy made by its `__reduce_ex__` has another type",
            ));
        }
        let mut again = Vec::with_capacity(self.out.len() - start);
        let mut encoder = Encoder::new(self.codec, self.py, &mut again);
        encoder.proving = false;
        encoder
            .value(&copy, &Frame::ROOT)
            .map_err(|fail| fail.within(object))?;
        match again == self.out[start..] {
            true => Ok(()),
            false => Err(Fail::of(
                object,
                "a copy made by its `__reduce_ex__` is not the same",
            )),
        }
    }

    /// Everything an optional iterator of the object gives.
    fn gather(
        &mut self,
        object: &Bound<'py, PyAny>,
        items: &Bound<'py, PyAny>,
    ) -> Encoded<Vec<Bound<'py, PyAny>>> {
        if items.is_none() {
            return Ok(Vec::new());
        }
        let items = items
            .try_iter()
            .and_then(|items| items.collect::<PyResult<Vec<_>>>());
        let items = items.map_err(|error| Fail::raised(&object.get_type(), error))?;
        if let Some(held) = self.held.as_deref_mut() {
            items.iter().for_each(|item| held.keep(item));
        }
        Ok(items)
    }
}
