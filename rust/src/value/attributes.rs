//! Objects that modules have as attributes, by their class: read once, not once for each class.
//!
//! A large program has thousands of modules, and most classes have no constants. What one codec
//! read is good for it as long as no module has come or gone and none has another number of
//! attributes.
//!
//! The next codec asks more: between two checks a test may have replaced anything. What was read of
//! a module is kept for the process, and good as long as the module and the classes in it have the
//! very same attributes. To compare addresses takes a tenth of the time of reading.

use std::sync::{Arc, Mutex};

use pyo3::ffi::{Py_TYPE, PyDict_Next, PyObject_GenericGetDict, PyType_GetFlags};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::*;
use rustc_hash::FxHashMap;

/// An object by the name that a module, or a class in it, has it under.
type Named = (Arc<str>, Py<PyAny>);

/// From the address of a class, which its instances keep alive.
type Objects = FxHashMap<usize, Vec<Named>>;

/// The objects of all modules that are the user's.
struct Read {
    /// What tells one codec whether it has to be read again.
    mark: u64,
    /// With their places among all modules, in that order.
    modules: Vec<(usize, Arc<Module>)>,
    objects: Objects,
}

/// What was read of one module of the user's.
struct Module {
    name: String,
    /// Stands for the attributes of the module and of the classes that are written in it.
    mark: u64,
    classes: Vec<Py<PyType>>,
    objects: Objects,
}

/// What the last codec that read found.
static LAST: Mutex<Option<Arc<Read>>> = Mutex::new(None);

#[derive(Default)]
pub struct Attributes(Mutex<Option<Arc<Read>>>);

impl Attributes {
    /// The instances of `class` that a module of the user has as attributes, or the module of the
    /// class, or a class in one of them; by name.
    pub fn instances<'py>(
        &self,
        class: &Bound<'py, PyType>,
    ) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let py = class.py();
        let home = class.module()?.to_string();
        let address = class.as_ptr() as usize;
        let read = self.read(py)?;
        let here = read.now(py, &home)?;
        let prefix = format!("{home}:");
        let elsewhere = read.objects.get(&address).into_iter().flatten();
        let elsewhere = elsewhere.filter(|(name, _)| !name.starts_with(&prefix));
        let here = here
            .iter()
            .filter_map(|module| module.objects.get(&address));
        let all = elsewhere.chain(here.flatten());
        Ok(all
            .map(|(name, object)| (name.to_string(), object.bind(py).clone()))
            .collect())
    }

    fn read(&self, py: Python<'_>) -> PyResult<Arc<Read>> {
        let modules = modules(py)?.copy()?;
        let mark = mark(&modules);
        let known = self.0.lock().unwrap().clone();
        if let Some(known) = known.filter(|known| known.mark == mark) {
            return Ok(known);
        }
        let last = LAST.lock().unwrap().clone(); // not held: modules may run Python when read
        let read = Read::again(last, modules, mark)?;
        *LAST.lock().unwrap() = Some(read.clone());
        *self.0.lock().unwrap() = Some(read.clone());
        Ok(read)
    }
}

impl Read {
    /// Read the modules that are not as they were.
    fn again(
        last: Option<Arc<Read>>,
        modules: Bound<'_, PyDict>,
        mark: u64,
    ) -> PyResult<Arc<Self>> {
        let same = last.as_ref().filter(|last| last.mark == mark);
        if let Some(last) = same.filter(|last| last.is_still(&modules)) {
            return Ok(last.clone());
        }
        let py = modules.py();
        let sys = py.import(intern!(py, "sys"))?;
        let standard = sys.getattr(intern!(py, "stdlib_module_names"))?;
        let known: FxHashMap<&str, &Arc<Module>> = last
            .iter()
            .flat_map(|last| &last.modules)
            .map(|(_, module)| (module.name.as_str(), module))
            .collect();
        let (mut now, mut objects) = (Vec::new(), Objects::default());
        for (place, (name, module)) in modules.iter().enumerate() {
            let (Ok(name), Ok(module)) = (name.extract::<String>(), module.cast::<PyModule>())
            else {
                continue;
            };
            if !is_users(&name, module, &standard)? {
                continue;
            }
            let known = known.get(name.as_str());
            let read = match known.filter(|known| known.is_still(module)) {
                Some(known) => (*known).clone(),
                None => Arc::new(Module::read(name, module)?),
            };
            for (class, named) in &read.objects {
                let same = named
                    .iter()
                    .map(|(name, object)| (name.clone(), object.clone_ref(py)));
                objects.entry(*class).or_default().extend(same);
            }
            now.push((place, read));
        }
        let modules = now;
        Ok(Arc::new(Self {
            mark,
            modules,
            objects,
        }))
    }

    /// The module of that name as it is now.
    fn now(&self, py: Python<'_>, name: &str) -> PyResult<Option<Arc<Module>>> {
        let Some(module) = modules(py)?.get_item(name)? else {
            return Ok(None);
        };
        let Ok(module) = module.cast::<PyModule>() else {
            return Ok(None);
        };
        let mut known = self.modules.iter().map(|(_, known)| known);
        if let Some(known) = known.find(|known| known.name == name && known.is_still(module)) {
            return Ok(Some(known.clone()));
        }
        Ok(Some(Arc::new(Module::read(name.into(), module)?)))
    }

    /// Would reading the same modules again give the same?
    fn is_still(&self, modules: &Bound<'_, PyDict>) -> bool {
        let mut known = self.modules.iter().peekable();
        modules.iter().enumerate().all(|(place, (_, module))| {
            let known = known.next_if(|(known, _)| *known == place);
            known.is_none_or(|(_, known)| module.cast().is_ok_and(|module| known.is_still(module)))
        })
    }
}

impl Module {
    fn read(name: String, module: &Bound<'_, PyModule>) -> PyResult<Self> {
        let mut objects = Objects::default();
        let classes = collect(&name, module, &mut objects)?;
        let mark = mark_of(module, &classes);
        Ok(Self {
            name,
            mark,
            classes,
            objects,
        })
    }

    fn is_still(&self, module: &Bound<'_, PyModule>) -> bool {
        self.mark == mark_of(module, &self.classes)
    }
}

fn mark_of(module: &Bound<'_, PyModule>, classes: &[Py<PyType>]) -> u64 {
    let own = classes
        .iter()
        .filter_map(|class| attributes(class.bind(module.py())));
    own.fold(contents(0, &module.dict()), |mark, dict| {
        contents(mark, &dict)
    })
}

fn modules(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let sys = py.import(intern!(py, "sys"))?;
    Ok(sys.getattr(intern!(py, "modules"))?.cast_into()?)
}

/// Another number for other modules, or where one of them has more or fewer attributes.
fn mark(modules: &Bound<'_, PyDict>) -> u64 {
    modules.iter().fold(0, |mark, (_, module)| {
        let size = module
            .cast::<PyModule>()
            .map_or(0, |module| module.dict().len());
        mixed(mark, module.as_ptr() as usize, size)
    })
}

/// Another number for other objects, and for the same ones under other names. An object that has
/// gone may leave its address to one of another class, so that counts, too.
fn contents(mut mark: u64, attributes: &Bound<'_, PyDict>) -> u64 {
    let (mut at, mut name, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
    // Borrowed: to count references to some ten thousand objects is what would take the time.
    unsafe {
        while PyDict_Next(attributes.as_ptr(), &mut at, &mut name, &mut value) != 0 {
            mark = mixed(mark, name as usize, value as usize);
            mark = mixed(mark, Py_TYPE(value) as usize, 0);
        }
    }
    mark
}

fn mixed(mark: u64, one: usize, other: usize) -> u64 {
    let own = (one as u64).wrapping_add((other as u64).rotate_left(32));
    (mark.rotate_left(5) ^ own).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The attributes of a class that is written in Python, as they are: what `__dict__` shows has to
/// be copied to be looked at.
fn attributes<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyDict>> {
    if !is_heap(class) {
        return None; // nobody can change it
    }
    let (py, none) = (class.py(), std::ptr::null_mut());
    let dict = unsafe {
        let dict = PyObject_GenericGetDict(class.as_ptr(), none);
        Bound::from_owned_ptr_or_err(py, dict)
    };
    dict.ok()?.cast_into().ok()
}

/// Add the objects that a module or a class in it has as attributes; gives these classes.
fn collect(
    name: &str,
    module: &Bound<'_, PyModule>,
    objects: &mut Objects,
) -> PyResult<Vec<Py<PyType>>> {
    let py = module.py();
    let attributes = module.dict().copy()?;
    let mut classes = Vec::new();
    add(&attributes, &format!("{name}:"), objects);
    for (_, inner) in attributes {
        let Ok(owner) = inner.cast::<PyType>() else {
            continue;
        };
        if owner.module().is_ok_and(|module| module == name) {
            let attributes = PyDict::new(py);
            attributes.update(owner.getattr(intern!(py, "__dict__"))?.cast()?)?;
            let prefix = format!("{name}:{}.", owner.qualname()?);
            add(&attributes, &prefix, objects);
            classes.push(owner.clone().unbind());
        }
    }
    Ok(classes)
}

fn add(attributes: &Bound<'_, PyDict>, prefix: &str, objects: &mut Objects) {
    for (name, value) in attributes {
        let class = value.get_type();
        if may_be_constant(&class) && name.is_exact_instance_of::<PyString>() {
            let known = objects.entry(class.as_ptr() as usize).or_default();
            known.push((format!("{prefix}{name}").into(), value.unbind()));
        }
    }
}

/// Constants are plain objects, or instances of classes that are written in Python.
fn may_be_constant(class: &Bound<'_, PyType>) -> bool {
    is_heap(class) || class.is(class.py().get_type::<PyAny>())
}

fn is_heap(class: &Bound<'_, PyType>) -> bool {
    const HEAP: std::ffi::c_ulong = 1 << 9; // `Py_TPFLAGS_HEAPTYPE`
    unsafe { PyType_GetFlags(class.as_type_ptr()) & HEAP != 0 }
}

/// Is a module the user's: neither Python's, nor presage's own, nor installed?
fn is_users(
    name: &str,
    module: &Bound<'_, PyModule>,
    standard: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let top = name.split('.').next().unwrap_or_default();
    let ours = top == "presage" && !name.starts_with("presage.systems");
    if ours || standard.contains(top)? {
        return Ok(false);
    }
    let file = module.dict().get_item("__file__")?;
    let file = file.and_then(|file| file.extract::<String>().ok());
    Ok(file.is_none_or(|file| !file.contains("site-packages") && !file.contains("dist-packages")))
}
