//! `hold`: holds a lock for a while.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::args::{Connection, Hold};
use crate::exit::{Exit, Failure};
use crate::operator;
use crate::output::{Form, complain, escape, print};
use crate::signals::Signals;

/// Printed once the lock is held.
#[derive(Debug, Serialize)]
struct Held<'a> {
    key: &'a str,
    token: u64,
    /// How long the lock is held, unless a signal or a loss ends it earlier (ms).
    hold_ms: u64,
}

impl fmt::Display for Held<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = humantime::format_duration(Duration::from_millis(self.hold_ms));
        let (key, token) = (escape(self.key), self.token);
        write!(f, "holding `{key}` for {time} with token {token}")
    }
}

pub(crate) async fn hold(connection: &Connection, hold: Hold, form: Form) -> Result<Exit, Failure> {
    connection.exclude_others()?;
    let mut signals = Signals::listen()?;
    let label = format!(
        "{}: {}",
        operator::at_host(connection.operator()),
        hold.reason
    );
    let client = match connection.connect_or_end(&label, &mut signals).await? {
        Ok(client) => client,
        Err(exit) => return Ok(exit),
    };
    let lock = client.lock(hold.key.as_str()).wait(*hold.wait).fenced();
    let guard = tokio::select! {
        acquired = lock.acquire() => acquired?,
        exit = signals.end() => {
            // Leaves the queue.
            client.shutdown().await;
            return Ok(exit);
        }
    };
    let held = Held {
        key: guard.key(),
        token: guard.fencing_token().await?.get(),
        hold_ms: u64::try_from(hold.time.as_millis()).unwrap_or(u64::MAX),
    };
    let printed = print(form, &held);
    if printed.is_ok() {
        tokio::select! {
            () = tokio::time::sleep(*hold.time) => {}
            _ = signals.end() => {}
            () = guard.lost() => {}
        }
    }
    let released = guard.release().await;
    client.shutdown().await;
    printed?;
    match released {
        Err(error) if error.is_lost() => Err(error.into()),
        // The lock expires.
        Err(error) => {
            complain(&error);
            Ok(Exit::DONE)
        }
        Ok(()) => Ok(Exit::DONE),
    }
}
