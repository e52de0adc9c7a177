//! The compiler's messages about mistakes: a file in `ui` for each kind, with its output next to it. A file has only
//! mistakes that the compiler finds at the same time, since the first kind of errors hides the next.
//!
//! The compiler is called without cargo, on the libraries that this test was built with: nothing is compiled twice, and
//! the user's flags and configuration do not matter. `STDERR=write cargo test -p lock-attribute` rewrites the outputs.
//!
//! Most of the wording is the compiler's, and differs between versions. With another version, every mistake must still
//! be an error, with the macro's own message.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs, io};

/// The compiler version of the `.stderr` files.
const COMPILER: &str = "rustc 1.95.";

#[test]
fn mistakes_are_explained() {
    let compiler = Compiler::new();
    let is_worded_alike = compiler.version().starts_with(COMPILER);
    if !is_worded_alike {
        let note = "ui: another compiler than 1.95 words its messages differently; only ours are looked for";
        writeln!(io::stderr(), "{note}").expect("stderr is open");
    }
    let mut wrong = String::new();
    for file in files() {
        let output = file.with_extension("stderr");
        let said = compiler.says(&file);
        if env::var_os("STDERR").is_some_and(|what| what == "write") {
            fs::write(&output, &said).expect("the folder can be written to");
            continue;
        }
        let expected = fs::read_to_string(&output).expect("a file with its output");
        let agrees = if is_worded_alike {
            without_gutters(&said) == without_gutters(&expected)
        } else {
            let mut sentences = expected.lines().filter_map(sentence);
            sentences.all(|sentence| said.contains(sentence))
        };
        if !agrees {
            wrong += &format!("\n{}\n\n{said}\ninstead of\n\n{expected}", file.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The files with mistakes.
fn files() -> Vec<PathBuf> {
    let files = fs::read_dir("ui").expect("a folder of mistakes");
    let files = files.map(|file| file.expect("it can be listed").path());
    let mut files: Vec<_> = files
        .filter(|file| file.extension() == Some("rs".as_ref()))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// The message, if it comes from the macro: an error of the macro has no code, and a missing trait is E0277 with the
/// crate's text.
fn sentence(line: &str) -> Option<&str> {
    let ours = line.strip_prefix("error: ");
    ours.or_else(|| line.strip_prefix("error[E0277]: "))
}

struct Compiler {
    /// The folder with all compiled libraries.
    libraries: PathBuf,
    /// Those that the files use.
    used: Vec<String>,
    output: tempfile::TempDir,
}

impl Compiler {
    fn new() -> Self {
        let test = env::current_exe().expect("the path of this test");
        let mut compiler = Self {
            libraries: test.parent().expect("its folder").to_owned(),
            used: Vec::new(),
            output: tempfile::tempdir().expect("a temporary folder"),
        };
        for name in ["lock_runtime", "tokio", "tracing"] {
            let found = compiler.library(name);
            compiler.used.push(format!("{name}={}", found.display()));
        }
        compiler
    }

    /// The library of this name that was compiled last, of those that this compiler can read: the folder may have some of
    /// other compilers, and of other features.
    fn library(&self, name: &str) -> PathBuf {
        let listed = fs::read_dir(&self.libraries).expect("the folder of libraries");
        let listed = listed.map(|file| file.expect("it can be listed").path());
        let mut found: Vec<(SystemTime, PathBuf)> = listed
            .filter(|file| {
                let file = file.file_name().and_then(|file| file.to_str());
                let rest = file.and_then(|file| file.strip_prefix("lib")?.strip_prefix(name));
                rest.is_some_and(|rest| rest.starts_with('-') && rest.ends_with(".rlib"))
            })
            .map(|file| {
                let about = fs::metadata(&file).and_then(|about| about.modified());
                (about.expect("the time of its compilation"), file)
            })
            .collect();
        found.sort();
        let probe = self.output.path().join("probe.rs");
        // An older build may lack the features that the files use.
        let program = match name {
            "lock_runtime" => {
                "use lock_runtime::{KeyPart, LockClient, LockKey, distributed_lock}; #[derive(LockKey)] #[lock_key(\"a\")] struct A; fn main() {}"
            }
            "tokio" => "use tokio::{task::JoinHandle, test}; #[tokio::main] async fn main() {}",
            _ => "use tracing::{Instrument, info_span}; fn main() {}",
        };
        fs::write(&probe, format!("#![allow(unused)] {program}")).expect("a probe");
        let mut newest_first = found.into_iter().rev().map(|(_, file)| file);
        let readable = newest_first.find(|file| {
            let mut probed = self.command(&probe);
            probed
                .arg("--extern")
                .arg(format!("{name}={}", file.display()));
            let probed = probed.output().expect("the compiler runs");
            probed.status.success()
        });
        readable.unwrap_or_else(|| panic!("no {name} in {}", self.libraries.display()))
    }

    /// The folder with the libraries of a build without a `build.target`: target/debug/deps.
    fn of_the_host(&self) -> PathBuf {
        let profile = self.libraries.parent().and_then(Path::file_name);
        let profile = profile.expect("target/…/debug/deps has a profile");
        self.libraries.join("../../..").join(profile).join("deps")
    }

    fn command(&self, file: &Path) -> Command {
        let mut command = rustc();
        command
            .args([
                "--edition",
                "2024",
                "--crate-type",
                "bin",
                "--emit",
                "metadata",
            ])
            .args(["--color", "never", "--verbose", "-L"])
            .arg(format!("dependency={}", self.libraries.display()))
            // With a `build.target`, macros are compiled for the host, into another folder.
            .arg("-L")
            .arg(format!("dependency={}", self.of_the_host().display()))
            .arg("--out-dir")
            .arg(self.output.path())
            .arg(file);
        command
    }

    fn version(&self) -> String {
        let version = rustc().arg("--version").output();
        let version = version.expect("the compiler runs").stdout;
        String::from_utf8(version).expect("its version is text")
    }

    /// What the compiler says of a file that it refuses.
    fn says(&self, file: &Path) -> String {
        let mut command = self.command(file);
        for library in &self.used {
            command.arg("--extern").arg(library);
        }
        let output = command.output().expect("the compiler runs");
        assert!(!output.status.success(), "{} compiles", file.display());
        of_the_file(&String::from_utf8(output.stderr).expect("messages are text"))
    }
}

fn rustc() -> Command {
    Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

/// The messages without what differs between machines: places in libraries, which are quoted only where the sources of
/// the standard library are installed, and the types that implement a trait, which depend on features. Without the
/// summary, too.
fn of_the_file(said: &str) -> String {
    let mut kept = String::new();
    let (mut in_library, mut in_list) = (false, false);
    for line in said.lines() {
        let start = line.trim_start();
        let begins = |words: &[&str]| words.iter().any(|word| start.starts_with(word));
        if begins(&[
            "error: aborting",
            "Some errors have",
            "For more information about",
        ]) {
            break;
        }
        if let Some(place) = start.strip_prefix("--> ").or(start.strip_prefix("::: ")) {
            in_library = !place.starts_with("ui/");
        } else if !begins(&["|", "..."]) && !start.starts_with(|first: char| first.is_ascii_digit())
        {
            in_library = false;
        }
        in_list &= !start.is_empty() && !begins(&["= ", "--> ", "note: ", "help: ", "error"]);
        if !in_library && !in_list {
            kept.push_str(line.trim_end());
            kept.push('\n');
        }
        in_list |= start.contains("the following other types implement trait");
    }
    kept.truncate(kept.trim_end().len());
    kept + "\n"
}

/// The lines without their indentation, which depends on the line numbers in libraries.
fn without_gutters(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| match line.split_once('|') {
        Some((gutter, code))
            if gutter
                .bytes()
                .all(|byte| byte == b' ' || byte.is_ascii_digit()) =>
        {
            format!("{} |{code}", gutter.trim())
        }
        _ => line.trim_start().to_owned(),
    });
    lines.collect()
}

/// The component `rust-src` makes the compiler quote the standard library, which widens the margin of the whole message.
#[test]
fn installed_library_sources_make_no_difference() {
    let message = |margin: &str, library: &str| {
        let lines = [
            "error[E0308]: mismatched types",
            &format!("{margin}--> ui/type_errors.rs:6:19"),
            &format!("{margin} |"),
            &format!("{}6 |         return Ok(\"zero\");", &margin[1..]),
            &format!("{margin} |                -- ^^^^^^ expected `u64`, found `&str`"),
            "note: tuple variant defined here",
            &format!("{margin}--> {library}"),
            "",
            "error: aborting due to 1 previous error",
        ];
        without_gutters(&of_the_file(&lines.join("\n")))
    };
    let without = message(" ", "/rustc/59807616e1fa/library/core/src/result.rs:561:5");
    let with = message(
        "   ",
        "/home/ann/lib/rustlib/src/rust/library/core/src/result.rs:561:5\n    |\n561 |     Ok(T),\n    |     ^^",
    );
    assert_eq!(without, with);
    assert_eq!(with.len(), 6, "{with:#?}");
}
