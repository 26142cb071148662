//! The canonical bytes of a history, written from those of its parts, and taken apart again.
//!
//! Invariant: what is written here is what the codec writes for the same `History`.

use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::value::{Codec, Cursor, put_digest, put_int, put_length, put_text, tag};

/// How the instances of one class are written: its digest, then its fields in this order.
struct Shape<const N: usize> {
    digest: u64,
    /// Which of the expected fields comes first, second, ...
    order: [usize; N],
}

impl<const N: usize> Shape<N> {
    fn of(codec: &Codec, class: &Bound<'_, PyType>, names: [&str; N]) -> PyResult<Option<Self>> {
        let Some((digest, slots)) = codec.shape(class)? else {
            return Ok(None);
        };
        let place = |slot: &String| names.iter().position(|name| name == slot);
        let order: Option<Vec<usize>> = slots.iter().map(place).collect();
        let order = order.and_then(|order| order.try_into().ok());
        Ok(order.map(|order| Shape { digest, order }))
    }

    fn write(&self, out: &mut Vec<u8>, mut field: impl FnMut(&mut Vec<u8>, usize)) {
        out.push(tag::OBJECT);
        put_digest(out, self.digest);
        self.order.iter().for_each(|&at| field(out, at));
    }

    /// The bytes of each field; none if something else is written here.
    fn read<'b>(&self, codec: &Codec, cursor: &mut Cursor<'b>) -> Option<[&'b [u8]; N]> {
        if !cursor.skip(tag::OBJECT) || cursor.digest().ok()? != self.digest {
            return None;
        }
        let mut fields: [&[u8]; N] = [&[]; N];
        for &at in &self.order {
            fields[at] = codec.segment(cursor)?;
        }
        Some(fields)
    }
}

/// The fields, in the order in which they are named here, of each class.
const HISTORY: [&str; 4] = ["spec", "real_time", "clients", "malformed"];
const CLIENT: [&str; 3] = ["name", "done", "pending"];
const DONE: [&str; 3] = ["op", "result", "seen"];
const PENDING: [&str; 2] = ["op", "seen"];

pub struct Shapes {
    history: Shape<4>,
    client: Shape<3>,
    done: Shape<3>,
    pending: Shape<2>,
}

/// What is in flight, or was answered, as encoded values without their first byte.
pub struct Written<'b> {
    pub op: &'b [u8],
    /// None while it is in flight.
    pub result: Option<&'b [u8]>,
    pub seen: Vec<(&'b [u8], u32)>,
}

/// A client's part, taken apart.
pub struct WrittenPart<'b> {
    pub name: &'b [u8],
    pub done: Vec<Written<'b>>,
    pub pending: Option<Written<'b>>,
}

/// A history, taken apart down to its clients.
pub struct WrittenHistory<'b> {
    pub spec: &'b [u8],
    pub real_time: bool,
    pub clients: Vec<&'b [u8]>,
}

impl Shapes {
    pub fn of(codec: &Codec, classes: &[Bound<'_, PyType>; 4]) -> PyResult<Option<Self>> {
        let [history, client, done, pending] = classes;
        let history = Shape::of(codec, history, HISTORY)?;
        let client = Shape::of(codec, client, CLIENT)?;
        let done = Shape::of(codec, done, DONE)?;
        let pending = Shape::of(codec, pending, PENDING)?;
        let both = history.zip(client).zip(done.zip(pending));
        Ok(both.map(|((history, client), (done, pending))| Shapes {
            history,
            client,
            done,
            pending,
        }))
    }

    /// Append a history of these parts, without the first byte of a whole encoding.
    pub fn write_history<'p>(
        &self,
        out: &mut Vec<u8>,
        (spec, real_time): (&[u8], bool),
        parts: impl ExactSizeIterator<Item = &'p [u8]> + Clone,
    ) {
        self.history.write(out, |out, at| match at {
            0 => out.extend_from_slice(spec),
            1 => out.push(if real_time { tag::TRUE } else { tag::FALSE }),
            2 => {
                out.push(tag::TUPLE);
                put_length(out, parts.len());
                parts.clone().for_each(|part| out.extend_from_slice(part));
            }
            _ => out.push(tag::NONE),
        });
    }

    /// Append a client's part.
    pub fn write_part(&self, out: &mut Vec<u8>, part: &WrittenPart<'_>) {
        self.client.write(out, |out, at| match at {
            0 => put_name(out, part.name),
            1 => {
                out.push(tag::TUPLE);
                put_length(out, part.done.len());
                part.done.iter().for_each(|done| self.operation(out, done));
            }
            _ => match &part.pending {
                Some(pending) => self.operation(out, pending),
                None => out.push(tag::NONE),
            },
        });
    }

    fn operation(&self, out: &mut Vec<u8>, written: &Written<'_>) {
        match written.result {
            Some(result) => self.done.write(out, |out, at| match at {
                0 => out.extend_from_slice(written.op),
                1 => out.extend_from_slice(result),
                _ => put_seen(out, &written.seen),
            }),
            None => self.pending.write(out, |out, at| match at {
                0 => out.extend_from_slice(written.op),
                _ => put_seen(out, &written.seen),
            }),
        }
    }

    /// None for misuse, and for what is no history.
    pub fn read_history<'b>(&self, codec: &Codec, encoded: &'b [u8]) -> Option<WrittenHistory<'b>> {
        let mut cursor = Cursor::new(encoded.get(1..)?);
        let [spec, real_time, clients, malformed] = self.history.read(codec, &mut cursor)?;
        if malformed != [tag::NONE] || !cursor.is_empty() {
            return None;
        }
        let real_time = match real_time {
            [tag::TRUE] => true,
            [tag::FALSE] => false,
            _ => return None,
        };
        Some(WrittenHistory {
            spec,
            real_time,
            clients: items(codec, clients)?,
        })
    }

    pub fn read_part<'b>(&self, codec: &Codec, part: &'b [u8]) -> Option<WrittenPart<'b>> {
        let mut cursor = Cursor::new(part);
        let [name, done, pending] = self.client.read(codec, &mut cursor)?;
        let operation = |bytes: &'b [u8]| -> Option<Written<'b>> {
            let [op, result, seen] = self.done.read(codec, &mut Cursor::new(bytes))?;
            let (result, seen) = (Some(result), read_seen(codec, seen)?);
            Some(Written { op, result, seen })
        };
        let done = items(codec, done)?.into_iter().map(operation);
        Some(WrittenPart {
            name: read_name(name)?,
            done: done.collect::<Option<_>>()?,
            pending: match pending {
                [tag::NONE] => None,
                _ => {
                    let [op, seen] = self.pending.read(codec, &mut Cursor::new(pending))?;
                    let (result, seen) = (None, read_seen(codec, seen)?);
                    Some(Written { op, result, seen })
                }
            },
        })
    }
}

fn put_name(out: &mut Vec<u8>, name: &[u8]) {
    out.push(tag::STR);
    put_text(out, name);
}

fn put_seen(out: &mut Vec<u8>, seen: &[(&[u8], u32)]) {
    out.push(tag::TUPLE);
    put_length(out, seen.len());
    for &(name, last) in seen {
        out.push(tag::TUPLE);
        put_length(out, 2);
        put_name(out, name);
        put_int(out, i64::from(last));
    }
}

/// The items of an encoded tuple.
fn items<'b>(codec: &Codec, bytes: &'b [u8]) -> Option<Vec<&'b [u8]>> {
    let mut cursor = Cursor::new(bytes);
    if !cursor.skip(tag::TUPLE) {
        return None;
    }
    let count = cursor.count().ok()?;
    (0..count).map(|_| codec.segment(&mut cursor)).collect()
}

fn read_name(bytes: &[u8]) -> Option<&[u8]> {
    let mut cursor = Cursor::new(bytes);
    if !cursor.skip(tag::STR) {
        return None;
    }
    cursor.text().ok()
}

fn read_seen<'b>(codec: &Codec, bytes: &'b [u8]) -> Option<Vec<(&'b [u8], u32)>> {
    let pair = |item: &'b [u8]| {
        let [name, last] = items(codec, item)?.try_into().ok()?;
        let (&kind, rest) = <[u8]>::split_first(last)?;
        if !(tag::INT_FIRST..=tag::INT_LAST).contains(&kind) {
            return None;
        }
        let last = Cursor::new(rest).int(kind).ok()?;
        Some((read_name(name)?, u32::try_from(last).ok()?))
    };
    items(codec, bytes)?.into_iter().map(pair).collect()
}
