//! Functions and classes as values: by name, and only if the name leads back to the very object.
//!
//! A function is part of the program, not of the state, as long as everyone who asks for it by
//! name gets the same one. A closure or a bound method carries state that no name shows, so it is
//! refused; a method bound to a class does not.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::*;

use super::blame::{Encoded, Fail};
use super::encode::Encoder;
use super::wire::{put_digest, tag};

const CLOSURE: &str = "it carries variables of the function around it; use a function or class \
                       at module level and keep those variables as fields";
const BOUND: &str = "a bound method carries its object along; keep the name of the method";

impl<'py> Encoder<'_, 'py> {
    pub fn reference(&mut self, object: &Bound<'py, PyAny>) -> Encoded {
        if let Some(digest) = self
            .codec
            .registry
            .reference_digest(object.as_ptr() as usize)
        {
            self.put_reference(digest);
            return Ok(());
        }
        if object.is_instance_of::<PyType>() {
            return self.global(object, &text(object, intern!(self.py, "__qualname__"))?);
        }
        let owner = object.getattr_opt(intern!(self.py, "__self__"))?;
        if let Some(owner) = owner.filter(|owner| !owner.is_instance_of::<PyModule>()) {
            let Ok(class) = owner.cast::<PyType>() else {
                return Err(Fail::of(object, BOUND));
            };
            let name = text(object, intern!(self.py, "__name__"))?;
            let name = format!("{}.{name}", class.qualname()?);
            return self.named_by(object, &class.module()?.to_string(), &name, false);
        }
        let closure = object.getattr_opt(intern!(self.py, "__closure__"))?;
        if closure.is_some_and(|cells| !cells.is_none()) {
            return Err(Fail::of(object, CLOSURE));
        }
        self.global(object, &text(object, intern!(self.py, "__qualname__"))?)
    }

    /// Write `object` as the global `name` of its module, if that is what it is.
    pub fn global(&mut self, object: &Bound<'py, PyAny>, name: &str) -> Encoded {
        self.named_by(object, &home(object)?, name, true)
    }

    /// `lasting`: it is one object for good, not a method made anew at each access.
    fn named_by(
        &mut self,
        object: &Bound<'py, PyAny>,
        module: &str,
        name: &str,
        lasting: bool,
    ) -> Encoded {
        let same = find(self.py, module, name).is_some_and(|found| {
            found.is(object) || (!lasting && found.eq(object).unwrap_or(false))
        });
        if !same {
            let reason = format!(
                "`{module}.{name}` does not lead back to it; only functions and classes at \
                 module level can be kept, by name"
            );
            return Err(Fail::of(object, reason));
        }
        let full = format!("{module}:{name}");
        let digest = self
            .codec
            .registry
            .add_reference(object, &full, lasting)
            .map_err(|_| {
                let reason =
                    format!("`{module}.{name}` meant another object before; do not rebind it");
                Fail::of(object, reason)
            })?;
        self.put_reference(digest);
        Ok(())
    }

    pub fn put_reference(&mut self, digest: u64) {
        self.out.push(tag::REFERENCE);
        put_digest(self.out, digest);
    }
}

fn text<'py>(object: &Bound<'py, PyAny>, name: &Bound<'py, PyString>) -> PyResult<String> {
    object.getattr(name)?.extract()
}

/// The module that `object` says it is from, or its class.
fn home(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = object.py();
    let owner = object.getattr_opt(intern!(py, "__objclass__"))?;
    for thing in [Some(object.clone()), owner].into_iter().flatten() {
        let module = thing.getattr_opt(intern!(py, "__module__"))?;
        if let Some(Ok(module)) = module.map(|module| module.extract()) {
            return Ok(module);
        }
    }
    Ok(object.get_type().module()?.to_string())
}

/// What `module.name` is now, in a module that is loaded.
fn find<'py>(py: Python<'py>, module: &str, name: &str) -> Option<Bound<'py, PyAny>> {
    let modules = py
        .import(intern!(py, "sys"))
        .ok()?
        .getattr(intern!(py, "modules"))
        .ok()?;
    let follow = |module: &str| {
        let module = modules.get_item(module).ok()?;
        name.split('.')
            .try_fold(module, |owner, part| owner.getattr(part).ok())
    };
    // Python says that the type of `None` is at home in `builtins`; it is found in `types`.
    follow(module).or_else(|| follow("types").filter(|_| module == "builtins"))
}
