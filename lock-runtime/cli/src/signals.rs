//! Receives signals.

use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::exit::{Exit, Failure};

/// Signals that are forwarded to a command under a lock. All others have their default effect on this process.
const HEARD: [Signal; 6] = [
    Signal::HUP,
    Signal::INT,
    Signal::QUIT,
    Signal::TERM,
    Signal::USR1,
    Signal::USR2,
];

/// The signals since this was created.
pub(crate) struct Signals {
    sender: mpsc::UnboundedSender<Signal>,
    receiver: mpsc::UnboundedReceiver<Signal>,
}

impl Signals {
    pub(crate) fn listen() -> Result<Signals, Failure> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let signals = Signals { sender, receiver };
        for number in HEARD {
            signals.hear(number)?;
        }
        Ok(signals)
    }

    /// Also receives this signal, unless it was ignored when this process started, as under `nohup`.
    pub(crate) fn hear(&self, number: Signal) -> Result<(), Failure> {
        if is_ignored(number) {
            return Ok(());
        }
        let mut coming = signal(SignalKind::from_raw(number.as_raw()))?;
        let sender = self.sender.clone();
        tokio::spawn(async move {
            while coming.recv().await.is_some() && sender.send(number).is_ok() {}
        });
        Ok(())
    }

    pub(crate) async fn next(&mut self) -> Signal {
        match self.receiver.recv().await {
            Some(signal) => signal,
            // Never: this struct has a sender.
            None => std::future::pending().await,
        }
    }

    /// Completes when a signal asks this process to end, with the exit code.
    pub(crate) async fn end(&mut self) -> Exit {
        loop {
            let signal = self.next().await;
            if !matches!(signal, Signal::USR1 | Signal::USR2) {
                return exit_of(signal.as_raw());
            }
        }
    }
}

/// Returns whether a signal is ignored. Only Linux reports it.
fn is_ignored(signal: Signal) -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| is_in(&status, signal))
}

/// Returns whether a `/proc/self/status` lists a signal as ignored: signal 1 is the lowest bit.
fn is_in(status: &str, signal: Signal) -> bool {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (signal.as_raw() - 1) & 1 == 1)
}

/// The exit code of a process that a signal ended, like a shell's.
pub(crate) fn exit_of(signal: i32) -> Exit {
    Exit::of_child(u8::try_from(128 + signal).unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read() {
        // HUP and INT, and the SIGPIPE that Rust ignores.
        let status = "Name:\tlockctl\nSigBlk:\t0000000000000008\nSigIgn:\t0000000000001003\n";
        let ignored = HEARD.map(|signal| is_in(status, signal));
        assert_eq!(ignored, [true, true, false, false, false, false]);
        assert!(!is_in("Name:\tlockctl\n", Signal::HUP));
    }
}
