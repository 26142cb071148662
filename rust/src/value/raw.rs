//! The calls below `object`: read and write attributes past what a class overrides.
//!
//! A frozen class refuses `setattr`, a class with `__getattr__` may compute, `__init__` may do
//! anything. State is copied beneath all that, as `copy` and `pickle` do, by the functions that
//! `object` itself uses. PyO3 has no safe form of them, so this file holds all the unsafe code.

use pyo3::exceptions::PyAttributeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySet, PyString, PyType};

/// The instance dict of `object`, made if it has none yet. Its class must have a dict offset.
#[inline]
pub fn attributes<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    // SAFETY: `object` is a live object, the thread is attached, and a new reference (or null with
    // an exception set) is returned, which is what `from_owned_ptr_or_err` takes over.
    let dict = unsafe {
        let dict = ffi::PyObject_GenericGetDict(object.as_ptr(), std::ptr::null_mut());
        Bound::from_owned_ptr_or_err(object.py(), dict)?
    };
    Ok(dict.cast_into::<PyDict>()?)
}

/// `object.__getattribute__(object, name)`; `None` if it is not set.
#[inline]
pub fn get<'py>(
    object: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    // SAFETY: both are live objects, the thread is attached, and a new reference (or null with an
    // exception set) is returned.
    let found = unsafe {
        let value = ffi::PyObject_GenericGetAttr(object.as_ptr(), name.as_ptr());
        Bound::from_owned_ptr_or_err(object.py(), value)
    };
    match found {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_instance_of::<PyAttributeError>(object.py()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// `object.__setattr__(object, name, value)`.
#[inline]
pub fn set(
    object: &Bound<'_, PyAny>,
    name: &Bound<'_, PyString>,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    // SAFETY: all three are live objects and the thread is attached; no reference is stolen.
    let status =
        unsafe { ffi::PyObject_GenericSetAttr(object.as_ptr(), name.as_ptr(), value.as_ptr()) };
    match status {
        0 => Ok(()),
        _ => Err(PyErr::fetch(object.py())),
    }
}

/// A new instance of `class` with nothing set.
///
/// # Safety
/// `class` must add only slots, a dict and a weak reference list to the layout of `object`.
#[inline]
pub unsafe fn blank<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: for such a class zeroed memory is a valid instance, all of it unset, and this is the
    // allocation that `object.__new__` makes. We do not call that one because it refuses
    // `msgspec.Struct`. A new reference (or null with an exception set) is returned.
    unsafe {
        let object = ffi::PyType_GenericAlloc(class.as_type_ptr(), 0);
        Bound::from_owned_ptr_or_err(class.py(), object)
    }
}

/// Make a frozenset of `set`, without touching the order of its table.
///
/// # Safety
/// `set` must be an exact `set` that nobody else refers to.
pub unsafe fn freeze<'py>(set: Bound<'py, PySet>) -> Bound<'py, PyAny> {
    // SAFETY: `set` and `frozenset` are static types with one layout, one allocator and one
    // deallocator; a hash that was not computed yet is marked alike in both. Copying instead would
    // add the elements anew, in their usual places.
    unsafe {
        (*set.as_ptr()).ob_type = std::ptr::addr_of_mut!(ffi::PyFrozenSet_Type);
    }
    set.into_any()
}
