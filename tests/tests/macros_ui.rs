//! What the compiler says about mistakes: one file in `ui/<topic>` for each, beside its output.

use std::io::Write;
use std::process::Command;

/// The compiler whose wording the `.stderr` files have. The wording of our own messages is tested
/// in the macro crate as well, with any compiler.
const COMPILER: &str = "rustc 1.95.";

#[test]
fn mistakes_are_explained() {
    let version = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .arg("--version")
        .output()
        .expect("rustc tells its version");
    let cases = trybuild::TestCases::new();
    cases.pass("ui/pass/*.rs");
    if String::from_utf8_lossy(&version.stdout).starts_with(COMPILER) {
        cases.compile_fail("ui/[!p]*/*.rs");
    } else {
        let note = "ui: another compiler than 1.95 words its messages differently; not compared";
        writeln!(std::io::stderr(), "{note}").expect("stderr is open");
    }
}
