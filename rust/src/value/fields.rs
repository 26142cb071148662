//! The values of one node, encoded back to back: nothing mutable may be in there twice.

use pyo3::prelude::*;
use pyo3::types::PyList;

use super::blame::{Again, Fail};
use super::held::Held;
use super::{Codec, Marks};

/// Values encoded back to back.
#[derive(Default)]
pub struct Fields {
    bytes: Vec<u8>,
    ends: Vec<(usize, Marks)>,
}

impl Fields {
    /// Add the encoding of one value, which has nothing to do with those before.
    pub fn push(
        &mut self,
        py: Python<'_>,
        codec: &Codec,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let marks = codec.encode(py, value, &mut self.bytes)?;
        self.ends.push((self.bytes.len(), marks));
        Ok(())
    }

    /// Add all `values` of a node. What is wrong with one is told by its position.
    pub fn encode(
        &mut self,
        py: Python<'_>,
        codec: &Codec,
        values: &Bound<'_, PyList>,
    ) -> PyResult<()> {
        let mut held = Held::default();
        for (position, value) in values.iter().enumerate() {
            let written = codec.write(py, &value, &mut self.bytes, Some(&mut held));
            let marks = written.map_err(|fail| refuse(py, codec, fail, position, values))?;
            self.ends.push((self.bytes.len(), marks));
        }
        Ok(())
    }

    /// The encodings, each with what is known of it.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Marks)> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, marks)| {
            let bytes = &self.bytes[start..end];
            start = end;
            (bytes, marks)
        })
    }
}

/// The error for people: `NotState` with a position, or `Sharing` with both places.
#[cold]
fn refuse(
    py: Python<'_>,
    codec: &Codec,
    fail: Fail,
    position: usize,
    values: &Bound<'_, PyList>,
) -> PyErr {
    let Some(again) = fail.again() else {
        let error = fail.into_error(py);
        // An interrupt has no place for it, and needs none.
        let _ = error.value(py).setattr("position", position);
        return error;
    };
    let first = first_place(py, codec, &again, values);
    let make = || {
        let class = py.import("presage.errors")?.getattr("Sharing")?;
        class.call1((first, (position, again.path), again.type_name))
    };
    make().map_or_else(|error| error, PyErr::from_value)
}

/// Where the object was met first: by position, and by its path from there.
fn first_place(
    py: Python<'_>,
    codec: &Codec,
    again: &Again,
    values: &Bound<'_, PyList>,
) -> (usize, String) {
    for (position, value) in values.iter().enumerate() {
        let mut held = Held::looking_for(again.address);
        let mut out = Vec::new();
        if let Err(fail) = codec.write(py, &value, &mut out, Some(&mut held)) {
            let path = fail.again().map(|found| found.path);
            return (position, path.unwrap_or_default());
        }
    }
    (0, String::new())
}
