//! Tells the core how it is built, so that `presage --version` can say so.

use std::env;
use std::process::Command;

fn main() {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_string());
    let version = Command::new(rustc).arg("--version").output().ok();
    let version = version.and_then(|output| String::from_utf8(output.stdout).ok());
    set(
        "RUSTC",
        version.as_deref().unwrap_or("an unknown rustc").trim(),
    );
    set("TARGET", &variable("TARGET"));
    set(
        "PROFILE",
        &format!(
            "{}, opt-level {}",
            variable("PROFILE"),
            variable("OPT_LEVEL")
        ),
    );
    let mut features: Vec<String> = env::vars()
        .filter_map(|(name, _)| name.strip_prefix("CARGO_FEATURE_").map(str::to_string))
        .map(|name| name.to_lowercase().replace('_', "-"))
        .collect();
    features.sort();
    set("FEATURES", &features.join(" "));
    println!("cargo::rerun-if-changed=build.rs");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| "unknown".to_string())
}

fn set(name: &str, value: &str) {
    println!("cargo::rustc-env=PRESAGE_BUILD_{name}={value}");
}
