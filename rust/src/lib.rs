//! The native core of presage: interning, the step memo, the seen table and the searches.
//!
//! One Python module, a handful of names. `services/expand.rs` is the hot loop; only in
//! `services/misses.rs` do threads enter Python.

mod checkpoint;
mod hunt;
mod liveness;
mod processes;
mod property;
mod python;
mod reduce;
mod search;
mod services;
mod table;
mod value;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<checkpoint::Checkpoint>()?;
    module.add_class::<table::scratch::Spill>()?;
    module.add_class::<hunt::Suspect>()?;
    module.add_class::<value::Codec>()?;
    module.add(
        "TooManyWays",
        module.py().get_type::<services::machine::TooManyWays>(),
    )?;
    module.add_class::<python::supervise::Watchdog>()?;
    module.add_class::<python::kernel::Kernel>()?;
    module.add_class::<liveness::Graph>()?;
    module.add_class::<processes::ProcessKernel>()?;
    module.add_class::<property::reader::Reader>()?;
    module.add_class::<services::steps::Steps>()?;
    module.add_function(wrap_pyfunction!(
        value::backwards::may_go_backwards,
        module
    )?)?;
    module.add_function(wrap_pyfunction!(value::backwards::backwards, module)?)?;
    module.add_function(wrap_pyfunction!(value::backwards::goes_backwards, module)?)?;
    module.add_function(wrap_pyfunction!(checkpoint::inspect, module)?)?;
    module.add_function(wrap_pyfunction!(python::supervise::die_with, module)?)?;
    module.add_function(wrap_pyfunction!(table::fingerprint::mix, module)?)?;
    module.add_function(wrap_pyfunction!(table::fingerprint::combine, module)?)?;
    module.add_function(wrap_pyfunction!(table::scratch::resident_mib, module)?)?;
    module.add_function(wrap_pyfunction!(python::threads::cores, module)?)?;
    module.add_function(wrap_pyfunction!(python::stop::request_stop, module)?)?;
    module.add_function(wrap_pyfunction!(python::stop::stop_requested, module)?)?;
    module.add_function(wrap_pyfunction!(python::stop::forget_stop, module)?)?;
    module.add_function(wrap_pyfunction!(python::stop::stop_once, module)?)?;
    module.add_function(wrap_pyfunction!(python::stop::listen_for_stop, module)?)?;
    python::tables::export(module)
}
