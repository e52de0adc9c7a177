//! Programs that are measured, or that measure, from outside.

use std::env;
use std::path::PathBuf;
use std::process::Command;

/// A program of this workspace, beside this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    package: &'static str,
    name: &'static str,
}

impl Program {
    /// Counts allocations: counting costs time at each, which would be part of the other figures.
    pub(crate) const COUNTING: Program = Program {
        package: env!("CARGO_PKG_NAME"),
        name: "lock-counting",
    };

    /// What operators use.
    pub(crate) const LOCKCTL: Program = Program {
        package: "lock-cli",
        name: "lockctl",
    };

    /// Builds it with the profile of this program.
    pub(crate) fn build(self) {
        let Program { package, name } = self;
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--quiet", "--locked"]);
        cargo.args(["--package", package, "--bin", name]);
        cargo.args([
            "--manifest-path",
            concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        ]);
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        let path = self.path();
        let target = path
            .ancestors()
            .nth(2)
            .expect("it is in a folder for its profile");
        let status = cargo.arg("--target-dir").arg(target).status();
        let built = status.expect("cargo is installed").success();
        assert!(built, "{name} does not compile");
    }

    /// Starts it, once it was built.
    pub(crate) fn command(self) -> Command {
        Command::new(self.path())
    }

    /// Where it is, once it was built.
    pub(crate) fn path(self) -> PathBuf {
        let program = env::current_exe().expect("a program knows where it is");
        program.with_file_name(format!("{}{}", self.name, env::consts::EXE_SUFFIX))
    }
}
