//! The attribute: on functions of every shape, the effect of each option, and its misuse. All in memory; `lock-tests`
//! has the tests that need a server.
//!
//! `functions::check` installs the client of the process. The tests of options make clients of their own.

#![deny(warnings, unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

mod edition;
mod functions;
mod lints;
mod mistakes;
mod options;

/// A package that depends on the crate. `rest` ends its manifest, in the section of its dependencies.
fn package(name: &str, rest: &str) -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let manifest = format!(
        "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nlock-runtime.path = {:?}\n{rest}",
        workspace.join("lock-runtime"),
    );
    fs::create_dir_all(&package).expect("the target folder can be written to");
    fs::write(package.join("Cargo.toml"), manifest).expect("a manifest");
    fs::copy(workspace.join("Cargo.lock"), package.join("Cargo.lock")).expect("the versions");
    package
}
