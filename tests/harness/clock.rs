//! Wall clocks that a test can step.

use std::ffi::OsStr;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs, process};

use tempfile::NamedTempFile;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/harness/clock.c");

/// The wall clock of one program, which runs as the machine's does until it is stepped.
///
/// It is a shared library that the program's loader puts before the C library; see `clock.c`.
#[derive(Debug)]
pub struct Clock {
    offset: NamedTempFile,
}

impl Clock {
    /// A clock that agrees with the machine's.
    ///
    /// # Panics
    ///
    /// When there is no C compiler.
    pub fn new() -> Self {
        let offset = NamedTempFile::with_prefix("lock-clock-").expect("a file can be made");
        let clock = Self { offset };
        clock.step(0);
        clock
    }

    /// Sets it so many seconds before or behind the machine's.
    pub fn step(&self, seconds: i64) {
        let micros = seconds * 1_000_000;
        // In place: a file that is cut short for a moment would be a bus error for who maps it.
        let written = self.offset.as_file().write_all_at(&micros.to_ne_bytes(), 0);
        written.expect("the file can be written");
    }

    /// What a program that goes by this clock needs in its environment.
    pub(crate) fn environment(&self) -> [(&'static str, &OsStr); 2] {
        let offset = self.offset.path().as_os_str();
        [
            ("LD_PRELOAD", library().as_os_str()),
            ("LOCK_CLOCK", offset),
        ]
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

/// The library, compiled once a process and put beside the test program.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let program = env::current_exe().expect("a program knows where it is");
        let own = program.with_file_name(format!("lock-clock-{}.so", process::id()));
        let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
        let status = Command::new(compiler)
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&own)
            .arg(SOURCE)
            .status();
        let compiled = status.is_ok_and(|status| status.success());
        assert!(
            compiled,
            "the clock needs a C compiler: cc, or name one in CC"
        );
        // Another test may be using the file: it keeps what it has mapped.
        let shared = program.with_file_name("lock-clock.so");
        fs::rename(own, &shared).expect("a file can be renamed in its folder");
        shared
    })
}
