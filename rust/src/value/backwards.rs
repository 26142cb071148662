//! Sets iterated backwards, whoever made them: while steps are compared, and no longer.
//!
//! Another hash seed arranges a set of two texts as before, every second time. Iterated once as it
//! is and once backwards, it begins with both of them. Python has no hook for this, so the slot
//! that `iter`, `for`, `list` and all others use is replaced. Where it cannot be found, or where an
//! interpreter passes it by (`list` of a set does from 3.13 on), only the hash seed makes a
//! difference.
//!
//! Invariant: nothing changes for threads that have not asked for it.

use std::cell::Cell;
use std::mem::transmute;
use std::ptr::addr_of_mut;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

type Iterate = unsafe extern "C" fn(*mut ffi::PyObject) -> *mut ffi::PyObject;

thread_local! {
    static BACKWARDS: Cell<bool> = const { Cell::new(false) };
}

/// The function that was in the slot.
static ORIGINAL: AtomicUsize = AtomicUsize::new(0);
/// The words of a type among which the slot is; a type has more of them.
const WORDS: std::ops::Range<usize> = 3..48;

/// Make sets obey `backwards`; false if they cannot.
#[pyfunction]
pub fn may_go_backwards(py: Python<'_>) -> bool {
    let current = slot();
    if current == replacement() {
        return true;
    }
    if current == 0 || !replace(py, current, replacement()) {
        return false;
    }
    ORIGINAL.store(current, Relaxed);
    true
}

/// Make sets what they were before `may_go_backwards`.
#[pyfunction]
pub fn never_go_backwards(py: Python<'_>) {
    let original = ORIGINAL.load(Relaxed);
    if original != 0 {
        replace(py, replacement(), original);
    }
}

/// Let Python see that the attributes of a type were replaced.
#[pyfunction]
#[pyo3(signature = (cls, /))]
pub fn notice_methods(cls: &Bound<'_, PyType>) {
    // SAFETY: a type, and the thread is attached.
    unsafe { ffi::PyType_Modified(cls.as_type_ptr()) }
}

fn types() -> [*mut ffi::PyTypeObject; 2] {
    [
        addr_of_mut!(ffi::PySet_Type),
        addr_of_mut!(ffi::PyFrozenSet_Type),
    ]
}

fn replacement() -> usize {
    backwards_iter as *const () as usize
}

/// The function that `iter` of a set uses.
fn slot() -> usize {
    // SAFETY: a static type, which lives as long as the process.
    unsafe { ffi::PyType_GetSlot(types()[0], ffi::Py_tp_iter) as usize }
}

/// Put `new` into the slots that hold `old`, one of each type; false if they are not found.
fn replace(_py: Python<'_>, old: usize, new: usize) -> bool {
    // SAFETY: both are static types that live as long as the process, and the thread is attached.
    // Words are read within them only, and one is replaced by a function of the same type.
    unsafe {
        let mut slots = Vec::new();
        for class in types() {
            let words = class.cast::<usize>();
            slots.extend(WORDS.map(|at| words.add(at)).filter(|word| **word == old));
        }
        if slots.len() != types().len() {
            return false;
        }
        for slot in slots {
            *slot = new;
        }
        true
    }
}

/// `function(*args)`, while this thread iterates all sets backwards.
#[pyfunction]
#[pyo3(signature = (function, *args))]
pub fn backwards<'py>(
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let before = BACKWARDS.replace(true);
    let result = function.call1(args);
    BACKWARDS.set(before);
    result
}

#[pyfunction]
pub fn goes_backwards() -> bool {
    BACKWARDS.get()
}

/// What `iter` of a set gives.
unsafe extern "C" fn backwards_iter(set: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: it was read from the slot for this very purpose. All calls get live objects, and each
    // new reference is given back or returned.
    unsafe {
        let original: Iterate = transmute(ORIGINAL.load(Relaxed));
        let iterator = original(set);
        if iterator.is_null() || !BACKWARDS.get() {
            return iterator;
        }
        let listed = ffi::PySequence_List(iterator);
        ffi::Py_DECREF(iterator);
        if listed.is_null() {
            return listed;
        }
        let status = ffi::PyList_Reverse(listed);
        let iterator = match status {
            0 => ffi::PyObject_GetIter(listed),
            _ => std::ptr::null_mut(),
        };
        ffi::Py_DECREF(listed);
        iterator
    }
}
