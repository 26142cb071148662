//! What may come from another machine: plain values, and instances of classes that were admitted.
//!
//! The codec trusts bytes that it wrote itself: they may name functions to be called. Bytes from a
//! socket may say anything. So `decode_plain` refuses every tag that leads to importable things,
//! every class that nobody admitted, and objects that lack a field or have one too many.
//!
//! Invariant: no constructor, `__reduce__` or `__setstate__` runs; at most `CONTAINERS_MAX`
//! containers are made, so few bytes cannot become much memory.

use std::sync::{Arc, PoisonError, RwLock};

use pyo3::exceptions::{PyException, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;
use rustc_hash::FxHashMap;

use super::Codec;
use super::blame::{Fail, type_name};
use super::classes::{Kind, Plan};
use super::decode::Decoder;
use super::encode::Encoder;
use super::wire::{IMMUTABLE, MUTABLE, malformed, tag};

/// Containers and objects in one value. Each takes two bytes at least, and some hundred as objects.
const CONTAINERS_MAX: usize = 100_000;

/// Admitted classes by digest, with the number of items if they are named tuples.
type Classes = FxHashMap<u64, Option<usize>>;

#[derive(Default)]
pub struct Admitted {
    classes: RwLock<Arc<Classes>>,
}

impl Admitted {
    fn all(&self) -> Arc<Classes> {
        let classes = self.classes.read();
        classes.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn add(&self, digest: u64, items: Option<usize>) {
        let classes = self.classes.write();
        let mut classes = classes.unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut classes).insert(digest, items);
    }
}

/// How strictly one value is read.
pub struct Strict {
    classes: Arc<Classes>,
    left: usize,
}

impl Strict {
    /// Count one more container with this tag, or refuse it.
    pub fn open(&mut self, tag: u8) -> PyResult<()> {
        if matches!(tag, tag::REFERENCE | tag::CLASS | tag::REDUCED) {
            return Err(malformed("it names something importable"));
        }
        self.left = self
            .left
            .checked_sub(1)
            .ok_or_else(|| malformed("it has too many parts"))?;
        Ok(())
    }

    pub fn admits(&self, digest: u64) -> PyResult<()> {
        match self.classes.contains_key(&digest) {
            true => Ok(()),
            false => Err(malformed("it names a class that no handler does")),
        }
    }

    /// Refuse a named tuple with more or fewer items than its class has.
    pub fn fits(&self, plan: &Plan, object: &Bound<'_, PyAny>) -> PyResult<()> {
        match self.classes.get(&plan.digest) {
            Some(&Some(items)) if object.len()? != items => {
                Err(malformed("a named tuple has another length"))
            }
            _ => Ok(()),
        }
    }
}

impl Codec {
    pub fn admit_class(&self, class: &Bound<'_, PyType>) -> PyResult<()> {
        let py = class.py();
        let mut out = Vec::new();
        let encoder = Encoder::new(self, py, &mut out);
        let plan = encoder.plan(class).map_err(|fail| fail.into_error(py))?;
        let written = match &plan.kind {
            Kind::Object(_) | Kind::Enum(_) => encoder.learn_constants(&plan).map(drop),
            _ => Err(Fail::new(
                type_name(class),
                "its instances are not written field by field, so they cannot come from outside",
            )),
        };
        written.map_err(|fail| fail.into_error(py))?;
        let fields = class.getattr_opt(intern!(py, "_fields"))?;
        let items = match fields {
            Some(fields) if matches!(&plan.kind, Kind::Object(layout) if layout.is_tuple()) => {
                Some(fields.len()?)
            }
            _ => None,
        };
        self.admitted.add(plan.digest, items);
        Ok(())
    }

    pub fn decode_strictly(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<Py<PyAny>> {
        let Some((&(MUTABLE | IMMUTABLE), rest)) = bytes.split_first() else {
            return Err(malformed("it has an unknown first byte"));
        };
        let mut decoder = Decoder::new(self, py, rest);
        decoder.strict = Some(Strict {
            classes: self.admitted.all(),
            left: CONTAINERS_MAX,
        });
        let value = decoder.whole().map_err(|error| as_value_error(py, error))?;
        Ok(value.unbind())
    }
}

/// A list as a key of a dict is a `TypeError`: here it is one more way to be malformed.
fn as_value_error(py: Python<'_>, error: PyErr) -> PyErr {
    let is_theirs = error.is_instance_of::<PyException>(py);
    match is_theirs && !error.is_instance_of::<PyValueError>(py) {
        true => malformed(&error.value(py).to_string()),
        false => error,
    }
}
