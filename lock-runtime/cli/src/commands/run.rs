//! `run`: runs a command under a lock.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};

use lock_runtime::{FencingToken, LockErrorKind, LockGuard};
use rustix::process::Signal;
use tokio::process::Command;

use crate::args::{Connection, Run};
use crate::exit::{Exit, Failure};
use crate::job::Job;
use crate::operator;
use crate::output::complain;
use crate::signals::{Signals, exit_of};

pub(crate) async fn run(connection: &Connection, run: Run) -> Result<Exit, Failure> {
    connection.exclude_others()?;
    // Installed before the child starts, so that a signal in between cannot end this process alone.
    let mut signals = Signals::listen()?;
    let (key, program, arguments) = run.parts()?;
    let label = format!(
        "{} run {}",
        operator::at_host(connection.operator()),
        program.display()
    );
    let client = match connection.connect_or_end(&label, &mut signals).await? {
        Ok(client) => client,
        Err(exit) => return Ok(exit),
    };
    let mut lock = client.lock(key).ttl(*run.ttl).wait(*run.wait).fenced();
    if let Some(runs) = run.runs {
        lock = lock.runs(runs);
    }
    let acquired = tokio::select! {
        acquired = lock.acquire() => acquired,
        exit = signals.end() => {
            // Leaves the queue.
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
    let mut command = Command::new(program);
    command.args(arguments);
    let exit = under(&guard, command, &mut signals).await;
    if !matches!(exit, Ok(Exit::DONE)) && guard.is_valid() {
        guard.mark_failed();
    }
    // Releases even if the command could not be started.
    let released = guard.release().await;
    client.shutdown().await;
    let exit = exit?;
    match released {
        Ok(()) => Ok(exit),
        // The error names the reason and the operator. It is printed only after the command has ended, since the reader of
        // standard error may block this process.
        Err(error) if error.is_lost() => {
            complain(&error);
            Ok(Exit::LOST)
        }
        // The command has done its work, and the lock expires.
        Err(error) => {
            complain(&error);
            Ok(exit)
        }
    }
}

async fn under(
    guard: &LockGuard,
    command: Command,
    signals: &mut Signals,
) -> Result<Exit, Failure> {
    // If this process stops, so must the command: nobody renews the lock.
    signals.hear(Signal::TSTP)?;
    signals.hear(Signal::CONT)?;
    let token = guard.fencing_token().await?;
    let mut job = start(guard, token, command)?;
    let mut is_told = false;
    let ended = loop {
        tokio::select! {
            ended = job.ended() => break ended?,
            signal = signals.next() => {
                is_told |= is_end(signal);
                pass(&job, guard, signal);
            }
            () = guard.lost() => return lost(&mut job).await,
        }
    };
    // Processes that outlive a command that ended by itself are not under the lock. A command that a signal ended may not
    // have waited for its workers.
    if is_told || ended.signal().is_some() {
        tokio::select! {
            ended = job.end_rest() => ended?,
            () = guard.lost() => return lost(&mut job).await,
        }
    }
    Ok(exit_of_command(ended))
}

/// Ends a command whose lock was lost. Reports nothing before: a reader of standard error that has stopped reading would keep
/// the command running.
async fn lost(job: &mut Job) -> Result<Exit, Failure> {
    job.end().await?;
    Ok(Exit::LOST)
}

fn start(guard: &LockGuard, token: FencingToken, mut command: Command) -> Result<Job, Failure> {
    let program = command.as_std().get_program().display().to_string();
    command
        .env("LOCK_TOKEN", token.to_string())
        .env("LOCK_KEY", guard.key())
        .stdin(Stdio::inherit());
    Job::start(command).map_err(|error| {
        let exit = match error.kind() {
            io::ErrorKind::NotFound => Exit::NOT_FOUND,
            _ => Exit::NOT_EXECUTABLE,
        };
        Failure::new(exit, format!("{program}: {error}"))
    })
}

fn pass(job: &Job, guard: &LockGuard, signal: Signal) {
    match signal {
        // The lock may have expired during the stop: then the command must end, too.
        Signal::CONT if !guard.is_valid() => {}
        Signal::CONT => job.go_on(),
        signal => job.send(signal),
    }
}

/// Returns whether a signal asks a command to end.
fn is_end(signal: Signal) -> bool {
    matches!(
        signal,
        Signal::HUP | Signal::INT | Signal::QUIT | Signal::TERM
    )
}

/// The exit code of a shell: 128 plus the signal's number if a signal ended the command.
fn exit_of_command(ended: ExitStatus) -> Exit {
    match (ended.code(), ended.signal()) {
        (Some(code), _) => Exit::of_child(u8::try_from(code).unwrap_or(u8::MAX)),
        (None, signal) => exit_of(signal.unwrap_or_default()),
    }
}
