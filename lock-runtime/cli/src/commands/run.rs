//! `run`: a command under a lock.

use std::io::{self, IsTerminal};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use lock_runtime::{LockErrorKind, LockGuard};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::args::{Connection, Run};
use crate::exit::{Exit, Failure};
use crate::operator;
use crate::output::complain;
use crate::signals::{Signals, exit_of};

/// How long a command has to end by itself once its lock is lost.
const TO_END: Duration = Duration::from_secs(5);

pub(crate) async fn run(connection: &Connection, run: Run) -> Result<Exit, Failure> {
    // From before the child exists: a signal that comes a moment later must not end this process alone.
    let mut signals = Signals::listen()?;
    let label = format!("{} run {}", operator::name(), run.command[0].display());
    let client = connection.connect(&label).await?;
    let lock = client.lock(run.key.as_str()).ttl(*run.ttl).wait(*run.wait);
    let acquired = tokio::select! {
        acquired = lock.acquire() => acquired,
        exit = signals.end() => {
            // The place in the queue is left.
            client.shutdown().await;
            return Ok(exit);
        }
    };
    let guard = match acquired {
        Ok(guard) => guard,
        Err(error) if error.kind() == LockErrorKind::Busy => {
            if run.skip {
                return Ok(Exit::DONE);
            }
            complain(&error);
            return Ok(Exit::NOT_RUN);
        }
        Err(error) => return Err(error.into()),
    };
    let exit = under(&guard, &run, &mut signals).await;
    // Also if the command cannot be started.
    let released = guard.release().await;
    client.shutdown().await;
    let exit = exit?;
    match released {
        Ok(()) => Ok(exit),
        Err(error) if error.is_lost() => {
            if exit != Exit::LOST {
                complain(&error);
            }
            Ok(Exit::LOST)
        }
        // The command has done its work, and the lock ends by itself.
        Err(error) => {
            complain(&error);
            Ok(exit)
        }
    }
}

async fn under(guard: &LockGuard, run: &Run, signals: &mut Signals) -> Result<Exit, Failure> {
    let mut child = start(guard, run)?;
    loop {
        tokio::select! {
            ended = child.wait() => return Ok(exit_of_command(ended?)),
            signal = signals.next() => pass(&child, signal),
            () = guard.lost() => {
                complain(&format!("lock `{}` was lost: ending the command", run.key));
                end(&mut child).await?;
                return Ok(Exit::LOST);
            }
        }
    }
}

fn start(guard: &LockGuard, run: &Run) -> Result<Child, Failure> {
    let [program, arguments @ ..] = &run.command[..] else {
        return Err(Failure::new(Exit::USAGE, "no command is given"));
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("LOCK_TOKEN", guard.fencing_token().to_string())
        .env("LOCK_KEY", guard.key())
        .stdin(Stdio::inherit());
    command.spawn().map_err(|error| {
        let exit = match error.kind() {
            io::ErrorKind::NotFound => Exit::NOT_FOUND,
            _ => Exit::NOT_EXECUTABLE,
        };
        Failure::new(exit, format!("{}: {error}", program.display()))
    })
}

fn pass(child: &Child, signal: Signal) {
    // A key pressed in a terminal goes to all processes of the job, the command included.
    let is_typed = matches!(signal, Signal::INT | Signal::QUIT) && io::stdin().is_terminal();
    if !is_typed {
        send(child, signal);
    }
}

fn send(child: &Child, signal: Signal) {
    let id = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
    if let Some(id) = id {
        // It may have ended meanwhile. It was not waited for, so that no other process has its number.
        let _ = kill_process(id, signal);
    }
}

/// Ends a command that must not go on.
async fn end(child: &mut Child) -> Result<(), Failure> {
    send(child, Signal::TERM);
    if timeout(TO_END, child.wait()).await.is_err() {
        child.kill().await?;
    }
    Ok(())
}

/// As a shell says it: a command that a signal ended has 128 and the number of that signal.
fn exit_of_command(ended: ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt;
    match (ended.code(), ended.signal()) {
        (Some(code), _) => Exit::of_child(u8::try_from(code).unwrap_or(u8::MAX)),
        (None, signal) => exit_of(signal.unwrap_or_default()),
    }
}
