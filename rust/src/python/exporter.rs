//! A base of Python classes that lend the memory of another object.
//!
//! Python classes can have a `__buffer__` of their own only since 3.12. This one passes every
//! request for memory on to a view that it holds.

use std::os::raw::c_int;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Lends the memory of `view`, which a subclass sets; None: it has none to lend.
#[pyclass(subclass, dict, weakref, module = "presage._core")]
#[derive(Default)]
pub struct Exporter {
    #[pyo3(get, set)]
    view: Option<Py<PyAny>>,
}

#[pymethods]
impl Exporter {
    /// Arguments are for a subclass.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyAny>, _kwargs: Option<&Bound<'_, PyAny>>) -> Self {
        Self::default()
    }

    /// # Safety
    ///
    /// Called by the interpreter alone, with a request that it owns.
    unsafe fn __getbuffer__(
        slf: PyRef<'_, Self>,
        request: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let py = slf.py();
        let Some(view) = slf.view.as_ref().map(|view| view.clone_ref(py)) else {
            return Err(PyBufferError::new_err("there is no memory to lend"));
        };
        drop(slf);
        // The view fills the request in, and is the one that it is given back to.
        if unsafe { ffi::PyObject_GetBuffer(view.as_ptr(), request, flags) } < 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(())
    }
}
