//! The compiler's messages about mistakes: one file in `ui/<topic>` for each, beside its output.
//!
//! Most of the wording is the compiler's, and belongs to one version. With another version, every
//! mistake must still be an error, with the macro's own message.

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
        .expect("rustc tells its version");
    let cases = trybuild::TestCases::new();
    cases.pass("ui/pass/*.rs");
    if String::from_utf8_lossy(&version.stdout).starts_with(COMPILER) {
        cases.compile_fail("ui/[!p]*/*.rs");
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
    /// The macro's message, if the error is the macro's.
    sentence: Option<String>,
}

fn mistakes() -> Vec<Mistake> {
    let ui = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui");
    let read = |folder: &Path| {
        let entries = fs::read_dir(folder).expect("a folder of cases");
        entries.map(|entry| entry.expect("an entry").path())
    };
    let files = read(&ui).filter(|topic| topic.file_name() != Some("pass".as_ref()));
    let sources = files
        .flat_map(|topic| read(&topic).collect::<Vec<_>>())
        .filter(|file| file.extension() == Some("rs".as_ref()));
    let mistakes: Vec<_> = sources
        .map(|file| {
            let output = fs::read_to_string(file.with_extension("stderr")).expect("its output");
            let case = file
                .strip_prefix(&ui)
                .expect("it is below")
                .with_extension("");
            Mistake {
                name: case.to_str().expect("a plain name").replace('/', "-"),
                sentence: sentence(&output),
                file,
            }
        })
        .collect();
    assert!(!mistakes.is_empty());
    mistakes
}

/// The first line, if it is the macro's: an error of the macro has no code, and a missing trait is
/// E0277 with the crate's text.
fn sentence(output: &str) -> Option<String> {
    let first = output.lines().next()?;
    let ours = first
        .strip_prefix("error: ")
        .or_else(|| first.strip_prefix("error[E0277]: "))?;
    Some(ours.to_owned())
}

/// A package with a binary for each mistake.
fn package(mistakes: &[Mistake]) -> PathBuf {
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mistakes");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut manifest = format!(
        "[package]\nname = \"mistakes\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         lock-runtime.path = {:?}\ntokio = {{ version = \"1\", features = [\"full\"] }}\ntracing = \"0.1\"\n",
        workspace.join("lock-runtime"),
    );
    for Mistake { name, file, .. } in mistakes {
        manifest += &format!("\n[[bin]]\nname = {name:?}\npath = {file:?}\n");
    }
    fs::create_dir_all(&package).expect("the target folder can be written to");
    fs::write(package.join("Cargo.toml"), manifest).expect("a manifest");
    fs::copy(workspace.join("Cargo.lock"), package.join("Cargo.lock")).expect("the versions");
    package
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
    if let Some(sentence) = &mistake.sentence {
        assert!(said.contains(sentence), "{}: {said}", mistake.name);
    }
}
