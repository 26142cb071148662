//! Runs of message frames, read and written in one piece: see `presage.runtime.frame`.
//!
//! A busy connection brings dozens of messages in one read. Here they cost one call. Everything
//! that is no whole, well-formed message frame is left to Python, which also says what is wrong.
//!
//! Invariant: a run is what its frames are one by one; all have one number and one life.

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList};

const LENGTH: usize = 4;
const HEADER: usize = 28; // length, version, kind, flags, number, life, handled
const PROTOCOL: u8 = 1;
const MESSAGE: u8 = 2;

/// The header of a message frame, as far as a run needs it.
#[derive(Clone, Copy)]
struct Header {
    size: usize,
    number: u64,
    life: u32,
    handled: u64,
}

/// A run of message frames: where it ends, its number, life and last count, and its bodies.
type Messages<'py> = (usize, u64, u32, u64, Bound<'py, PyList>);

fn header(bytes: &[u8], limit: usize) -> Option<Header> {
    let head = bytes.get(..HEADER)?;
    let size = LENGTH + u32::from_be_bytes(head[..4].try_into().ok()?) as usize;
    if head[4] != PROTOCOL || head[5] != MESSAGE || size < HEADER || size > limit {
        return None;
    }
    (size <= bytes.len()).then_some(Header {
        size,
        number: u64::from_be_bytes(head[8..16].try_into().ok()?),
        life: u32::from_be_bytes(head[16..20].try_into().ok()?),
        handled: u64::from_be_bytes(head[20..28].try_into().ok()?),
    })
}

/// The headers of a run of at most `most` frames, with the largest `handled` among them.
fn run(bytes: &[u8], limit: usize, most: usize) -> (Vec<Header>, u64) {
    let (mut at, mut handled) = (0, 0);
    let mut found: Vec<Header> = Vec::new();
    while found.len() < most {
        let Some(next) = header(&bytes[at..], limit) else {
            break;
        };
        if found
            .first()
            .is_some_and(|first| (first.number, first.life) != (next.number, next.life))
        {
            break;
        }
        at += next.size;
        handled = handled.max(next.handled);
        found.push(next);
    }
    (found, handled)
}

/// The run of message frames that begins at `at`; None if no whole one begins there.
#[pyfunction]
pub fn read_messages<'py>(
    buffer: &Bound<'py, PyByteArray>,
    at: usize,
    limit: usize,
    most: usize,
) -> PyResult<Option<Messages<'py>>> {
    let py = buffer.py();
    // SAFETY: this thread has the interpreter, and no Python code runs while the slice is in use:
    // making `bytes` objects calls none.
    let bytes = unsafe { buffer.as_bytes() };
    let bytes = bytes.get(at..).unwrap_or_default();
    let (headers, handled) = run(bytes, limit, most);
    let Some(&first) = headers.first() else {
        return Ok(None);
    };
    let mut end = 0;
    let bodies: Vec<_> = headers
        .iter()
        .map(|header| {
            let begin = end + HEADER;
            end += header.size;
            PyBytes::new(py, &bytes[begin..end])
        })
        .collect();
    let bodies = PyList::new(py, bodies)?;
    Ok(Some((at + end, first.number, first.life, handled, bodies)))
}

/// The bytes of a run of message frames.
#[pyfunction]
pub fn write_messages<'py>(
    py: Python<'py>,
    number: u64,
    life: u32,
    handled: u64,
    bodies: Vec<Bound<'py, PyBytes>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let size = bodies
        .iter()
        .map(|body| HEADER + body.as_bytes().len())
        .sum();
    PyBytes::new_with(py, size, |mut out| {
        for body in &bodies {
            let body = body.as_bytes();
            let length = (HEADER - LENGTH + body.len()) as u32;
            let (frame, rest) = out.split_at_mut(HEADER + body.len());
            frame[..4].copy_from_slice(&length.to_be_bytes());
            frame[4..8].copy_from_slice(&[PROTOCOL, MESSAGE, 0, 0]);
            frame[8..16].copy_from_slice(&number.to_be_bytes());
            frame[16..20].copy_from_slice(&life.to_be_bytes());
            frame[20..28].copy_from_slice(&handled.to_be_bytes());
            frame[HEADER..].copy_from_slice(body);
            out = rest;
        }
        Ok(())
    })
}
