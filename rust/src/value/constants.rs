//! Constants of modules: objects whose identity the program knows them by.
//!
//! `MISSING = Missing()` at module level, then `self.x is MISSING`: a copy of it would not do. An
//! instance of a class without an equality of its own that a module, or a class in it, has as an
//! attribute is therefore written by name. A frozen one with an equality is written as a value, so
//! that equal values are one state; where it is read back, the constant itself is given.
//!
//! Invariant: what is written by name never changes; that is looked at whenever it is written.

use std::cmp::Reverse;

use pyo3::intern;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::blame::{Encoded, Fail, Frame};
use super::classes::{Kind, Plan};
use super::digest;
use super::encode::Encoder;
use super::layout::{Base, Layout};

/// The constants of one class.
#[derive(Default)]
pub struct Constants {
    /// Written by name: by address, with the digest of the name and of what they hold.
    named: FxHashMap<usize, (u64, Option<u64>)>,
    /// Written as values: what is written, and the object.
    equal: Vec<(Vec<u8>, Py<PyAny>)>,
}

impl Constants {
    /// The constant that is written as `bytes`.
    pub fn equal_to(&self, bytes: &[u8]) -> Option<&Py<PyAny>> {
        let found = self.equal.iter().find(|(known, _)| known == bytes);
        found.map(|(_, object)| object)
    }
}

/// How the constants of a class are written.
enum Written<'l> {
    ByName(Option<&'l Layout>),
    AsValues(&'l Layout),
}

impl Plan {
    fn written(&self, py: Python<'_>) -> PyResult<Option<Written<'_>>> {
        let class = self.class.bind(py);
        match &self.kind {
            Kind::Refused(_) if class.is(py.get_type::<PyAny>()) => Ok(Some(Written::ByName(None))),
            Kind::Object(layout) if layout.base == Base::Object => {
                let equality = intern!(py, "__eq__");
                let usual = py.get_type::<PyAny>().getattr(equality)?;
                Ok(match class.getattr(equality)?.is(&usual) {
                    true => Some(Written::ByName(Some(layout))),
                    false => layout.frozen.then_some(Written::AsValues(layout)),
                })
            }
            _ => Ok(None),
        }
    }
}

impl<'py> Encoder<'_, 'py> {
    /// Write `object` by name if it is a constant; was it one?
    pub fn constant(&mut self, object: &Bound<'py, PyAny>, plan: &Plan) -> Encoded<bool> {
        let constants = match plan.constants.get() {
            Some(constants) => constants,
            None => self.learn_constants(plan)?,
        };
        let Some(&(name, content)) = constants.named.get(&(object.as_ptr() as usize)) else {
            return Ok(false);
        };
        if let (Some(content), Kind::Object(layout)) = (content, &plan.kind)
            && digest(&self.plainly(object, plan, layout)?) != content
        {
            return Err(Fail::of(
                object,
                "it is a constant of its module, and a handler changed it; keep what changes \
                     in a field",
            ));
        }
        self.put_reference(name);
        Ok(true)
    }

    /// Look for the constants of a class, at the first meeting.
    pub fn learn_constants<'p>(&self, plan: &'p Plan) -> Encoded<&'p Constants> {
        let mut constants = Constants::default();
        if let Some(written) = plan.written(self.py)? {
            for (name, object) in self.instances(plan)? {
                self.learn_constant(&mut constants, plan, &written, &name, &object)?;
            }
        }
        Ok(plan.constants.get_or_init(|| constants))
    }

    /// The instances of a class that modules know by name. The name in the class's own module
    /// comes first, then the shortest.
    fn instances(&self, plan: &Plan) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let class = plan.class.bind(self.py);
        let home = format!("{}:", class.module()?);
        let mut found = self.codec.attributes.instances(class)?;
        found.sort_by_cached_key(|(name, _)| {
            (Reverse(name.starts_with(&home)), name.len(), name.clone())
        });
        Ok(found)
    }

    fn learn_constant(
        &self,
        constants: &mut Constants,
        plan: &Plan,
        written: &Written<'_>,
        name: &str,
        object: &Bound<'py, PyAny>,
    ) -> Encoded {
        let address = object.as_ptr() as usize;
        match written {
            Written::AsValues(layout) => {
                if let Ok(bytes) = self.plainly(object, plan, layout) {
                    // The reader has read the tag when it looks here.
                    constants
                        .equal
                        .push((bytes[1..].to_vec(), object.clone().unbind()));
                }
            }
            Written::ByName(_) if constants.named.contains_key(&address) => (),
            Written::ByName(layout) => {
                let content = match layout.filter(|layout| layout.changes()) {
                    Some(layout) => match self.plainly(object, plan, layout) {
                        Ok(bytes) => Some(digest(&bytes)),
                        Err(_) => return Ok(()), // no state at all: told where it is kept
                    },
                    None => None,
                };
                let known = self.codec.registry.add_reference(object, name, true);
                if let Ok(name) = known {
                    constants.named.insert(address, (name, content));
                }
            }
        }
        Ok(())
    }

    /// What an object holds, whether it is a constant or not.
    fn plainly(
        &self,
        object: &Bound<'py, PyAny>,
        plan: &Plan,
        layout: &Layout,
    ) -> Encoded<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(self.codec, self.py, &mut bytes);
        encoder.plain = true;
        let frame = Frame::ROOT.enter(object, 0)?;
        encoder.object(object, plan, layout, &frame)?;
        Ok(bytes)
    }
}
