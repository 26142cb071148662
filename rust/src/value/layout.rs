//! The layout of an object: builtin base, slots, dict. The whole of its state, or nothing.
//!
//! An object may be taken apart and rebuilt field by field only if no state hides in memory that
//! C code alone can see. That is so if its size is explained by its base, its slots, its dict and
//! its weak reference list: the test `pickle` makes.
//!
//! Invariant: for a `Layout` with base `Object`, `raw::blank` may make instances of the class.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::*;

const HEAP_TYPE: u64 = 1 << 9;
const NOT_INSTANTIABLE: u64 = 1 << 7;
const DICT_BEFORE_OBJECT: u64 = 1 << 4; // "managed": no part of the basic size
const WORD: usize = size_of::<usize>();

/// A slot that is derived from the rest, and different under another hash seed.
const CACHED_HASH: &str = "__msgspec_cached_hash__";

/// The slot of a moment that holds a number while a service runs live.
const NUMBER: &str = "_presage_number";

/// The builtin type an object extends, whose content is part of its state.
#[derive(Clone, Copy, PartialEq)]
pub enum Base {
    Object,
    Tuple,
    List,
    Dict,
    Set,
    FrozenSet,
    Str,
    Bytes,
    ByteArray,
    Int,
    Float,
    Complex,
    Deque,
    OrderedDict,
    DefaultDict,
}

pub struct Slot {
    pub name: Py<PyString>,
    /// The descriptor, if a subclass hides it behind the same name.
    pub hidden: Option<Py<PyAny>>,
}

pub struct Layout {
    pub base: Base,
    pub slots: Vec<Slot>,
    /// Fields of a dataclass that live in its dict, in order: written without their names.
    pub fields: Vec<Py<PyString>>,
    pub has_dict: bool,
    /// Nothing in an instance can be replaced; its parts may still be mutable.
    pub frozen: bool,
    /// The builtin type itself.
    pub root: Py<PyType>,
    /// `root.__new__`; none for `Object`.
    pub make: Option<Py<PyAny>>,
    /// What fills a blank instance, for the bases that need it: `__init__` or `__setitem__`.
    pub fill: Option<Py<PyAny>>,
}

impl Base {
    pub fn is_mutable(self) -> bool {
        use Base::*;
        matches!(
            self,
            List | Dict | Set | ByteArray | Deque | OrderedDict | DefaultDict
        )
    }

    fn filler(self) -> Option<&'static str> {
        match self {
            Base::ByteArray | Base::Deque | Base::DefaultDict => Some("__init__"),
            Base::OrderedDict => Some("__setitem__"),
            _ => None,
        }
    }
}

impl Layout {
    pub fn is_tuple(&self) -> bool {
        self.base == Base::Tuple
    }

    /// Is there anything in an instance that can be replaced?
    pub fn changes(&self) -> bool {
        !self.frozen && (self.base.is_mutable() || self.has_dict || !self.slots.is_empty())
    }

    /// The layout of `class`; none if it has hidden state or its own way to be reduced.
    ///
    /// Only a `live` codec writes the numbers of moments.
    pub fn of(class: &Bound<'_, PyType>, live: bool) -> PyResult<Option<Layout>> {
        let py = class.py();
        let (base, root) = base_of(class)?;
        let record = class.hasattr(intern!(py, "__dataclass_fields__"))?;
        let structure = class.hasattr(intern!(py, "__struct_fields__"))?;
        if !record && !structure && reduces_itself(class, &root)? {
            return Ok(None);
        }
        let mut slots = slots_of(class)?;
        if !fits(class, &root, slots.len())? {
            return Ok(None);
        }
        slots.retain(|slot| {
            let name = slot.name.bind(py);
            name != CACHED_HASH && (live || name != NUMBER)
        });
        let has_dict = number(class, "__dictoffset__")? != 0;
        let fields = if record && has_dict {
            fields_of(class, &slots)?
        } else {
            Vec::new()
        };
        let sealed = slots.is_empty() && !has_dict && base != Base::Object;
        let frozen = !base.is_mutable()
            && (sealed || ((record || structure) && is_frozen(class)? && !caches(class)?));
        let part = |name| root.getattr(name).map(Bound::unbind);
        let make = (base != Base::Object)
            .then(|| part("__new__"))
            .transpose()?;
        let fill = base.filler().map(part).transpose()?;
        Ok(Some(Layout {
            base,
            slots,
            fields,
            has_dict,
            frozen,
            root: root.unbind(),
            make,
            fill,
        }))
    }
}

/// The first builtin type among the ancestors of `class`.
fn base_of<'py>(class: &Bound<'py, PyType>) -> PyResult<(Base, Bound<'py, PyType>)> {
    let py = class.py();
    let library = py.import(intern!(py, "collections"))?;
    let bases = [
        (Base::Tuple, py.get_type::<PyTuple>()),
        (Base::List, py.get_type::<PyList>()),
        (Base::Deque, library.getattr("deque")?.cast_into()?),
        (
            Base::OrderedDict,
            library.getattr("OrderedDict")?.cast_into()?,
        ),
        (
            Base::DefaultDict,
            library.getattr("defaultdict")?.cast_into()?,
        ),
        (Base::Dict, py.get_type::<PyDict>()),
        (Base::Set, py.get_type::<PySet>()),
        (Base::FrozenSet, py.get_type::<PyFrozenSet>()),
        (Base::Str, py.get_type::<PyString>()),
        (Base::Bytes, py.get_type::<PyBytes>()),
        (Base::ByteArray, py.get_type::<PyByteArray>()),
        (Base::Int, py.get_type::<PyInt>()),
        (Base::Float, py.get_type::<PyFloat>()),
        (Base::Complex, py.get_type::<PyComplex>()),
    ];
    for ancestor in class.mro().iter() {
        if let Some((base, root)) = bases.iter().find(|(_, root)| root.is(&ancestor)) {
            return Ok((*base, root.clone()));
        }
    }
    Ok((Base::Object, py.get_type::<PyAny>()))
}

/// Does `class` say itself how it is pickled, beyond what its root does?
fn reduces_itself(class: &Bound<'_, PyType>, root: &Bound<'_, PyType>) -> PyResult<bool> {
    let py = class.py();
    let counter = py
        .import(intern!(py, "collections"))?
        .getattr(intern!(py, "Counter"))?;
    let root = match class.is_subclass(&counter)? {
        true => &counter, // written in Python, but as transparent as a dict
        false => root.as_any(),
    };
    for name in ["__reduce_ex__", "__reduce__", "__getstate__"] {
        if !class.getattr(name)?.is(&root.getattr(name)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// All slots of `class` and its ancestors, the class's own first.
fn slots_of(class: &Bound<'_, PyType>) -> PyResult<Vec<Slot>> {
    let py = class.py();
    let member = py
        .import(intern!(py, "types"))?
        .getattr(intern!(py, "MemberDescriptorType"))?;
    let mut taken: Vec<Bound<'_, PyAny>> = Vec::new(); // names seen in classes nearer to `class`
    let mut slots = Vec::new();
    for ancestor in class.mro().iter() {
        let names = ancestor.getattr(intern!(py, "__dict__"))?;
        let declared = names.contains(intern!(py, "__slots__"))?;
        for entry in names.call_method0(intern!(py, "items"))?.try_iter()? {
            let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = entry?.extract()?;
            if declared && value.get_type().is(&member) {
                let hidden = taken.iter().any(|other| other.eq(&name).unwrap_or(false));
                let name = name.clone().cast_into::<PyString>()?.unbind();
                slots.push(Slot {
                    name,
                    hidden: hidden.then(|| value.unbind()),
                });
            }
        }
        for name in names.try_iter()? {
            taken.push(name?);
        }
    }
    Ok(slots)
}

/// Do its base, `slots` slots, a dict and weak references explain the size of an instance?
fn fits(class: &Bound<'_, PyType>, root: &Bound<'_, PyType>, slots: usize) -> PyResult<bool> {
    if class.is(root) {
        return Ok(true);
    }
    let flags: u64 = class.getattr("__flags__")?.extract()?;
    if flags & HEAP_TYPE == 0 || flags & NOT_INSTANTIABLE != 0 {
        return Ok(false);
    }
    let mut words = slots;
    let own_dict = number(root, "__dictoffset__")? == 0 && flags & DICT_BEFORE_OBJECT == 0;
    words += usize::from(own_dict && number(class, "__dictoffset__")? != 0);
    words += usize::from(
        number(root, "__weakrefoffset__")? == 0 && number(class, "__weakrefoffset__")? > 0,
    );
    let explained = number(root, "__basicsize__")? + (words * WORD) as isize;
    Ok(number(class, "__basicsize__")? <= explained)
}

fn number(class: &Bound<'_, PyType>, name: &str) -> PyResult<isize> {
    class.getattr(name)?.extract()
}

/// Names of the dataclass fields of `class` that are not slots.
fn fields_of(class: &Bound<'_, PyType>, slots: &[Slot]) -> PyResult<Vec<Py<PyString>>> {
    let py = class.py();
    let library = py.import(intern!(py, "dataclasses"))?;
    let mut names = Vec::new();
    for field in library
        .call_method1(intern!(py, "fields"), (class,))?
        .try_iter()?
    {
        let name = field?
            .getattr(intern!(py, "name"))?
            .cast_into::<PyString>()?;
        if !slots
            .iter()
            .any(|slot| slot.name.bind(py).as_any().eq(&name).unwrap_or(false))
        {
            names.push(PyString::intern(py, name.to_str()?).unbind());
        }
    }
    Ok(names)
}

/// Is `class` itself, not only an ancestor, a frozen dataclass or a frozen struct?
fn is_frozen(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let py = class.py();
    let own = class.getattr(intern!(py, "__dict__"))?;
    let name = intern!(py, "__dataclass_params__");
    let settings = match own.contains(name)? {
        true => own.get_item(name)?,
        false => match class.getattr_opt(intern!(py, "__struct_config__"))? {
            Some(settings) => settings,
            None => return Ok(false),
        },
    };
    settings.getattr(intern!(py, "frozen"))?.is_truthy()
}

/// Does `class` cache computed properties in its dict, changing instances that look frozen?
fn caches(class: &Bound<'_, PyType>) -> PyResult<bool> {
    for ancestor in class.mro().iter() {
        for value in ancestor
            .getattr("__dict__")?
            .call_method0("values")?
            .try_iter()?
        {
            if value?.get_type().name()? == "cached_property" {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
