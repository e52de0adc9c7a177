//! The wall clock of a process under test.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;

const SHIM: &str = include_str!("clock_shim.c");

/// A wall clock that the test steps while the process runs. Monotonic clocks are unaffected.
///
/// Needs `cc` and a dynamic linker that supports `LD_PRELOAD`.
#[derive(Debug)]
pub struct Clock {
    folder: TempDir,
    file: File,
    setting: Mutex<Setting>,
}

#[derive(Debug, Clone, Copy)]
struct Setting {
    micros: i64,
    stands_still: bool,
}

impl Clock {
    /// A clock that shows the true time.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("lock-tests-clock-")
            .tempdir()
            .expect("a temporary folder can be made");
        compile(folder.path().join("shim.so"));
        let file = File::create(folder.path().join("setting")).expect("a file can be made");
        let setting = Setting {
            micros: 0,
            stands_still: false,
        };
        setting.write_to(&file);
        Self {
            folder,
            file,
            setting: Mutex::new(setting),
        }
    }

    /// Makes a process and its children use this clock.
    pub fn rule(&self, process: &mut Command) {
        process
            .env("LD_PRELOAD", self.folder.path().join("shim.so"))
            .env("LOCK_TEST_CLOCK", self.folder.path().join("setting"));
    }

    pub fn forward(&self, by: Duration) {
        self.set(|setting| setting.micros += micros(by));
    }

    pub fn back(&self, by: Duration) {
        self.set(|setting| setting.micros -= micros(by));
    }

    /// Stops the clock: from now on it moves only when the test steps it.
    pub fn stop(&self) {
        self.set(|setting| {
            if !setting.stands_still {
                setting.stands_still = true;
                setting.micros += true_time();
            }
        });
    }

    /// The time that the clock shows, in µs since 1970.
    pub fn now(&self) -> i64 {
        let setting = *self.setting.lock().expect("no change panics");
        if setting.stands_still {
            setting.micros
        } else {
            setting.micros + true_time()
        }
    }

    fn set(&self, change: impl FnOnce(&mut Setting)) {
        let mut setting = self.setting.lock().expect("no change panics");
        change(&mut setting);
        setting.write_to(&self.file);
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

impl Setting {
    /// Writes the setting to the file that the process maps, so that its next clock read sees the
    /// change.
    fn write_to(self, file: &File) {
        let word = 2 * self.micros + i64::from(self.stands_still);
        file.write_all_at(&word.to_ne_bytes(), 0)
            .expect("the setting can be written");
    }
}

fn compile(shim: PathBuf) {
    let mut compiler = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-x", "c"])
        .args(["-", "-o"])
        .arg(shim)
        .stdin(Stdio::piped())
        .spawn()
        .expect("a C compiler is installed as `cc`");
    let mut source = compiler.stdin.take().expect("its input is a pipe");
    source
        .write_all(SHIM.as_bytes())
        .expect("the compiler reads");
    drop(source);
    let status = compiler.wait().expect("a child can be waited for");
    assert!(status.success(), "the clock shim does not compile");
}

fn micros(duration: Duration) -> i64 {
    duration
        .as_micros()
        .try_into()
        .expect("no step takes that long")
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test steps the wall clock of servers, and starts from the true one"
)]
fn true_time() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    micros(now.expect("it is after 1970"))
}
