//! The program `lock-counting`, which counts allocations: counting costs time at each, which would be part of the other
//! figures.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const NAME: &str = "lock-counting";

/// The numbers in its answer.
pub(crate) fn ask<const N: usize>(args: &[&str]) -> [f64; N] {
    let mut program = Command::new(path());
    let output = program.args(args).stderr(Stdio::inherit()).output();
    let output = output.expect("it was built");
    assert!(output.status.success(), "{NAME} {args:?} failed");
    let answer = String::from_utf8(output.stdout).expect("it is text");
    let numbers = answer
        .split_whitespace()
        .map(|word| word.parse().expect("a number"));
    let numbers: Vec<f64> = numbers.collect();
    numbers.try_into().expect("there are so many")
}

/// Builds it with the profile of this program.
pub(crate) fn build() {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--locked", "--bin", NAME]);
    cargo.args([
        "--manifest-path",
        concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
    ]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let path = path();
    let target = path.ancestors().nth(2);
    let target = target.expect("it is in a folder for its profile");
    let status = cargo.arg("--target-dir").arg(target).status();
    let built = status.expect("cargo is installed").success();
    assert!(built, "{NAME} does not compile");
}

/// Beside this program.
fn path() -> PathBuf {
    let program = env::current_exe().expect("a program knows where it is");
    program.with_file_name(format!("{NAME}{}", env::consts::EXE_SUFFIX))
}
