//! Open a checkpoint: is it one, is it whole, and did this user write it?

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::save::Status;
use super::wire::{In, is_interrupt};
use super::{MAGIC, VERSION};

/// Who may have written the file that a search goes on from.
#[derive(FromPyObject)]
pub struct Signing(
    /// What files are signed with; `None`: they are not.
    Option<Vec<u8>>,
    /// Whether to go on from a file without that signature.
    bool,
);

impl Signing {
    pub fn key(&self) -> Option<&[u8]> {
        self.0.as_deref()
    }

    pub fn accepts(&self, file: &In) -> bool {
        file.signed || self.1
    }
}

/// A checkpoint whose digest is right, at its status, and its header.
pub fn open(path: &Path, key: Option<&[u8]>) -> PyResult<(In, Vec<u8>)> {
    let mut begins = vec![0; MAGIC.len()];
    let read = File::open(path).and_then(|mut file| read_up_to(&mut file, &mut begins));
    let read = read.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => error.into(),
        _ => PyValueError::new_err(("unreadable", error.to_string())),
    })?;
    if !MAGIC.starts_with(&begins[..read]) {
        return Err(PyValueError::new_err(("foreign", "")));
    }
    let mut file = In::open(path, key).map_err(refused)?;
    file.raw(&mut begins).map_err(refused)?;
    let version = file.word().map_err(refused)?;
    if version != VERSION {
        return Err(PyValueError::new_err(("version", version.to_string())));
    }
    let header = file.bytes().map_err(refused)?;
    Ok((file, header))
}

/// What Python hears of an error in a whole file: that it is damaged, unless a signal came.
fn refused(error: io::Error) -> PyErr {
    match is_interrupt(&error) {
        true => error.into(),
        false => PyValueError::new_err(("damaged", error.to_string())),
    }
}

fn read_up_to(file: &mut File, into: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < into.len() {
        match file.read(&mut into[read..])? {
            0 => break,
            more => read += more,
        }
    }
    Ok(read)
}

/// What a checkpoint says of itself.
#[pyclass(frozen, get_all)]
pub struct Inspected {
    header: Py<PyBytes>,
    /// Whether the search was over.
    over: bool,
    states: u64,
    /// Whether it is signed with the key.
    signed: bool,
}

/// Look at a checkpoint.
/// Raises `OSError` if there is none, else `ValueError(kind, detail)` if it is `unreadable`,
/// `foreign`, `damaged` or of another `version`.
#[pyfunction]
pub fn inspect(py: Python<'_>, path: PathBuf, key: Option<Vec<u8>>) -> PyResult<Inspected> {
    let (mut file, header) = py.detach(|| open(&path, key.as_deref()))?;
    Ok(Inspected {
        header: PyBytes::new(py, &header).unbind(),
        over: file.byte().map_err(refused)? != Status::Open as u8,
        states: file.long().map_err(refused)?,
        signed: file.signed,
    })
}
