//! The line of checked code that called a library: reports name it for each call.
//!
//! `sys._getframe` and `frame.f_code` are events of audit, and presage listens to these. So frames
//! are walked here, where they are none.

use std::collections::HashMap;
use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

const KNOWN_MAX: usize = 4096; // codes and places that are kept

/// A code that was met, kept so that no other gets its address.
struct Met {
    _code: Py<PyAny>,
    is_own: bool,
    places: HashMap<i32, Py<PyString>>, // by where in the code one stands
}

/// Finds out who called a library whose files begin with one of `folders`.
#[pyclass(frozen, module = "presage._core")]
pub struct Callers {
    folders: Vec<String>,
    name: Py<PyAny>, // given a file and a line: what reports call it
    met: Mutex<HashMap<usize, Met>>,
}

#[pymethods]
impl Callers {
    #[new]
    fn new(folders: Vec<String>, name: Py<PyAny>) -> Self {
        Self {
            folders,
            name,
            met: Mutex::default(),
        }
    }

    /// The innermost line that is not the library's own; None: all are.
    fn place(&self, py: Python<'_>) -> PyResult<Option<Py<PyString>>> {
        // SAFETY: the interpreter is held; what it gives is borrowed, or null outside of Python.
        let innermost = unsafe { ffi::PyEval_GetFrame() };
        let mut frame =
            unsafe { Bound::from_borrowed_ptr_or_opt(py, innermost.cast::<ffi::PyObject>()) };
        while let Some(here) = frame {
            // SAFETY: a frame always has a code, and this gives a reference of our own.
            let code = unsafe {
                Bound::from_owned_ptr(py, ffi::PyFrame_GetCode(here.as_ptr().cast()).cast())
            };
            if !self.is_own(&code)? {
                return self.named(&here, &code).map(Some);
            }
            let outer = here.getattr(intern!(py, "f_back"))?;
            frame = (!outer.is_none()).then_some(outer);
        }
        Ok(None)
    }
}

impl Callers {
    /// The codes that were met. Nobody enters Python, or lets go of an object, while this is held.
    fn met(&self) -> MutexGuard<'_, HashMap<usize, Met>> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_own(&self, code: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = code.as_ptr() as usize;
        if let Some(known) = self.met().get(&key) {
            return Ok(known.is_own);
        }
        let file: String = code.getattr("co_filename")?.extract()?;
        let is_own = self.folders.iter().any(|each| file.starts_with(each));
        let made = Met {
            _code: code.clone().unbind(),
            is_own,
            places: HashMap::new(),
        };
        let mut met = self.met();
        let old = if met.len() < KNOWN_MAX {
            HashMap::new()
        } else {
            take(&mut *met)
        };
        let same = met.insert(key, made);
        drop(met);
        drop((old, same));
        Ok(is_own)
    }

    fn named(&self, frame: &Bound<'_, PyAny>, code: &Bound<'_, PyAny>) -> PyResult<Py<PyString>> {
        let py = frame.py();
        let key = code.as_ptr() as usize;
        let at: i32 = frame.getattr(intern!(py, "f_lasti"))?.extract()?;
        if let Some(place) = self.met().get(&key).and_then(|met| met.places.get(&at)) {
            return Ok(place.clone_ref(py));
        }
        let line = frame.getattr("f_lineno")?;
        let named = self.name.call1(py, (code.getattr("co_filename")?, line))?;
        let place = named.bind(py).cast::<PyString>()?.clone().unbind();
        let kept = place.clone_ref(py);
        let same = self
            .met()
            .get_mut(&key)
            .and_then(|met| met.places.insert(at, kept));
        drop(same);
        Ok(place)
    }
}
