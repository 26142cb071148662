//! Say where in a value the thing sits that cannot be state.
//!
//! Nothing is recorded on the way down; when encoding fails, every level adds its own step on the
//! way up. So the path costs nothing while all is well.
//!
//! Invariant: the container at depth `d` adds exactly one step (perhaps empty), with depth `d`.

use pyo3::exceptions::{PyException, PyMemoryError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyString, PyType};
use pyo3::{CastError, PyTypeInfo};

/// Deeper than this is refused: it is nearly always a cycle, and the stack is finite.
pub const MAX_DEPTH: usize = 500;
/// Larger than this is refused: sharing written out as a tree can grow without bound.
const MAX_BYTES: usize = 1 << 24;
/// How many steps of a path that is too deep are shown.
const SHOWN_STEPS: usize = 8;
const SHOWN_KEY: usize = 40;

pub type Encoded<T = ()> = Result<T, Fail>;

/// Why encoding stopped. Boxed: the result of every encoding step stays one word.
pub struct Fail(Box<Cause>);

enum Cause {
    Python(PyErr),
    State(Blame),
}

/// A mutable object that is there twice: by address, where it was met, and what it is.
pub struct Again {
    pub address: usize,
    pub path: String,
    pub type_name: String,
}

struct Blame {
    steps: Vec<String>,   // innermost first
    keep: usize,          // steps at this depth or deeper are not part of the path
    again: Option<usize>, // how many steps lead to the object that contains itself
    type_name: String,
    reason: String,
    shared: usize, // the address of an object that is there twice; 0: none is
}

impl Fail {
    #[cold]
    pub fn new(type_name: String, reason: impl Into<String>) -> Self {
        let (steps, keep, again) = (Vec::new(), usize::MAX, None);
        Fail(Box::new(Cause::State(Blame {
            steps,
            keep,
            again,
            type_name,
            reason: reason.into(),
            shared: 0,
        })))
    }

    /// `object` is there twice, or is the one that was looked for.
    #[cold]
    pub fn shared(object: &Bound<'_, PyAny>) -> Self {
        let mut fail = Fail::of(object, "it is there twice");
        if let Cause::State(blame) = &mut *fail.0 {
            blame.shared = object.as_ptr() as usize;
        }
        fail
    }

    /// Which object is there twice, if that is why.
    pub fn again(&self) -> Option<Again> {
        match &*self.0 {
            Cause::State(blame) if blame.shared != 0 => Some(Again {
                address: blame.shared,
                path: blame.steps.iter().rev().map(String::as_str).collect(),
                type_name: blame.type_name.clone(),
            }),
            _ => None,
        }
    }

    /// `object` cannot be state because of `reason`.
    #[cold]
    pub fn of(object: &Bound<'_, PyAny>, reason: impl Into<String>) -> Self {
        Fail::new(type_name(&object.get_type()), reason)
    }

    /// The code of `class` raised `error` while we asked an instance for its state.
    #[cold]
    pub fn raised(class: &Bound<'_, PyType>, error: PyErr) -> Self {
        let py = class.py();
        if !error.is_instance_of::<PyException>(py) || error.is_instance_of::<PyMemoryError>(py) {
            return error.into(); // an interrupt, not an opinion about the object
        }
        Fail::new(type_name(class), describe(py, &error))
    }

    /// A copy of `object` failed, in a place that the value itself does not have.
    #[cold]
    pub fn within(self, object: &Bound<'_, PyAny>) -> Self {
        match *self.0 {
            Cause::Python(_) => self,
            Cause::State(blame) => Fail::of(
                object,
                format!("a copy of it cannot be written: {}", blame.reason),
            ),
        }
    }

    /// Add the step from the container at `depth` to the part that failed.
    #[cold]
    pub fn at(mut self, depth: usize, step: impl FnOnce() -> String) -> Self {
        match &mut *self.0 {
            Cause::State(blame) if depth < blame.keep => blame.steps.push(step()),
            _ => (),
        }
        self
    }

    /// The exception for people: `presage.errors.NotState(path, type_name, reason)`.
    #[cold]
    pub fn into_error(self, py: Python<'_>) -> PyErr {
        let mut blame = match *self.0 {
            Cause::Python(error) => return error,
            Cause::State(blame) => blame,
        };
        blame.steps.reverse();
        let mut path = blame.steps.concat();
        if let Some(steps) = blame.again {
            let first = blame.steps[..steps].concat();
            let first = if first.is_empty() {
                "the value itself".into()
            } else {
                format!("`{first}`")
            };
            blame.reason = format!("it contains itself: it is the same object as {first}");
        } else if blame.keep != usize::MAX {
            path.push_str("...");
        }
        let make = || {
            let class = py.import("presage.errors")?.getattr("NotState")?;
            class.call1((path, blame.type_name, blame.reason))
        };
        make().map_or_else(|error| error, PyErr::from_value)
    }
}

impl From<PyErr> for Fail {
    #[cold]
    fn from(error: PyErr) -> Self {
        Fail(Box::new(Cause::Python(error)))
    }
}

impl From<CastError<'_, '_>> for Fail {
    #[cold]
    fn from(error: CastError<'_, '_>) -> Self {
        PyErr::from(error).into()
    }
}

/// One level of nesting: the object being encoded, and those around it.
pub struct Frame<'a> {
    object: usize,
    pub depth: usize, // 0 for the root, which is no object
    around: Option<&'a Frame<'a>>,
}

impl<'a> Frame<'a> {
    pub const ROOT: Frame<'static> = Frame {
        object: 0,
        depth: 0,
        around: None,
    };

    /// Go into `object`, having written `size` bytes so far.
    #[inline]
    pub fn enter(&'a self, object: &Bound<'_, PyAny>, size: usize) -> Encoded<Frame<'a>> {
        let inner = Frame {
            object: object.as_ptr() as usize,
            depth: self.depth + 1,
            around: Some(self),
        };
        if inner.depth > MAX_DEPTH || size > MAX_BYTES {
            return Err(inner.too_far(object));
        }
        Ok(inner)
    }

    /// Is the object at hand among those around it?
    #[cold]
    pub fn is_within_itself(&self) -> bool {
        let mut around = std::iter::successors(self.around, |frame| frame.around);
        around.any(|frame| frame.object == self.object)
    }

    #[cold]
    fn too_far(&self, object: &Bound<'_, PyAny>) -> Fail {
        let mut chain: Vec<usize> = std::iter::successors(Some(self), |frame| frame.around)
            .map(|f| f.object)
            .collect();
        chain.reverse();
        let (keep, again) = match first_repeat(&chain) {
            Some((first, second)) => (second, Some(first - 1)),
            None => (SHOWN_STEPS, None),
        };
        let reason = match self.depth > MAX_DEPTH {
            true => format!("it is nested more than {MAX_DEPTH} levels deep"),
            false => format!("it is larger than {} MiB", MAX_BYTES >> 20),
        };
        let type_name = type_name(&object.get_type());
        Fail(Box::new(Cause::State(Blame {
            steps: Vec::new(),
            keep,
            again,
            type_name,
            reason,
            shared: 0,
        })))
    }
}

/// Positions of the first object that occurs twice in `chain`.
fn first_repeat(chain: &[usize]) -> Option<(usize, usize)> {
    (1..chain.len()).find_map(|second| {
        let first = chain[..second]
            .iter()
            .position(|object| *object == chain[second])?;
        Some((first, second))
    })
}

/// `module.qualname`, without the module for builtins.
pub fn type_name(class: &Bound<'_, PyType>) -> String {
    let name = class
        .qualname()
        .map_or_else(|_| "?".into(), |name| name.to_string());
    match class.module() {
        Ok(module) if module != "builtins" => format!("{module}.{name}"),
        _ => name,
    }
}

/// `ValueError: text`, whatever the exception does when asked for its text.
pub fn describe(py: Python<'_>, error: &PyErr) -> String {
    let name = type_name(&error.get_type(py));
    let text = error
        .value(py)
        .str()
        .map(|text| text.to_string_lossy().into_owned());
    format!("{name}: {}", text.unwrap_or_default())
}

/// How a dict key or set element is shown in a path: itself if simple, else its type.
pub fn label(object: &Bound<'_, PyAny>) -> String {
    let class = object.get_type_ptr();
    let py = object.py();
    let simple = [
        PyString::type_object_raw(py),
        PyInt::type_object_raw(py),
        PyBytes::type_object_raw(py),
        PyFloat::type_object_raw(py),
        PyBool::type_object_raw(py),
    ];
    if !object.is_none() && !simple.contains(&class) {
        return format!("<{}>", type_name(&object.get_type()));
    }
    let text = object
        .repr()
        .map_or_else(|_| "?".into(), |text| text.to_string_lossy().into_owned());
    match text.char_indices().nth(SHOWN_KEY) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
