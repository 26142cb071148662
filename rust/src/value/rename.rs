//! Exchange strings inside an encoded value, without making objects of it.
//!
//! Used to rename nodes: a node's name in a state or message is a plain string. Containers without
//! an order are written again in the order of their new bytes, so the result is canonical too.
//!
//! The grammar is that of `decode.rs` and `rebuild.rs`, followed tag by tag.

use pyo3::prelude::*;

use super::classes::Kind;
use super::layout::{Base, Layout};
use super::reduce::state;
use super::wire::{Reader, malformed, put_int, put_length, put_text, tag};
use super::{Codec, Marks, digest, immutable};

const FAILURE: usize = 3; // its place in a node's control

/// What a string becomes; none if it stays as it is.
pub type Exchange<'e> = &'e dyn Fn(&[u8]) -> Option<&'e [u8]>;

struct Renamer<'c, 'b, 'e> {
    codec: &'c Codec,
    bytes: &'b [u8],
    reader: Reader<'b>,
    exchange: Exchange<'e>,
    out: Vec<u8>,
    /// Was there an object that says itself how it is rebuilt? Its form may depend on names.
    reduced: bool,
    /// Was there a set or dict with two or more entries?
    unordered: bool,
}

/// What is encoded.
#[derive(Clone, Copy)]
pub enum Form {
    Value,
    /// (source, to, message), to be given these ends.
    Envelope(u32, u32),
    /// (status, calls, timers, failure, ...): what a failure says is left out.
    Control,
}

impl Codec {
    /// The encoding of the same value with its strings exchanged.
    pub fn rename(&self, encoded: &[u8], form: Form, exchange: Exchange<'_>) -> PyResult<Vec<u8>> {
        let mut renamer = self.renamer(encoded, exchange)?;
        renamer.form(form)?;
        renamer.whole()
    }

    /// The digest of what renaming gives where different strings may become the same one. An
    /// object that says itself how it is rebuilt tells nothing: its form may depend on names.
    pub fn outline(&self, encoded: &[u8], form: Form, exchange: Exchange<'_>) -> PyResult<u64> {
        let mut renamer = self.renamer(encoded, exchange)?;
        renamer.form(form)?;
        Ok(match renamer.reduced {
            true => 0,
            false => digest(&renamer.out),
        })
    }

    /// What is known of bytes that were written elsewhere.
    pub fn marks(&self, encoded: &[u8]) -> PyResult<Marks> {
        Ok(Marks {
            immutable: immutable(encoded),
            unordered: self.unordered(encoded)?,
        })
    }

    pub fn unordered(&self, encoded: &[u8]) -> PyResult<bool> {
        let mut renamer = self.renamer(encoded, &|_| None)?;
        renamer.form(Form::Value)?;
        Ok(renamer.unordered)
    }

    /// The reader behind the value that `reader` stands before.
    pub fn behind<'b>(&self, reader: Reader<'b>) -> PyResult<Reader<'b>> {
        let mut renamer = Renamer {
            codec: self,
            bytes: reader.rest(),
            reader,
            exchange: &|_| None,
            out: Vec::new(),
            reduced: false,
            unordered: false,
        };
        renamer.value()?;
        Ok(renamer.reader)
    }

    fn renamer<'c, 'b, 'e>(
        &'c self,
        encoded: &'b [u8],
        exchange: Exchange<'e>,
    ) -> PyResult<Renamer<'c, 'b, 'e>> {
        let (&first, rest) = encoded
            .split_first()
            .ok_or_else(|| malformed("it is empty"))?;
        let mut out = Vec::with_capacity(encoded.len() + 8);
        out.push(first);
        Ok(Renamer {
            codec: self,
            bytes: rest,
            reader: Reader::new(rest),
            exchange,
            out,
            reduced: false,
            unordered: false,
        })
    }
}

impl Renamer<'_, '_, '_> {
    fn form(&mut self, form: Form) -> PyResult<()> {
        match form {
            Form::Value => self.value(),
            Form::Envelope(source, to) => self.envelope(source, to),
            Form::Control => self.control(),
        }
    }

    fn control(&mut self) -> PyResult<()> {
        if self.copy(|reader| reader.byte())? != tag::TUPLE {
            return Err(malformed("it is no control"));
        }
        for at in 0..self.copy(|reader| reader.count())? {
            let start = self.out.len();
            self.value()?;
            if at == FAILURE && self.out[start] == tag::STR {
                self.out.truncate(start + 1);
                put_text(&mut self.out, b"failed");
            }
        }
        Ok(())
    }

    /// (source, to, message), with other ends.
    fn envelope(&mut self, source: u32, to: u32) -> PyResult<()> {
        if !self.reader.skip(tag::TUPLE) || self.reader.count()? != 3 {
            return Err(malformed("it is no envelope"));
        }
        self.out.push(tag::TUPLE);
        put_length(&mut self.out, 3);
        for end in [source, to] {
            let tag = self.reader.byte()?;
            self.reader.int(tag)?;
            put_int(&mut self.out, i64::from(end));
        }
        self.value()
    }

    fn whole(self) -> PyResult<Vec<u8>> {
        if !self.reader.is_empty() {
            return Err(malformed("something follows it"));
        }
        if !self.reduced {
            return Ok(self.out);
        }
        Python::attach(|py| {
            let value = self.codec.decode(py, &self.out)?;
            let mut out = Vec::with_capacity(self.out.len());
            self.codec.encode(py, value.bind(py), &mut out)?;
            Ok(out)
        })
    }

    /// Copy what `read` reads.
    fn copy<T>(&mut self, read: impl FnOnce(&mut Reader<'_>) -> PyResult<T>) -> PyResult<T> {
        let start = self.bytes.len() - self.reader.left();
        let value = read(&mut self.reader)?;
        let end = self.bytes.len() - self.reader.left();
        self.out.extend_from_slice(&self.bytes[start..end]);
        Ok(value)
    }

    fn text(&mut self) -> PyResult<()> {
        let text = self.reader.text()?;
        put_text(&mut self.out, (self.exchange)(text).unwrap_or(text));
        Ok(())
    }

    fn value(&mut self) -> PyResult<()> {
        let tag = self.copy(|reader| reader.byte())?;
        match tag {
            tag::NONE | tag::FALSE | tag::TRUE | tag::ABSENT => Ok(()),
            tag::INT_FIRST..=tag::INT_LAST => self.copy(|reader| reader.int(tag)).map(drop),
            tag::STR => self.text(),
            tag::FLOAT => self.copy(|reader| reader.float()).map(drop),
            tag::COMPLEX => self.complex(),
            tag::SURROGATES | tag::BYTES | tag::BYTEARRAY | tag::INT_BIG => {
                self.copy(|reader| reader.text().map(drop))
            }
            tag::TUPLE | tag::LIST => self.values(1),
            tag::DICT => self.sorted(2),
            tag::SET | tag::FROZENSET => self.sorted(1),
            tag::OBJECT => self.object(),
            tag::ENUM => self.copy(|reader| {
                reader.digest()?;
                reader.text().map(drop)
            }),
            tag::FLAG => {
                self.copy(|reader| reader.digest())?;
                self.value()
            }
            tag::REFERENCE | tag::CLASS => self.copy(|reader| reader.digest()).map(drop),
            tag::REDUCED => self.reduced(),
            _ => Err(malformed("it has an unknown tag")),
        }
    }

    fn complex(&mut self) -> PyResult<()> {
        self.copy(|reader| reader.float())?;
        self.copy(|reader| reader.float()).map(drop)
    }

    /// A count and as many entries of `width` values each, in their order.
    fn values(&mut self, width: usize) -> PyResult<()> {
        let count = self.copy(|reader| reader.count())?;
        (0..count * width).try_for_each(|_| self.value())
    }

    /// As `values`, in the order of the entries' bytes.
    fn sorted(&mut self, width: usize) -> PyResult<()> {
        let count = self.copy(|reader| reader.count())?;
        self.unordered |= count > 1;
        let first = self.out.len();
        let mut entries = Vec::with_capacity(count);
        for _ in 0..count {
            (0..width).try_for_each(|_| self.value())?;
            entries.push(self.out.split_off(first));
        }
        entries.sort_unstable();
        self.out.extend(entries.into_iter().flatten());
        Ok(())
    }

    fn object(&mut self) -> PyResult<()> {
        let digest = self.copy(|reader| reader.digest())?;
        let plan = self.codec.registry.class(digest);
        let Some(Kind::Object(layout)) = plan.as_deref().map(|plan| &plan.kind) else {
            return Err(malformed("a class is not written field by field"));
        };
        self.content(layout)?;
        for _ in 0..layout.slots.len() {
            self.value()?;
        }
        if layout.has_dict {
            (0..layout.fields.len()).try_for_each(|_| self.value())?;
            self.named()?;
        }
        Ok(())
    }

    /// Attributes by name. Their names are the program's, not the state's.
    fn named(&mut self) -> PyResult<()> {
        let count = self.copy(|reader| reader.count())?;
        for _ in 0..count {
            self.copy(|reader| {
                reader.byte()?;
                reader.text().map(drop)
            })?;
            self.value()?;
        }
        Ok(())
    }

    fn content(&mut self, layout: &Layout) -> PyResult<()> {
        match layout.base {
            Base::Object => Ok(()),
            Base::Tuple | Base::List => self.values(1),
            Base::Dict => self.sorted(2),
            Base::Set | Base::FrozenSet => self.sorted(1),
            Base::Str | Base::Int => self.value(),
            Base::Bytes | Base::ByteArray => self.copy(|reader| reader.text().map(drop)),
            Base::Float => self.copy(|reader| reader.float()).map(drop),
            Base::Complex => self.complex(),
            Base::Deque => {
                self.value()?;
                self.values(1)
            }
            Base::OrderedDict => self.values(2),
            Base::DefaultDict => {
                self.value()?;
                self.sorted(2)
            }
        }
    }

    fn reduced(&mut self) -> PyResult<()> {
        self.reduced = true;
        self.value()?;
        self.values(1)?;
        match self.copy(|reader| reader.byte())? {
            state::NONE => (),
            state::ATTRIBUTES => self.named()?,
            state::OTHER => self.value()?,
            _ => return Err(malformed("a state has an unknown form")),
        }
        self.values(1)?;
        self.values(2)
    }
}
