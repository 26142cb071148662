//! Where a value in an encoding ends, and how the objects of a class are laid out in one.

use pyo3::prelude::*;
use pyo3::types::PyType;

use super::Codec;
use super::classes::Kind;
use super::encode::Encoder;
use super::layout::Base;
use super::wire::Reader;

impl Codec {
    /// The digest of the name of `class` and its slots in the order in which they are written;
    /// none if more than that is written of an instance, or it can be changed in place.
    pub fn shape(&self, class: &Bound<'_, PyType>) -> PyResult<Option<(u64, Vec<String>)>> {
        let py = class.py();
        let mut out = Vec::new();
        let plan = Encoder::new(self, py, &mut out).plan(class);
        let plan = plan.map_err(|fail| fail.into_error(py))?;
        let Kind::Object(layout) = &plan.kind else {
            return Ok(None);
        };
        if layout.base != Base::Object || layout.has_dict || !layout.frozen {
            return Ok(None);
        }
        let names = layout.slots.iter().map(|slot| slot.name.extract(py));
        Ok(Some((plan.digest, names.collect::<PyResult<_>>()?)))
    }

    /// Step over one value: its bytes. None if they are not what this codec writes.
    pub fn segment<'b>(&self, reader: &mut Reader<'b>) -> Option<&'b [u8]> {
        let start = *reader;
        *reader = self.behind(start).ok()?;
        Some(start.until(reader))
    }
}
