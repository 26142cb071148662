//! Read bytes back into fresh objects.
//!
//! Containers are filled in the order written, which is canonical: however a dict was built,
//! every handler iterates over it in the same order; in the second order (`order.rs`) it is another
//! one. Bytes that no encoder wrote are an error.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::*;

use super::Codec;
use super::blame::MAX_DEPTH;
use super::classes::{Kind, Plan};
use super::order;
use super::plain::Strict;
use super::wire::{Reader, malformed, tag};

pub struct Decoder<'c, 'py, 'b> {
    pub codec: &'c Codec,
    pub py: Python<'py>,
    pub reader: Reader<'b>,
    depth: usize,
    second: bool,               // sets and dicts in the second order
    pub strict: Option<Strict>, // the bytes come from outside
}

/// A decoded value or the reason why not, as an element of a list or tuple in the making.
struct Item<'py>(PyResult<Bound<'py, PyAny>>);

impl<'py> IntoPyObject<'py> for Item<'py> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    #[inline]
    fn into_pyobject(self, _: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0
    }
}

impl<'c, 'py, 'b> Decoder<'c, 'py, 'b> {
    pub fn new(codec: &'c Codec, py: Python<'py>, bytes: &'b [u8]) -> Self {
        Decoder {
            codec,
            py,
            reader: Reader::new(bytes),
            depth: 0,
            second: order::is_second(),
            strict: None,
        }
    }

    /// The one value that the bytes hold.
    pub fn whole(mut self) -> PyResult<Bound<'py, PyAny>> {
        let value = self.value()?;
        match self.reader.is_empty() {
            true => Ok(value),
            false => Err(malformed("something follows it")),
        }
    }

    pub fn value(&mut self) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        let tag = self.reader.byte()?;
        match tag {
            tag::INT_FIRST..=tag::INT_LAST => {
                Ok(self.reader.int(tag)?.into_pyobject(py)?.into_any())
            }
            tag::STR => Ok(PyString::from_bytes(py, self.reader.text()?)?.into_any()),
            tag::NONE => Ok(py.None().into_bound(py)),
            tag::FALSE | tag::TRUE => Ok(PyBool::new(py, tag == tag::TRUE).to_owned().into_any()),
            tag::FLOAT => Ok(PyFloat::new(py, self.reader.float()?).into_any()),
            tag::BYTES => Ok(PyBytes::new(py, self.reader.text()?).into_any()),
            _ => {
                self.depth += 1;
                if self.depth > MAX_DEPTH + 1 {
                    return Err(malformed("it is nested too deep"));
                }
                if let Some(strict) = &mut self.strict {
                    strict.open(tag)?;
                }
                let value = self.container(tag);
                self.depth -= 1;
                value
            }
        }
    }

    fn container(&mut self, tag: u8) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        match tag {
            tag::TUPLE => Ok(self.tuple()?.into_any()),
            tag::LIST => {
                let count = self.reader.count()?;
                Ok(PyList::new(py, (0..count).map(|_| Item(self.value())))?.into_any())
            }
            tag::DICT => {
                let dict = PyDict::new(py);
                self.dict(&dict)?;
                Ok(dict.into_any())
            }
            tag::SET => {
                let set = PySet::empty(py)?;
                self.set(&set)?;
                Ok(set.into_any())
            }
            tag::FROZENSET => self.frozenset(),
            tag::OBJECT => self.object(),
            tag::ENUM => self.member(),
            tag::REFERENCE => {
                let digest = self.reader.digest()?;
                self.codec
                    .registry
                    .reference(py, digest)
                    .ok_or_else(|| unknown("object"))
            }
            tag::REDUCED => self.reduced(),
            _ => self.rare(tag),
        }
    }

    fn rare(&mut self, tag: u8) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        match tag {
            tag::BYTEARRAY => Ok(PyByteArray::new(py, self.reader.text()?).into_any()),
            tag::COMPLEX => Ok(self.complex()?.into_any()),
            tag::SURROGATES => {
                let bytes = PyBytes::new(py, self.reader.text()?);
                bytes.call_method1("decode", ("utf-8", "surrogatepass"))
            }
            tag::INT_BIG => {
                let bytes = PyBytes::new(py, self.reader.text()?);
                let signed = [("signed", true)].into_py_dict(py)?;
                py.get_type::<PyInt>()
                    .call_method("from_bytes", (bytes, "big"), Some(&signed))
            }
            tag::FLAG => {
                let digest = self.reader.digest()?;
                let value = self.value()?;
                let plan = self.class(digest)?;
                match &plan.kind {
                    Kind::Enum(members) if members.flag => plan.class.bind(py).call1((value,)),
                    _ => Err(malformed("a class is not a flag")),
                }
            }
            tag::CLASS => {
                let digest = self.reader.digest()?;
                Ok(self.class(digest)?.class.bind(py).clone().into_any())
            }
            _ => Err(malformed("it has an unknown tag")),
        }
    }

    pub fn class(&self, digest: u64) -> PyResult<std::sync::Arc<Plan>> {
        if let Some(strict) = &self.strict {
            strict.admits(digest)?;
        }
        self.codec
            .registry
            .class(digest)
            .ok_or_else(|| unknown("class"))
    }

    pub fn tuple(&mut self) -> PyResult<Bound<'py, PyTuple>> {
        let count = self.reader.count()?;
        PyTuple::new(self.py, (0..count).map(|_| Item(self.value())))
    }

    pub fn dict(&mut self, dict: &Bound<'py, PyDict>) -> PyResult<()> {
        let count = self.reader.count()?;
        if self.second && count > 1 {
            let pairs = (0..count)
                .map(|_| Ok((self.value()?, self.value()?)))
                .collect::<PyResult<Vec<_>>>()?;
            for (key, value) in pairs.into_iter().rev() {
                dict.set_item(key, value)?;
            }
            return all_there(dict.len(), count);
        }
        for _ in 0..count {
            let key = self.value()?;
            dict.set_item(key, self.value()?)?;
        }
        all_there(dict.len(), count)
    }

    pub fn set(&mut self, set: &Bound<'py, PySet>) -> PyResult<()> {
        let count = self.reader.count()?;
        if self.second && count > 1 {
            order::fill(set, &self.items(count)?)?;
            return all_there(set.len(), count);
        }
        for _ in 0..count {
            set.add(self.value()?)?;
        }
        all_there(set.len(), count)
    }

    pub fn frozenset(&mut self) -> PyResult<Bound<'py, PyAny>> {
        let count = self.reader.count()?;
        let items = self.items(count)?;
        let set = match self.second && count > 1 {
            true => order::frozen(self.py, &items)?,
            false => PyFrozenSet::new(self.py, items)?.into_any(),
        };
        all_there(set.len()?, count)?;
        Ok(set)
    }

    fn items(&mut self, count: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
        (0..count).map(|_| self.value()).collect()
    }

    pub fn complex(&mut self) -> PyResult<Bound<'py, PyComplex>> {
        let real = self.reader.float()?;
        Ok(PyComplex::from_doubles(self.py, real, self.reader.float()?))
    }

    fn member(&mut self) -> PyResult<Bound<'py, PyAny>> {
        let digest = self.reader.digest()?;
        let name = self.reader.text()?;
        let plan = self.class(digest)?;
        let Kind::Enum(members) = &plan.kind else {
            return Err(malformed("a class is not an enum"));
        };
        let member = members
            .named
            .get(name)
            .ok_or_else(|| malformed("an enum has no such member"))?;
        Ok(member.bind(self.py).clone())
    }
}

/// A set or dict that came back smaller would silently be another state.
fn all_there(found: usize, count: usize) -> PyResult<()> {
    match found == count {
        true => Ok(()),
        false => Err(Python::attach(|py| {
            let make = || py.import("presage.errors")?.getattr("NotCopied")?.call0();
            make().map_or_else(|error| error, PyErr::from_value)
        })),
    }
}

#[cold]
fn unknown(what: &str) -> PyErr {
    PyValueError::new_err(format!(
        "the bytes name a {what} that this codec has not seen; decode with the codec that encoded"
    ))
}
