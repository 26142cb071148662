//! The native core of presage: interning, the step memo, the seen table and the searches.
//!
//! One Python module, a handful of names. `services/expand.rs` is the hot loop; only in
//! `services/misses.rs` do threads enter Python.

mod checkpoint;
mod history;
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

/// What Python may import.
#[pyo3::pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::checkpoint::{Checkpoint, Inspected, inspect};
    #[pymodule_export]
    use crate::hunt::Suspect;
    #[pymodule_export]
    use crate::liveness::{Graph, PassCut, Reachable};
    #[pymodule_export]
    use crate::processes::ProcessKernel;
    #[pymodule_export]
    use crate::property::reader::Reader;
    #[pymodule_export]
    use crate::python::build::build_info;
    #[pymodule_export]
    use crate::python::callers::Callers;
    #[pymodule_export]
    use crate::python::digest::{hmac_sha256, sha256};
    #[pymodule_export]
    use crate::python::exporter::Exporter;
    #[pymodule_export]
    use crate::python::frames::{read_messages, write_messages};
    #[pymodule_export]
    use crate::python::kernel::Kernel;
    #[pymodule_export]
    use crate::python::outcome::{
        CriticalStep, CycleOutcome, Finding, HuntOutcome, KernelEvent, Outcome, Progress,
        RunFinding,
    };
    #[pymodule_export]
    use crate::python::stop::{
        Halt, forget_stop, listen_for_stop, request_stop, stop_once, stop_requested,
    };
    #[pymodule_export]
    use crate::python::supervise::{Watchdog, die_with};
    #[pymodule_export]
    use crate::python::threads::cores;
    #[pymodule_export]
    use crate::search::shard::Shard;
    #[pymodule_export]
    use crate::services::coverage::KernelCoverage;
    #[pymodule_export]
    use crate::services::machine::{Parts, TooManyCuts, TooManyWays};
    #[pymodule_export]
    use crate::services::steps::Steps;
    #[pymodule_export]
    use crate::table::fingerprint::{combine, mix};
    #[pymodule_export]
    use crate::table::rolling::queue_share;
    #[pymodule_export]
    use crate::table::scratch::{Spill, resident_mib};
    #[pymodule_export]
    use crate::value::Codec;
    #[pymodule_export]
    use crate::value::backwards::{
        backwards, goes_backwards, may_go_backwards, never_go_backwards, notice_methods,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::python::tables::export(module)?;
        module.delattr("__all__") // all of it is public, and the stub lists it
    }
}
