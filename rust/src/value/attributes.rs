//! Objects that modules have as attributes, by their class: read once, not once for each class.
//!
//! A large program has thousands of modules, and most classes have no constants. What was read is
//! good as long as no module has come or gone and none has another number of attributes.

use std::sync::{Arc, Mutex};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::*;
use rustc_hash::FxHashMap;

/// An object by the name that a module, or a class in it, has it under.
type Named = (String, Py<PyAny>);

/// The objects of all modules that are the user's.
struct Read {
    /// What tells whether it has to be read again.
    mark: u64,
    /// From the address of a class, which its instances keep alive.
    objects: FxHashMap<usize, Vec<Named>>,
}

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
        let mut here = FxHashMap::default();
        if let Some(module) = modules(py)?.get_item(&home)?
            && let Ok(module) = module.cast::<PyModule>()
        {
            collect(&home, module, &mut here)?;
        }
        let prefix = format!("{home}:");
        let elsewhere = read.objects.get(&address).into_iter().flatten();
        let elsewhere = elsewhere.filter(|(name, _)| !name.starts_with(&prefix));
        let here = here.get(&address).into_iter().flatten();
        let all = elsewhere.chain(here);
        Ok(all
            .map(|(name, object)| (name.clone(), object.bind(py).clone()))
            .collect())
    }

    fn read(&self, py: Python<'_>) -> PyResult<Arc<Read>> {
        let modules = modules(py)?.copy()?;
        let mark = mark(&modules);
        let known = self.0.lock().unwrap().clone();
        if let Some(known) = known.filter(|known| known.mark == mark) {
            return Ok(known);
        }
        let mut objects = FxHashMap::default();
        let sys = py.import(intern!(py, "sys"))?;
        let standard = sys.getattr(intern!(py, "stdlib_module_names"))?;
        for (name, module) in modules {
            let (Ok(name), Ok(module)) = (name.extract::<String>(), module.cast::<PyModule>())
            else {
                continue;
            };
            if is_users(&name, module, &standard)? {
                collect(&name, module, &mut objects)?;
            }
        }
        let read = Arc::new(Read { mark, objects });
        *self.0.lock().unwrap() = Some(read.clone());
        Ok(read)
    }
}

fn modules(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let sys = py.import(intern!(py, "sys"))?;
    Ok(sys.getattr(intern!(py, "modules"))?.cast_into()?)
}

/// Another number for other modules, or where one of them has more or fewer attributes.
fn mark(modules: &Bound<'_, PyDict>) -> u64 {
    modules.iter().fold(0, |mark: u64, (_, module)| {
        let size = module
            .cast::<PyModule>()
            .map_or(0, |module| module.dict().len());
        let own = (module.as_ptr() as u64).wrapping_add((size as u64).rotate_left(48));
        (mark.rotate_left(5) ^ own).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

/// Add the objects that a module or a class in it has as attributes.
fn collect(
    name: &str,
    module: &Bound<'_, PyModule>,
    objects: &mut FxHashMap<usize, Vec<Named>>,
) -> PyResult<()> {
    let py = module.py();
    let attributes = module.dict().copy()?;
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
        }
    }
    Ok(())
}

fn add(attributes: &Bound<'_, PyDict>, prefix: &str, objects: &mut FxHashMap<usize, Vec<Named>>) {
    for (name, value) in attributes {
        let class = value.get_type();
        if may_be_constant(&class) && name.is_exact_instance_of::<PyString>() {
            let known = objects.entry(class.as_ptr() as usize).or_default();
            known.push((format!("{prefix}{name}"), value.unbind()));
        }
    }
}

/// Constants are plain objects, or instances of classes that are written in Python.
fn may_be_constant(class: &Bound<'_, PyType>) -> bool {
    const HEAP: std::ffi::c_ulong = 1 << 9; // `Py_TPFLAGS_HEAPTYPE`
    let flags = unsafe { pyo3::ffi::PyType_GetFlags(class.as_type_ptr()) };
    flags & HEAP != 0 || class.is(class.py().get_type::<PyAny>())
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
