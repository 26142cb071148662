//! Rebuild objects without running their constructors: the mirror of `objects.rs` and `reduce.rs`.
//!
//! `__init__` is for new objects and may refuse, count or compute; a copy of a state must be able
//! to hold any state that was reached.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::*;

use super::classes::{Kind, Plan};
use super::decode::Decoder;
use super::layout::{Base, Layout, Slot};
use super::raw;
use super::reduce::state;
use super::wire::{malformed, tag};

impl<'py> Decoder<'_, 'py, '_> {
    pub fn object(&mut self) -> PyResult<Bound<'py, PyAny>> {
        let before = self.reader;
        let digest = self.reader.digest()?;
        let plan = self.class(digest)?;
        let Kind::Object(layout) = &plan.kind else {
            return Err(malformed("a class is not written field by field"));
        };
        let object = self.content(&plan, layout)?;
        if let Some(strict) = &self.strict {
            strict.fits(&plan, &object)?;
        }
        for slot in &layout.slots {
            if !self.absent()? {
                let value = self.value()?;
                self.set_slot(&object, slot, &value)?;
            }
        }
        if layout.has_dict {
            self.attributes(&object, &layout.fields)?;
        }
        if let Some(constants) = plan.constants.get()
            && let Some(constant) = constants.equal_to(before.until(&self.reader))
        {
            return Ok(constant.bind(self.py).clone());
        }
        Ok(object)
    }

    fn set_slot(
        &self,
        object: &Bound<'py, PyAny>,
        slot: &Slot,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        match &slot.hidden {
            None => raw::set(object, slot.name.bind(self.py), value),
            Some(descriptor) => {
                let setter = intern!(self.py, "__set__");
                descriptor
                    .bind(self.py)
                    .call_method1(setter, (object, value))
                    .map(drop)
            }
        }
    }

    fn attributes(&mut self, object: &Bound<'py, PyAny>, fields: &[Py<PyString>]) -> PyResult<()> {
        let dict = raw::attributes(object)?;
        for name in fields {
            if !self.absent()? {
                dict.set_item(name, self.value()?)?;
            }
        }
        let before = dict.len();
        self.named(&dict)?;
        match self.strict.is_some() && !fields.is_empty() && dict.len() > before {
            true => Err(malformed("an object has a field that its class has not")),
            false => Ok(()),
        }
    }

    /// Is the next field not set? What comes from outside sets all of them.
    fn absent(&mut self) -> PyResult<bool> {
        let absent = self.reader.skip(tag::ABSENT);
        match absent && self.strict.is_some() {
            true => Err(malformed("an object lacks a field")),
            false => Ok(absent),
        }
    }

    fn named(&mut self, dict: &Bound<'py, PyDict>) -> PyResult<()> {
        for _ in 0..self.reader.count()? {
            let name = match self.reader.skip(tag::STR) {
                // Interned, as every attribute name in a program is: look-ups stay fast.
                true => match std::str::from_utf8(self.reader.text()?) {
                    Ok(name) => PyString::intern(self.py, name).into_any(),
                    Err(_) => return Err(malformed("a name is not text")),
                },
                false => self.value()?,
            };
            dict.set_item(name, self.value()?)?;
        }
        Ok(())
    }

    fn content(&mut self, plan: &Plan, layout: &Layout) -> PyResult<Bound<'py, PyAny>> {
        let (py, class) = (self.py, plan.class.bind(self.py));
        let Some(make) = &layout.make else {
            // SAFETY: a layout without a base promises that there is nothing but slots and dict.
            return unsafe { raw::blank(class) };
        };
        let content = match layout.base {
            Base::Tuple => self.tuple()?.into_any(),
            Base::FrozenSet => self.frozenset()?,
            Base::Bytes => PyBytes::new(py, self.reader.text()?).into_any(),
            Base::Float => PyFloat::new(py, self.reader.float()?).into_any(),
            Base::Complex => self.complex()?.into_any(),
            Base::Str | Base::Int => self.value()?,
            _ => {
                let object = make.bind(py).call1((class,))?;
                self.fill(&object, layout)?;
                return Ok(object);
            }
        };
        make.bind(py).call1((class, content))
    }

    fn fill(&mut self, object: &Bound<'py, PyAny>, layout: &Layout) -> PyResult<()> {
        let py = self.py;
        let fill = layout.fill.as_ref().map(|fill| fill.bind(py));
        match (layout.base, fill) {
            (Base::Dict, _) => self.dict(object.cast()?),
            (Base::Set, _) => self.set(object.cast()?),
            (Base::List, _) => {
                let list = object.cast::<PyList>()?;
                (0..self.reader.count()?).try_for_each(|_| list.append(self.value()?))
            }
            (Base::ByteArray, Some(init)) => {
                let bytes = PyBytes::new(py, self.reader.text()?);
                init.call1((object, bytes)).map(drop)
            }
            (Base::Deque, Some(init)) => {
                let limit = self.value()?;
                let items = self.tuple()?;
                init.call1((object, items, limit)).map(drop)
            }
            (Base::DefaultDict, Some(init)) => {
                init.call1((object, self.value()?))?;
                self.dict(object.cast()?)
            }
            (Base::OrderedDict, Some(set_item)) => (0..self.reader.count()?).try_for_each(|_| {
                let key = self.value()?;
                set_item.call1((object, key, self.value()?)).map(drop)
            }),
            _ => Err(malformed("a class cannot be filled")),
        }
    }

    pub fn reduced(&mut self) -> PyResult<Bound<'py, PyAny>> {
        let make = self.value()?;
        let arguments = self.tuple()?;
        let object = make.call1(arguments)?;
        match self.reader.byte()? {
            state::NONE => (),
            state::ATTRIBUTES => {
                let attributes = PyDict::new(self.py);
                self.named(&attributes)?;
                restore(&object, attributes.into_any())?;
            }
            state::OTHER => restore(&object, self.value()?)?,
            _ => return Err(malformed("a state has an unknown form")),
        }
        for _ in 0..self.reader.count()? {
            object.call_method1(intern!(self.py, "append"), (self.value()?,))?;
        }
        for _ in 0..self.reader.count()? {
            let key = self.value()?;
            object.set_item(key, self.value()?)?;
        }
        Ok(object)
    }
}

/// Give `object` the state it was reduced to, as `pickle` does.
fn restore<'py>(object: &Bound<'py, PyAny>, state: Bound<'py, PyAny>) -> PyResult<()> {
    let py = object.py();
    if let Some(setter) = object.getattr_opt(intern!(py, "__setstate__"))? {
        return setter.call1((state,)).map(drop);
    }
    let (attributes, slots) = match state.cast::<PyTuple>() {
        Ok(pair) if pair.len() == 2 => (pair.get_item(0)?, pair.get_item(1)?),
        _ => (state, py.None().into_bound(py)),
    };
    if !attributes.is_none() {
        let dict = object.getattr(intern!(py, "__dict__"))?;
        dict.call_method1(intern!(py, "update"), (attributes,))?;
    }
    if !slots.is_none() {
        for (name, value) in slots.cast::<PyDict>()? {
            raw::set(object, name.cast::<PyString>()?, &value)?;
        }
    }
    Ok(())
}
