//! What can be read off an encoding without making an object of it.

use super::wire::{Reader, tag};

/// A reader behind the first byte of a whole encoding.
fn inside(bytes: &[u8]) -> Option<Reader<'_>> {
    let (_, rest) = bytes.split_first()?;
    Some(Reader::new(rest))
}

/// An integer, or the length of a builtin container; `None` for all else.
pub fn magnitude(bytes: &[u8]) -> Option<i64> {
    let mut reader = inside(bytes)?;
    match reader.byte().ok()? {
        tag::TUPLE | tag::LIST | tag::DICT | tag::SET | tag::FROZENSET | tag::BYTES => {
            i64::try_from(reader.number().ok()?).ok()
        }
        kind @ tag::INT_FIRST..=tag::INT_LAST => reader.int(kind).ok(),
        _ => None,
    }
}

/// The first integers of a tuple.
pub fn numbers<const N: usize>(bytes: &[u8]) -> Option<[i64; N]> {
    let mut reader = tuple(bytes)?;
    let mut found = [0; N];
    for slot in &mut found {
        let kind = reader.byte().ok()?;
        if !(tag::INT_FIRST..=tag::INT_LAST).contains(&kind) {
            return None;
        }
        *slot = reader.int(kind).ok()?;
    }
    Some(found)
}

/// The strings that a tuple begins with, `most` of them at most.
pub fn texts(bytes: &[u8], most: usize) -> Vec<String> {
    let mut found = Vec::new();
    let Some(mut reader) = tuple(bytes) else {
        return found;
    };
    while found.len() < most && reader.skip(tag::STR) {
        match reader.text() {
            Ok(text) => found.push(String::from_utf8_lossy(text).into_owned()),
            Err(_) => break,
        }
    }
    found
}

/// Whether the encoding of a tuple that begins with the string `name` may be part of this one.
pub fn mentions(bytes: &[u8], name: &str) -> bool {
    let mut wanted = vec![tag::STR];
    super::wire::put_text(&mut wanted, name.as_bytes());
    bytes.windows(wanted.len()).any(|here| here == wanted)
}

fn tuple(bytes: &[u8]) -> Option<Reader<'_>> {
    let mut reader = inside(bytes)?;
    let opened = reader.skip(tag::TUPLE) && reader.number().is_ok();
    opened.then_some(reader)
}
