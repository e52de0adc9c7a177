//! Packages of other languages, installed in cargo's folder for tests.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A Python that can import `modules`; installs these packages for it.
pub(crate) fn python(folder: &str, packages: &[&str], modules: &str) -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let python = folder.join("bin/python");
    let imports = format!("import {modules}");
    if run(Command::new(&python).args(["-c", &imports])).is_err() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let pip = ["-m", "pip", "install", "--quiet"];
        run(Command::new(&python).args(pip).args(packages))?;
    }
    Ok(python)
}

/// A folder with these packages of npm, each with its version.
pub(crate) fn node(folder: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let is_there = packages.iter().all(|package| {
        let (name, _) = package.split_once('@').expect("it has a version");
        folder.join("node_modules").join(name).exists()
    });
    if !is_there {
        let npm = [
            "install",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--prefix",
        ];
        run(Command::new("npm").args(npm).arg(&folder).args(packages))?;
    }
    run(Command::new("node").arg("--version"))?;
    Ok(folder)
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let text = || String::from_utf8_lossy(&output.stderr).into_owned();
    output.status.success().then_some(()).ok_or_else(text)
}

/// The path that was installed. If `what` could not be installed, the run prints the test's name; with the variable
/// set, it fails.
pub(crate) fn installed<'a>(
    installed: &'a Result<PathBuf, String>,
    what: &str,
    variable: &str,
    test: &str,
) -> Option<&'a Path> {
    let reason = match installed {
        Ok(path) => return Some(path),
        Err(reason) => reason,
    };
    let required = std::env::var_os(variable).is_some();
    assert!(!required, "{what} cannot be installed: {reason}");
    // Not printed by a macro, since the output of passing tests is hidden.
    let told = writeln!(std::io::stderr(), "{test} DID NOT RUN, no {what}: {reason}");
    told.expect("stderr is open");
    None
}

/// A path as an argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("it is text")
}
