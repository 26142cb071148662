//! What one codec knows of classes and functions, by address and by digest of their names.
//!
//! Encoded values name a class by eight bytes; here they are turned back into the class.
//!
//! Invariant: the lock is held for one table access only, never while Python code may run and
//! never while waiting for the interpreter. So callers build what they add before they add it,
//! and nothing that is looked up is dropped under the lock.

use std::collections::hash_map::Entry;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::classes::Plan;
use super::digest;

/// Two different things go by one name.
pub struct Clash;

#[derive(Default)]
pub struct Registry {
    tables: RwLock<Tables>,
}

/// Entries are never removed: an address stays valid because its object is kept alive here.
#[derive(Default)]
struct Tables {
    plans: FxHashMap<usize, Arc<Plan>>,     // by address of the class
    classes: FxHashMap<u64, Arc<Plan>>,     // by digest; only classes whose instances we write
    addresses: FxHashMap<usize, u64>,       // of importable objects
    references: FxHashMap<u64, Importable>, // by digest
}

struct Importable {
    object: Py<PyAny>,
    name: String,
}

impl Importable {
    fn address(&self) -> usize {
        self.object.as_ptr() as usize
    }
}

impl Registry {
    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.tables.write().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    pub fn plan(&self, address: usize) -> Option<Arc<Plan>> {
        self.read().plans.get(&address).cloned()
    }

    #[inline]
    pub fn class(&self, digest: u64) -> Option<Arc<Plan>> {
        self.read().classes.get(&digest).cloned()
    }

    /// Remember `plan`, unless another class has its name. If two threads plan one class, the
    /// first wins and both use that.
    pub fn add_plan(&self, plan: &Arc<Plan>) -> Result<Arc<Plan>, Clash> {
        let address = plan.address();
        let mut tables = self.write();
        if plan.named() {
            let known = tables
                .classes
                .entry(plan.digest)
                .or_insert_with(|| plan.clone());
            if known.address() != address {
                return Err(Clash);
            }
        }
        Ok(tables
            .plans
            .entry(address)
            .or_insert_with(|| plan.clone())
            .clone())
    }

    pub fn reference_digest(&self, address: usize) -> Option<u64> {
        self.read().addresses.get(&address).copied()
    }

    pub fn reference<'py>(&self, py: Python<'py>, digest: u64) -> Option<Bound<'py, PyAny>> {
        self.read()
            .references
            .get(&digest)
            .map(|known| known.object.bind(py).clone())
    }

    /// Remember an importable object. `lasting`: it is one object for good; a method of a class
    /// is made anew at each access, so it is known by its name alone.
    pub fn add_reference(
        &self,
        object: &Bound<'_, PyAny>,
        name: &str,
        lasting: bool,
    ) -> Result<u64, Clash> {
        let key = digest(name.as_bytes());
        let address = object.as_ptr() as usize;
        let mut tables = self.write();
        match tables.references.entry(key) {
            Entry::Occupied(known) if lasting && known.get().address() != address => {
                return Err(Clash);
            }
            Entry::Occupied(_) => (),
            Entry::Vacant(free) => {
                free.insert(Importable {
                    object: object.clone().unbind(),
                    name: name.to_owned(),
                });
            }
        }
        if lasting {
            tables.addresses.insert(address, key);
        }
        Ok(key)
    }

    /// The names of all classes whose instances were written, and of all importable objects.
    pub fn names(&self) -> (Vec<String>, Vec<String>) {
        let tables = self.read();
        let classes = tables.classes.values().map(|plan| plan.name.clone());
        let references = tables.references.values().map(|known| known.name.clone());
        (classes.collect(), references.collect())
    }
}
