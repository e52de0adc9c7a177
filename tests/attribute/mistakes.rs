//! The compiler's messages about mistakes: a file in `ui` for each kind, with its output next to it. A file has only
//! mistakes that the compiler finds at the same time, since the first kind of errors hides the next.
//!
//! Most of the wording is the compiler's, and differs between versions. With another version, every mistake must still
//! be an error, with the macro's own message.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler version of the `.stderr` files.
const COMPILER: &str = "rustc 1.95.";

#[test]
fn mistakes_are_explained() {
    let version = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .arg("--version")
        .output()
        .expect("rustc reports its version");
    let cases = trybuild::TestCases::new();
    if String::from_utf8_lossy(&version.stdout).starts_with(COMPILER) {
        cases.compile_fail("ui/*.rs");
    } else {
        let note = "ui: another compiler than 1.95 words its messages differently; only ours are looked for";
        writeln!(std::io::stderr(), "{note}").expect("stderr is open");
        let mistakes = mistakes();
        let package = package(&mistakes);
        for mistake in &mistakes {
            check(&package, mistake);
        }
    }
}

/// A file that must not compile.
struct Mistake {
    name: String,
    file: PathBuf,
    /// The macro's messages.
    sentences: Vec<String>,
}

fn mistakes() -> Vec<Mistake> {
    let ui = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui");
    let files = fs::read_dir(ui).expect("a folder of cases");
    let files = files.map(|entry| entry.expect("an entry").path());
    let mistakes: Vec<_> = files
        .filter(|file| file.extension() == Some("rs".as_ref()))
        .map(|file| {
            let output = fs::read_to_string(file.with_extension("stderr")).expect("its output");
            let name = file.file_stem().and_then(|name| name.to_str());
            Mistake {
                name: name.expect("a plain name").to_owned(),
                sentences: output.lines().filter_map(sentence).collect(),
                file,
            }
        })
        .collect();
    assert!(!mistakes.is_empty());
    mistakes
}

/// The message, if it comes from the macro: an error of the macro has no code, and a missing trait is E0277 with the
/// crate's text.
fn sentence(line: &str) -> Option<String> {
    let ours = line
        .strip_prefix("error: ")
        .or_else(|| line.strip_prefix("error[E0277]: "))?;
    Some(ours.to_owned())
}

/// A package with a binary for each mistake.
fn package(mistakes: &[Mistake]) -> PathBuf {
    let others = "tokio = { version = \"1\", features = [\"full\"] }\ntracing = \"0.1\"\n";
    let mut rest = others.to_owned();
    for Mistake { name, file, .. } in mistakes {
        rest += &format!("\n[[bin]]\nname = {name:?}\npath = {file:?}\n");
    }
    crate::package("mistakes", &rest)
}

fn check(package: &Path, mistake: &Mistake) {
    let output = Command::new(env!("CARGO"))
        .args(["check", "--quiet", "--bin", &mistake.name])
        .current_dir(package)
        .env("CARGO_TARGET_DIR", package.join("target"))
        .output()
        .expect("cargo runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{} compiles", mistake.name);
    for sentence in &mistake.sentences {
        assert!(said.contains(sentence), "{}: {said}", mistake.name);
    }
}
