//! Decide, once per class, how its instances are written: the plan.
//!
//! In this order: importable things by name; what lives outside the program is refused; enum
//! members by name; objects whose whole state is a builtin base, slots and a dict field by field;
//! whatever is left through the class's own `__reduce_ex__`.
//!
//! Invariant: a plan depends only on the class, so equal values are always written alike.

use std::sync::OnceLock;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use rustc_hash::FxHashMap;

use super::constants::Constants;
use super::layout::Layout;
use super::wire::{put_digest, put_text, tag};
use super::{digest, refused};

/// How instances of one class are written and rebuilt.
pub struct Plan {
    pub class: Py<PyType>,
    pub name: String, // `module:qualname`
    pub digest: u64,  // of the name
    pub kind: Kind,
    /// Looked for at the first meeting.
    pub constants: OnceLock<Constants>,
}

pub enum Kind {
    Object(Layout),
    Enum(Members),
    Reduce(Reduction),
    /// Functions and classes: by name, if that name leads back to them.
    Reference,
    /// Not state, for this reason.
    Refused(String),
}

/// The members of an enum; those of a flag include named combinations only.
pub struct Members {
    pub encoded: FxHashMap<usize, Vec<u8>>, // by address: members live as long as their class
    pub named: FxHashMap<Vec<u8>, Py<PyAny>>,
    pub flag: bool,
}

pub struct Reduction {
    /// From `copyreg`; otherwise the object's own `__reduce_ex__` is asked.
    pub reducer: Option<Py<PyAny>>,
    /// A well-known immutable value, so the round trip needs no proof.
    pub trusted: bool,
}

/// Library classes that are known to be immutable values and to round-trip.
const TRUSTED: [(&str, &[&str]); 7] = [
    (
        "builtins",
        &["range", "slice", "ellipsis", "NotImplementedType"],
    ),
    (
        "datetime",
        &["datetime", "date", "time", "timedelta", "timezone"],
    ),
    ("decimal", &["Decimal"]),
    ("fractions", &["Fraction"]),
    ("uuid", &["UUID"]),
    ("ipaddress", &["IPv4Address", "IPv6Address"]),
    (
        "pathlib",
        &[
            "PosixPath",
            "WindowsPath",
            "PurePosixPath",
            "PureWindowsPath",
        ],
    ),
];

impl Plan {
    pub fn of(class: &Bound<'_, PyType>, live: bool) -> PyResult<Plan> {
        let name = format!("{}:{}", class.module()?, class.qualname()?);
        let digest = digest(name.as_bytes());
        let kind = kind_of(class, digest, live)?;
        Ok(Plan {
            class: class.clone().unbind(),
            name,
            digest,
            kind,
            constants: OnceLock::new(),
        })
    }

    pub fn address(&self) -> usize {
        self.class.as_ptr() as usize
    }

    /// Do encoded values name this class?
    pub fn named(&self) -> bool {
        matches!(self.kind, Kind::Object(_) | Kind::Enum(_) | Kind::Reduce(_))
    }
}

fn kind_of(class: &Bound<'_, PyType>, digest: u64, live: bool) -> PyResult<Kind> {
    let py = class.py();
    if class.is_subclass_of::<PyType>()? || is_function(class)? {
        return Ok(Kind::Reference);
    }
    if let Some(reason) = refused::reason(class)? {
        return Ok(Kind::Refused(reason));
    }
    let library = py.import(intern!(py, "enum"))?;
    if class
        .as_any()
        .is_instance(&library.getattr(intern!(py, "EnumMeta"))?)?
    {
        let flag = class.is_subclass(&library.getattr(intern!(py, "Flag"))?)?;
        return Ok(Kind::Enum(Members::of(class, digest, flag)?));
    }
    let reducers = py
        .import(intern!(py, "copyreg"))?
        .getattr(intern!(py, "dispatch_table"))?;
    let reducer = reducers.cast::<PyDict>()?.get_item(class)?;
    let layout = if reducer.is_none() {
        Layout::of(class, live)?
    } else {
        None
    };
    if let Some(layout) = layout {
        return Ok(Kind::Object(layout));
    }
    if class.hasattr(intern!(py, "__next__"))? {
        let reason = "an iterator's position cannot be compared; keep the items and an index";
        return Ok(Kind::Refused(reason.into()));
    }
    let reducer = reducer.map(Bound::unbind);
    Ok(Kind::Reduce(Reduction {
        reducer,
        trusted: is_trusted(class)?,
    }))
}

/// Functions and methods, of Python and of C.
fn is_function(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let py = class.py();
    let types = py.import(intern!(py, "types"))?;
    let names = [
        intern!(py, "FunctionType"),
        intern!(py, "MethodType"),
        intern!(py, "BuiltinFunctionType"),
        intern!(py, "MethodDescriptorType"),
        intern!(py, "WrapperDescriptorType"),
    ];
    for name in names {
        if types.getattr(name)?.is(class) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_trusted(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let (module, name) = (class.module()?, class.qualname()?);
    // `pathlib` became a package, and `decimal` is `_pydecimal` where C is missing.
    let module = module
        .to_str()?
        .split('.')
        .next()
        .unwrap_or_default()
        .to_owned();
    let name = name.to_str()?;
    Ok(TRUSTED
        .iter()
        .any(|(known, names)| module == *known && names.contains(&name)))
}

impl Members {
    fn of(class: &Bound<'_, PyType>, digest: u64, flag: bool) -> PyResult<Members> {
        let py = class.py();
        let mut members = Members {
            encoded: Default::default(),
            named: Default::default(),
            flag,
        };
        let table = class.getattr(intern!(py, "_member_map_"))?;
        for (name, member) in table.cast::<PyDict>()? {
            if !member.getattr(intern!(py, "_name_"))?.eq(&name)? {
                continue; // an alias: the member itself comes under its own name
            }
            let name = name.cast_into::<PyString>()?;
            let name = name.to_str()?.as_bytes();
            let mut bytes = vec![tag::ENUM];
            put_digest(&mut bytes, digest);
            put_text(&mut bytes, name);
            members.encoded.insert(member.as_ptr() as usize, bytes);
            members.named.insert(name.to_vec(), member.unbind());
        }
        Ok(members)
    }
}
