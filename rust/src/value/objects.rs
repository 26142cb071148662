//! Write an object field by field: its class, the content of its base, its slots, its dict.
//!
//! Fields are read beneath the class's own `__getattribute__`, so reading has no effects.
//! Rebuilt by `rebuild.rs`, which mirrors this file line by line.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::*;

use super::blame::{Encoded, Fail, Frame};
use super::classes::Plan;
use super::encode::{Encoder, Pair};
use super::layout::{Base, Layout, Slot};
use super::raw;
use super::wire::{put_digest, put_float, put_length, put_text, tag};

impl<'py> Encoder<'_, 'py> {
    pub fn object(
        &mut self,
        object: &Bound<'py, PyAny>,
        plan: &Plan,
        layout: &Layout,
        frame: &Frame<'_>,
    ) -> Encoded {
        self.open(tag::OBJECT, !layout.frozen);
        if layout.changes() {
            self.hold(object, frame)?;
        }
        put_digest(self.out, plan.digest);
        self.content(object, layout, frame)?;
        for slot in &layout.slots {
            let value = self.slot(object, slot)?;
            self.field(slot.name.bind(self.py), value, frame)?;
        }
        if layout.has_dict {
            self.attributes(&raw::attributes(object)?, &layout.fields, frame)?;
        }
        Ok(())
    }

    fn slot(&self, object: &Bound<'py, PyAny>, slot: &Slot) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(descriptor) = &slot.hidden else {
            return raw::get(object, slot.name.bind(self.py));
        };
        let getter = descriptor
            .bind(self.py)
            .getattr(intern!(self.py, "__get__"))?;
        match getter.call1((object,)) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_instance_of::<pyo3::exceptions::PyAttributeError>(self.py) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn field(
        &mut self,
        name: &Bound<'py, PyString>,
        value: Option<Bound<'py, PyAny>>,
        frame: &Frame<'_>,
    ) -> Encoded {
        match value {
            Some(value) => self
                .value(&value, frame)
                .map_err(|fail| fail.at(frame.depth, || format!(".{name}"))),
            None => {
                self.out.push(tag::ABSENT);
                Ok(())
            }
        }
    }

    /// The fields a dataclass declares, without names; then all else there is, with names.
    fn attributes(
        &mut self,
        dict: &Bound<'py, PyDict>,
        fields: &[Py<PyString>],
        frame: &Frame<'_>,
    ) -> Encoded {
        let mut known = 0;
        for name in fields {
            let name = name.bind(self.py);
            let value = dict.get_item(name)?;
            known += usize::from(value.is_some());
            self.field(name, value, frame)?;
        }
        if dict.len() == known {
            put_length(self.out, 0);
            return Ok(());
        }
        self.mutable = true;
        let is_field = |key: &Bound<'py, PyAny>| {
            fields
                .iter()
                .any(|name| name.bind(self.py).as_any().eq(key).unwrap_or(false))
        };
        let pairs: Vec<Pair<'py>> = dict.iter().filter(|(key, _)| !is_field(key)).collect();
        self.named(&pairs, frame)
    }

    /// Attributes by name, in the order of their names.
    pub fn named(&mut self, pairs: &[Pair<'py>], frame: &Frame<'_>) -> Encoded {
        put_length(self.out, pairs.len());
        self.sorted(pairs, |encoder, (name, value)| {
            let Ok(name) = name.cast_exact::<PyString>() else {
                return Err(Fail::of(
                    name,
                    "it is the name of an attribute but not a string",
                ));
            };
            encoder.string(name)?;
            let place = || format!(".{}", name.to_string_lossy());
            encoder
                .value(value, frame)
                .map_err(|fail| fail.at(frame.depth, place))
        })
    }

    fn content(
        &mut self,
        object: &Bound<'py, PyAny>,
        layout: &Layout,
        frame: &Frame<'_>,
    ) -> Encoded {
        let root = layout.root.bind(self.py);
        match layout.base {
            Base::Object => (),
            Base::Tuple => self.tuple(object.cast()?, frame)?,
            Base::List => self.list(object.cast()?, frame)?,
            Base::Dict => self.dict(object.cast()?, frame)?,
            Base::Set | Base::FrozenSet => self.set(items(root, object)?, frame)?,
            Base::Str => self.string(object.cast()?)?,
            Base::Bytes => put_text(self.out, object.cast::<PyBytes>()?.as_bytes()),
            Base::ByteArray => put_text(self.out, &object.cast::<PyByteArray>()?.to_vec()),
            Base::Int => self.integer(object)?,
            Base::Float => put_float(self.out, object.cast::<PyFloat>()?.value()),
            Base::Complex => self.complex(object.cast()?),
            Base::Deque => self.deque(object, items(root, object)?, frame)?,
            Base::OrderedDict => self.ordered(object, root, frame)?,
            Base::DefaultDict => {
                let factory = object.getattr(intern!(self.py, "default_factory"))?;
                let place = || ".default_factory".into();
                self.value(&factory, frame)
                    .map_err(|fail| fail.at(frame.depth, place))?;
                self.dict(object.cast()?, frame)?;
            }
        }
        Ok(())
    }

    fn deque(
        &mut self,
        object: &Bound<'py, PyAny>,
        items: Vec<Bound<'py, PyAny>>,
        frame: &Frame<'_>,
    ) -> Encoded {
        let limit = object.getattr(intern!(self.py, "maxlen"))?;
        self.value(&limit, frame)
            .map_err(|fail| fail.at(frame.depth, String::new))?;
        put_length(self.out, items.len());
        for (index, item) in items.iter().enumerate() {
            let place = || format!("[{index}]");
            self.value(item, frame)
                .map_err(|fail| fail.at(frame.depth, place))?;
        }
        Ok(())
    }

    fn ordered(
        &mut self,
        object: &Bound<'py, PyAny>,
        root: &Bound<'py, PyType>,
        frame: &Frame<'_>,
    ) -> Encoded {
        // Not the dict beneath: `move_to_end` leaves its order as it was.
        let pairs = root.call_method1(intern!(self.py, "items"), (object,))?;
        let pairs: Vec<Pair<'py>> = pairs
            .try_iter()?
            .map(|pair| pair?.extract())
            .collect::<PyResult<_>>()?;
        put_length(self.out, pairs.len());
        pairs.iter().try_for_each(|pair| self.pair(pair, frame))
    }
}

/// The elements of `object` as its builtin type gives them, whatever the subclass says.
fn items<'py>(
    root: &Bound<'py, PyType>,
    object: &Bound<'py, PyAny>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    root.call_method1(intern!(root.py(), "__iter__"), (object,))?
        .try_iter()?
        .collect()
}
