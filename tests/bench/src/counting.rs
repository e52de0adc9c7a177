//! Runs `lock-counting`, which counts allocations.
//!
//! It is a program of its own, since counting costs time at each allocation.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const NAME: &str = "lock-counting";

/// Builds it with the profile of this program.
pub(crate) fn build() {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args([
        "build",
        "--quiet",
        "--locked",
        "--package",
        "lock-bench",
        "--bin",
        NAME,
    ]);
    cargo.args([
        "--manifest-path",
        concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
    ]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let path = path();
    let target = path
        .ancestors()
        .nth(2)
        .expect("it is in a folder for its profile");
    let status = cargo.arg("--target-dir").arg(target).status();
    let built = status.expect("cargo is installed").success();
    assert!(built, "{NAME} does not compile");
}

/// The numbers in its answer.
pub(crate) fn ask<const N: usize>(args: &[&str]) -> [f64; N] {
    let mut program = Command::new(path());
    let output = program.args(args).stderr(Stdio::inherit()).output();
    let output = output.expect("it was built");
    assert!(output.status.success(), "{NAME} {args:?} failed");
    let answer = String::from_utf8(output.stdout).expect("it is text");
    let numbers: Result<Vec<f64>, _> = answer.split_whitespace().map(str::parse).collect();
    let numbers = numbers.expect("they are numbers");
    numbers.try_into().expect("there are so many")
}

/// Its path, beside this program.
fn path() -> PathBuf {
    let program = env::current_exe().expect("a program knows where it is");
    program.with_file_name(format!("{NAME}{}", env::consts::EXE_SUFFIX))
}
