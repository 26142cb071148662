//! How this core was built, as `build.rs` beside `Cargo.toml` wrote it down.

use pyo3::prelude::*;

/// The core's version, profile, features, target and compiler, by these names.
#[pyfunction]
pub fn build_info() -> Vec<(&'static str, &'static str)> {
    vec![
        ("version", env!("CARGO_PKG_VERSION")),
        ("profile", env!("PRESAGE_BUILD_PROFILE")),
        ("features", env!("PRESAGE_BUILD_FEATURES")),
        ("target", env!("PRESAGE_BUILD_TARGET")),
        ("rustc", env!("PRESAGE_BUILD_RUSTC")),
    ]
}
