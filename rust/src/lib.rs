//! The native core of presage: interning, the step memo, the seen table and the searches.
//!
//! Flat on purpose: one Python module, a handful of names. `expand.rs` is the hot loop; `shared.rs`
//! is the only place where threads enter Python.

mod backwards;
mod build;
mod canon;
mod checkpoint;
mod commute;
mod connection;
mod coverage;
mod effects;
mod equivariant;
mod events;
mod expand;
mod fingerprint;
mod flat;
mod guard;
mod hunt;
mod intern;
mod invariant;
mod judge;
mod kernel;
mod layout;
mod links;
mod live;
mod mirror;
mod path;
mod por;
mod process;
mod reader;
mod recent;
mod reorder;
mod run;
mod scratch;
mod search;
mod seen;
mod shared;
mod sleep;
mod slots;
mod start;
mod steps;
mod stop;
mod store;
mod symmetry;
mod tables;
mod threads;
mod trie;
mod value;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<checkpoint::Checkpoint>()?;
    module.add_class::<scratch::Spill>()?;
    module.add_class::<hunt::Suspect>()?;
    module.add_class::<value::Codec>()?;
    module.add_class::<guard::Watchdog>()?;
    module.add_class::<kernel::Kernel>()?;
    module.add_class::<live::Graph>()?;
    module.add_class::<process::ProcessKernel>()?;
    module.add_class::<reader::Reader>()?;
    module.add_class::<steps::Steps>()?;
    module.add_function(wrap_pyfunction!(backwards::may_go_backwards, module)?)?;
    module.add_function(wrap_pyfunction!(backwards::backwards, module)?)?;
    module.add_function(wrap_pyfunction!(backwards::goes_backwards, module)?)?;
    module.add_function(wrap_pyfunction!(checkpoint::inspect, module)?)?;
    module.add_function(wrap_pyfunction!(guard::die_with, module)?)?;
    module.add_function(wrap_pyfunction!(fingerprint::mix, module)?)?;
    module.add_function(wrap_pyfunction!(fingerprint::combine, module)?)?;
    module.add_function(wrap_pyfunction!(scratch::resident_mib, module)?)?;
    module.add_function(wrap_pyfunction!(threads::cores, module)?)?;
    module.add_function(wrap_pyfunction!(stop::request_stop, module)?)?;
    module.add_function(wrap_pyfunction!(stop::stop_requested, module)?)?;
    module.add_function(wrap_pyfunction!(stop::forget_stop, module)?)?;
    module.add_function(wrap_pyfunction!(stop::stop_once, module)?)?;
    module.add_function(wrap_pyfunction!(stop::listen_for_stop, module)?)?;
    Ok(())
}
