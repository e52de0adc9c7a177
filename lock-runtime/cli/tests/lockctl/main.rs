//! `lockctl` as a program, against real servers.

mod doctor;
mod hold;
mod long;
mod many;
mod places;
mod refusals;
mod revoke;
mod rights;
mod run;
mod runs;
mod see;
mod unfit;
mod usage;
mod watch;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use harness::{LONG, RedisServer, wait_until};

/// A program with the default handling of signals. Otherwise it would inherit ignored signals from these tests: a shell
/// that starts them in the background makes them ignore SIGINT.
fn obedient(program: &str) -> Command {
    let mut command = Command::new("env");
    command.arg("--default-signal").arg(program);
    command
}

/// The program, with the locks of this server.
fn lockctl(server: &RedisServer, arguments: &[&str]) -> Command {
    let mut command = obedient(env!("CARGO_BIN_EXE_lockctl"));
    command
        .args(arguments)
        .env_remove("LOCK_PREFIX")
        .env_remove("LOCK_RECORD")
        .env_remove("LOCK_PASSWORD_FILE")
        .env_remove("LOCK_BY")
        .env("LOCK_URL", server.url())
        .stdin(Stdio::null());
    command
}

/// Runs the program to its end.
#[track_caller]
fn done(server: &RedisServer, arguments: &[&str]) -> Output {
    lockctl(server, arguments)
        .output()
        .expect("the program starts")
}

/// A running program. It is killed on drop.
struct Running(Child);

impl Running {
    fn start(mut command: Command) -> Running {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Running(child.spawn().expect("the program starts"))
    }

    /// Waits for the next line of its output.
    fn lines(&mut self) -> impl Iterator<Item = String> + use<> {
        let out = self.0.stdout.take().expect("it is read once");
        BufReader::new(out).lines().map_while(Result::ok)
    }

    #[track_caller]
    fn ended(&mut self) -> ExitStatus {
        let mut ended = None;
        wait_until("end of lockctl", LONG, || {
            ended = self.0.try_wait().expect("the state of a child can be read");
            ended.is_some()
        });
        ended.expect("it has ended")
    }

    fn send(&self, signal: rustix::process::Signal) {
        let id = self.0.id().try_into().expect("an id is small");
        let id = rustix::process::Pid::from_raw(id).expect("an id is no zero");
        rustix::process::kill_process(id, signal).expect("it has not been waited for");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
