//! Write a value as bytes: the dispatch on exact type, and the builtin containers.
//!
//! Types are compared by address, so the common ones cost no Python call. Dicts and sets are
//! written in the order of their entries' bytes, which is what makes them independent of insertion
//! order and hash seed. Shared objects are written out each time, or refused (`held.rs`).
//!
//! Invariant: other code may run only inside a class's own reduction, so every container is
//! copied or bounds-checked before its parts are visited.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::*;
use pyo3::{PyTypeInfo, intern};

use super::Codec;
use super::blame::{Encoded, Fail, Frame, label, type_name};
use super::classes::{Kind, Members, Plan};
use super::held::Held;
use super::wire::{put_digest, put_float, put_int, put_length, put_text, tag};

pub type Pair<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// One run of the codec over one value.
pub struct Encoder<'c, 'py> {
    pub codec: &'c Codec,
    pub py: Python<'py>,
    pub out: &'c mut Vec<u8>,
    /// Has anything been written that could be changed in place?
    pub mutable: bool,
    /// Has a set or dict with two or more entries been written?
    pub unordered: bool,
    /// The mutable objects met so far, where none may be met twice.
    pub held: Option<&'c mut Held>,
    /// Write constants like anything else?
    pub plain: bool,
    /// Prove that reduced objects round-trip? Not inside such a proof.
    pub proving: bool,
    /// Is this inside of what an object was reduced to?
    pub reducing: bool,
    origin: usize,      // where in `out` this value begins
    starts: Vec<usize>, // where the entries of the dicts and sets being written begin
}

impl<'c, 'py> Encoder<'c, 'py> {
    pub fn new(codec: &'c Codec, py: Python<'py>, out: &'c mut Vec<u8>) -> Self {
        let origin = out.len();
        Encoder {
            codec,
            py,
            out,
            mutable: false,
            unordered: false,
            held: None,
            plain: false,
            proving: true,
            reducing: false,
            origin,
            starts: Vec::new(),
        }
    }

    pub fn value(&mut self, object: &Bound<'py, PyAny>, around: &Frame<'_>) -> Encoded {
        let (py, class) = (self.py, object.get_type_ptr());
        if class == PyString::type_object_raw(py) {
            self.string(object.cast()?)
        } else if class == PyInt::type_object_raw(py) {
            self.integer(object)
        } else if object.is_none() {
            self.out.push(tag::NONE);
            Ok(())
        } else if class == PyBool::type_object_raw(py) {
            let truth = object.cast::<PyBool>()?.is_true();
            self.out.push(if truth { tag::TRUE } else { tag::FALSE });
            Ok(())
        } else if class == PyTuple::type_object_raw(py) {
            self.out.push(tag::TUPLE);
            let frame = around.enter(object, self.out.len() - self.origin)?;
            self.tuple(object.cast()?, &frame)
        } else if class == PyFloat::type_object_raw(py) {
            self.out.push(tag::FLOAT);
            put_float(self.out, object.cast::<PyFloat>()?.value());
            Ok(())
        } else if class == PyBytes::type_object_raw(py) {
            self.out.push(tag::BYTES);
            put_text(self.out, object.cast::<PyBytes>()?.as_bytes());
            Ok(())
        } else {
            self.container(object, around)
        }
    }

    fn container(&mut self, object: &Bound<'py, PyAny>, around: &Frame<'_>) -> Encoded {
        let (py, class) = (self.py, object.get_type_ptr());
        let frame = around.enter(object, self.out.len() - self.origin)?;
        if class == PyDict::type_object_raw(py) {
            self.open(tag::DICT, true);
            self.hold(object, &frame)?;
            self.dict(object.cast()?, &frame)
        } else if class == PyList::type_object_raw(py) {
            self.open(tag::LIST, true);
            self.hold(object, &frame)?;
            self.list(object.cast()?, &frame)
        } else if class == PySet::type_object_raw(py) {
            self.open(tag::SET, true);
            self.hold(object, &frame)?;
            self.set(object.cast::<PySet>()?.iter().collect(), &frame)
        } else if class == PyFrozenSet::type_object_raw(py) {
            self.open(tag::FROZENSET, false);
            self.set(object.cast::<PyFrozenSet>()?.iter().collect(), &frame)
        } else if class == PyByteArray::type_object_raw(py) {
            self.open(tag::BYTEARRAY, true);
            self.hold(object, &frame)?;
            put_text(self.out, &object.cast::<PyByteArray>()?.to_vec());
            Ok(())
        } else if class == PyComplex::type_object_raw(py) {
            self.open(tag::COMPLEX, false);
            self.complex(object.cast()?);
            Ok(())
        } else {
            self.instance(object, &frame)
        }
    }

    fn instance(&mut self, object: &Bound<'py, PyAny>, frame: &Frame<'_>) -> Encoded {
        let plan = self.plan(&object.get_type())?;
        if !self.plain && self.constant(object, &plan)? {
            return Ok(());
        }
        match &plan.kind {
            Kind::Object(layout) => self.object(object, &plan, layout, frame),
            Kind::Enum(members) => self.member(object, &plan, members, frame),
            Kind::Reduce(reduction) => self.reduced(object, reduction, frame),
            Kind::Reference => self.reference(object),
            Kind::Refused(reason) => Err(Fail::of(object, reason)),
        }
    }

    /// The plan of `class`, made at the first meeting.
    pub fn plan(&self, class: &Bound<'py, PyType>) -> Encoded<Arc<Plan>> {
        if let Some(plan) = self.codec.registry.plan(class.as_ptr() as usize) {
            return Ok(plan);
        }
        let plan =
            Arc::new(Plan::of(class, self.codec.live).map_err(|error| Fail::raised(class, error))?);
        self.codec.registry.add_plan(&plan).map_err(|_| {
            let name = type_name(class);
            let reason = format!(
                "another class is also named `{name}`, and values are told apart by that name; \
                 rename one of them"
            );
            Fail::new(name, reason)
        })
    }

    #[inline]
    pub fn open(&mut self, tag: u8, mutable: bool) {
        self.out.push(tag);
        self.mutable |= mutable;
    }

    pub fn string(&mut self, text: &Bound<'py, PyString>) -> Encoded {
        if let Ok(text) = text.to_str() {
            self.out.push(tag::STR);
            put_text(self.out, text.as_bytes());
            return Ok(());
        }
        let encode = self
            .py
            .get_type::<PyString>()
            .getattr(intern!(self.py, "encode"))?;
        let bytes = encode.call1((text, "utf-8", "surrogatepass"))?;
        self.out.push(tag::SURROGATES);
        put_text(self.out, bytes.cast::<PyBytes>()?.as_bytes());
        Ok(())
    }

    pub fn integer(&mut self, number: &Bound<'py, PyAny>) -> Encoded {
        if let Ok(small) = number.extract::<i64>() {
            put_int(self.out, small);
            return Ok(());
        }
        let class = self.py.get_type::<PyInt>();
        let bits: usize = class.call_method1("bit_length", (number,))?.extract()?;
        let signed = [("signed", true)].into_py_dict(self.py)?;
        let bytes = class.call_method("to_bytes", (number, bits / 8 + 1, "big"), Some(&signed))?;
        self.out.push(tag::INT_BIG);
        put_text(self.out, bytes.cast::<PyBytes>()?.as_bytes());
        Ok(())
    }

    pub fn complex(&mut self, number: &Bound<'py, PyComplex>) {
        put_float(self.out, number.real());
        put_float(self.out, number.imag());
    }

    pub fn tuple(&mut self, items: &Bound<'py, PyTuple>, frame: &Frame<'_>) -> Encoded {
        put_length(self.out, items.len());
        for (index, item) in items.iter_borrowed().enumerate() {
            self.value(&item, frame)
                .map_err(|fail| fail.at(frame.depth, || at_index(index)))?;
        }
        Ok(())
    }

    pub fn list(&mut self, items: &Bound<'py, PyList>, frame: &Frame<'_>) -> Encoded {
        let length = items.len();
        put_length(self.out, length);
        for index in 0..length {
            // Not an iterator: a list that shrinks meanwhile must be an error, not a short list.
            let item = items
                .get_item(index)
                .map_err(|_| Fail::of(items, "it changed while it was being read"))?;
            self.value(&item, frame)
                .map_err(|fail| fail.at(frame.depth, || at_index(index)))?;
        }
        Ok(())
    }

    pub fn dict(&mut self, dict: &Bound<'py, PyDict>, frame: &Frame<'_>) -> Encoded {
        let pairs: Vec<Pair<'py>> = dict.iter().collect();
        put_length(self.out, pairs.len());
        self.unordered |= pairs.len() > 1;
        self.sorted(&pairs, |encoder, pair| encoder.pair(pair, frame))
    }

    pub fn pair(&mut self, (key, value): &Pair<'py>, frame: &Frame<'_>) -> Encoded {
        self.value(key, frame)
            .map_err(|fail| fail.at(frame.depth, || format!("{{{}: ...}}", label(key))))?;
        self.value(value, frame)
            .map_err(|fail| fail.at(frame.depth, || format!("[{}]", label(key))))
    }

    pub fn set(&mut self, items: Vec<Bound<'py, PyAny>>, frame: &Frame<'_>) -> Encoded {
        put_length(self.out, items.len());
        self.unordered |= items.len() > 1;
        self.sorted(&items, |encoder, item| {
            let place = || format!("{{{}}}", label(item));
            encoder
                .value(item, frame)
                .map_err(|fail| fail.at(frame.depth, place))
        })
    }

    /// Write all `entries`, in the order of their bytes.
    pub fn sorted<T>(
        &mut self,
        entries: &[T],
        mut write: impl FnMut(&mut Self, &T) -> Encoded,
    ) -> Encoded {
        let (outer, first) = (self.starts.len(), self.out.len());
        for entry in entries {
            self.starts.push(self.out.len());
            write(self, entry)?;
        }
        self.starts.push(self.out.len());
        let bounds = &self.starts[outer..];
        let mut parts: Vec<&[u8]> = Vec::new();
        let in_order = bounds
            .windows(3)
            .all(|at| self.out[at[0]..at[1]] <= self.out[at[1]..at[2]]);
        if !in_order {
            parts.extend(bounds.windows(2).map(|at| &self.out[at[0]..at[1]]));
            parts.sort_unstable();
            let ordered = parts.concat();
            self.out.truncate(first);
            self.out.extend_from_slice(&ordered);
        }
        self.starts.truncate(outer);
        Ok(())
    }

    fn member(
        &mut self,
        object: &Bound<'py, PyAny>,
        plan: &Plan,
        members: &Members,
        frame: &Frame<'_>,
    ) -> Encoded {
        if let Some(bytes) = members.encoded.get(&(object.as_ptr() as usize)) {
            self.out.extend_from_slice(bytes);
            return Ok(());
        }
        if !members.flag {
            return Err(Fail::of(object, "it is not one of the members of its enum"));
        }
        self.out.push(tag::FLAG);
        put_digest(self.out, plan.digest);
        let value = object.getattr(intern!(self.py, "_value_"))?;
        self.value(&value, frame)
            .map_err(|fail| fail.at(frame.depth, String::new))
    }
}

fn at_index(index: usize) -> String {
    format!("[{index}]")
}
