//! Canonical values: any state or message as bytes, and back as fresh objects.
//!
//! Two values are the same state if and only if their bytes are equal. The bytes know types (1,
//! `True` and 1.0 differ) but not hash seeds, insertion orders, addresses or sharing.
//!
//! Invariants: `decode(encode(x))` equals `x`, type by type; `encode(decode(b)) == b`; and no lock
//! is held while Python code runs.
//!
//! Reading order: `wire` (the bytes), `encode`, `objects`, `decode`, `rebuild`; how a class is
//! judged is in `classes`, `layout` and `refused`. `fields` writes a whole node, in which `held`
//! finds what is shared; `constants`, found in `attributes`, are written by name; `order` rebuilds
//! sets and dicts in another order.

mod attributes;
pub mod backwards;
mod blame;
mod classes;
mod constants;
mod decode;
mod encode;
mod fields;
mod held;
mod layout;
mod objects;
mod order;
mod peek;
mod plain;
mod raw;
mod rebuild;
mod reduce;
mod reference;
mod refused;
mod registry;
mod rename;
mod skim;
mod table;
mod wire;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple, PyType};
use xxhash_rust::xxh3::xxh3_64;

use blame::{Encoded, Frame};
use decode::Decoder;
use encode::Encoder;
pub use fields::Fields;
use held::Held;
pub use order::{OrderGuard, is_second};
pub use peek::{magnitude, mentions, numbers, texts};
use registry::Registry;
pub use rename::Form;
pub use wire::Reader as Cursor;
use wire::malformed;
pub use wire::{IMMUTABLE, MUTABLE, put_digest, put_int, put_length, put_text, tag};

/// Translates values to bytes and back. Safe to share between threads.
#[pyclass(frozen, module = "presage._core")]
#[derive(Default)]
pub struct Codec {
    registry: Registry,
    admitted: plain::Admitted,
    attributes: attributes::Attributes,
    /// Moments are written with the numbers they hold; else all of them are one value.
    live: bool,
}

/// 64 bits that stand for `bytes`: the same in every process and on every platform.
#[inline]
pub fn digest(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// What is known of an encoded value beside its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Marks {
    /// The decoded object may be shared: no part of it can be changed in place.
    pub immutable: bool,
    /// It holds a set or dict with two or more entries, whose order is no part of the value.
    pub unordered: bool,
}

#[inline]
fn immutable(bytes: &[u8]) -> bool {
    bytes.first() == Some(&IMMUTABLE)
}

impl Codec {
    /// Append the encoding of `object` to `out`. On failure `out` is unchanged.
    pub fn encode(
        &self,
        py: Python<'_>,
        object: &Bound<'_, PyAny>,
        out: &mut Vec<u8>,
    ) -> PyResult<Marks> {
        self.write(py, object, out, None)
            .map_err(|fail| fail.into_error(py))
    }

    /// As `encode`; with `held`, no mutable object in there may be met twice.
    fn write<'c>(
        &'c self,
        py: Python<'_>,
        object: &Bound<'_, PyAny>,
        out: &'c mut Vec<u8>,
        held: Option<&'c mut Held>,
    ) -> Encoded<Marks> {
        let start = out.len();
        out.push(MUTABLE);
        let mut encoder = Encoder::new(self, py, out);
        encoder.held = held;
        let result = encoder.value(object, &Frame::ROOT);
        let marks = Marks {
            immutable: !encoder.mutable,
            unordered: encoder.unordered,
        };
        let out = encoder.out;
        match result {
            Ok(()) => out[start] = if marks.immutable { IMMUTABLE } else { MUTABLE },
            Err(_) => out.truncate(start),
        }
        result.map(|()| marks)
    }

    /// A fresh object from an encoding that this codec made.
    pub fn decode(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<Py<PyAny>> {
        match bytes.split_first() {
            Some((&(MUTABLE | IMMUTABLE), rest)) => {
                Ok(Decoder::new(self, py, rest).whole()?.unbind())
            }
            _ => Err(malformed("it has an unknown first byte")),
        }
    }
}

#[pymethods]
impl Codec {
    /// The names of all classes and of all importable objects that encodings may name.
    pub fn names(&self) -> (Vec<String>, Vec<String>) {
        self.registry.names()
    }

    #[new]
    #[pyo3(signature = (*, live = false))]
    fn new(live: bool) -> Self {
        let registry = Registry::default();
        Codec {
            registry,
            live,
            ..Codec::default()
        }
    }

    /// The canonical bytes of `value`; raises `NotState` if it cannot be state.
    #[pyo3(name = "encode")]
    fn encode_value<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let mut out = Vec::with_capacity(128);
        self.encode(value.py(), value, &mut out)?;
        Ok(PyBytes::new(value.py(), &out))
    }

    /// `value` itself if no part of it can be changed in place, else a fresh copy of it.
    fn keep<'py>(&self, value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = value.py();
        let mut out = Vec::with_capacity(128);
        if self.encode(py, &value, &mut out)?.immutable {
            return Ok(value);
        }
        Ok(self.decode(py, &out)?.into_bound(py))
    }

    /// A fresh value from bytes that this codec made.
    #[pyo3(name = "decode")]
    fn decode_bytes(&self, py: Python<'_>, data: &[u8]) -> PyResult<Py<PyAny>> {
        self.decode(py, data)
    }

    /// A fresh value from bytes that anybody made; raises `ValueError` if it is not plain.
    fn decode_plain(&self, py: Python<'_>, data: &[u8]) -> PyResult<Py<PyAny>> {
        self.decode_strictly(py, data)
    }

    /// Let instances of `class` come from outside; raises `NotState` if they cannot.
    fn admit(&self, class: &Bound<'_, PyType>) -> PyResult<()> {
        self.admit_class(class)
    }

    /// Let encodings of instances of `class` be decoded, before any was encoded.
    fn learn(&self, class: &Bound<'_, PyType>) -> PyResult<()> {
        let mut out = Vec::new();
        let encoder = Encoder::new(self, class.py(), &mut out);
        let planned = encoder.plan(class);
        planned
            .and_then(|plan| encoder.learn_constants(&plan).map(drop))
            .map_err(|fail| fail.into_error(class.py()))
    }

    /// Can no part of the encoded value be changed in place?
    #[staticmethod]
    #[pyo3(name = "immutable")]
    fn is_immutable(data: &[u8]) -> bool {
        immutable(data)
    }

    /// Fresh values from each of `fields`, those of one node.
    fn decode_fields<'py>(&self, fields: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyList>> {
        let values = PyList::empty(fields.py());
        for field in fields.iter() {
            let bytes = field.cast::<PyBytes>()?.as_bytes();
            values.append(self.decode(fields.py(), bytes)?)?;
        }
        Ok(values)
    }

    /// The canonical bytes of each of `values`, the fields of one node; raises `Sharing` if one
    /// mutable object is in there twice.
    #[pyo3(name = "encode_fields")]
    fn encode_list<'py>(&self, values: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyList>> {
        let mut fields = Fields::default();
        fields.encode(values.py(), self, values)?;
        PyList::new(
            values.py(),
            fields
                .iter()
                .map(|(bytes, _)| PyBytes::new(values.py(), bytes)),
        )
    }

    /// Does the encoded value hold a set or dict with two or more entries?
    #[pyo3(name = "unordered")]
    fn is_unordered(&self, data: &[u8]) -> PyResult<bool> {
        self.unordered(data)
    }

    /// `function(*args)`, while all that is decoded has its sets and dicts in the second order.
    #[staticmethod]
    #[pyo3(signature = (function, *args))]
    fn reorder<'py>(
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _guard = OrderGuard::new(true);
        function.call1(args)
    }

    /// `function(*args)`, while all that is decoded is in the canonical order.
    #[staticmethod]
    #[pyo3(signature = (function, *args))]
    fn in_order<'py>(
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _guard = OrderGuard::new(false);
        function.call1(args)
    }

    /// The encoding of the same value with some strings exchanged, `old -> new`.
    #[pyo3(name = "rename")]
    fn rename_bytes<'py>(
        &self,
        py: Python<'py>,
        data: &[u8],
        names: std::collections::HashMap<String, String>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let exchange = |text: &[u8]| {
            let name = std::str::from_utf8(text).ok()?;
            names.get(name).map(|name| name.as_bytes())
        };
        Ok(PyBytes::new(
            py,
            &self.rename(data, Form::Value, &exchange)?,
        ))
    }

    /// 64 bits that stand for `data`, the same in every process.
    #[staticmethod]
    #[pyo3(name = "digest")]
    fn digest_of(data: &[u8]) -> u64 {
        digest(data)
    }
}
