//! `lockctl`: lists, takes and revokes the locks of `lock-runtime` from a shell.

mod args;
mod commands;
mod connection;
mod doctor;
mod exit;
mod job;
mod operator;
mod output;
mod rights;
mod signals;
mod watch;

use std::process::ExitCode;

use self::args::Args;
use self::exit::{Exit, Failure};

fn main() -> ExitCode {
    let args = match Args::parse(std::env::args_os()) {
        Ok(args) => args,
        Err(asked) => {
            // Asking for help or the version is no mistake.
            let exit = if asked.use_stderr() {
                Exit::USAGE
            } else {
                Exit::DONE
            };
            // The reader may be gone.
            let _ = asked.print();
            return exit.into();
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let outcome = runtime.map_err(Failure::from).and_then(|runtime| {
        let outcome = runtime.block_on(commands::run(args));
        // Does not wait for a DNS lookup in flight.
        runtime.shutdown_background();
        outcome
    });
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output::complain(&failure);
            failure.exit().into()
        }
    }
}
