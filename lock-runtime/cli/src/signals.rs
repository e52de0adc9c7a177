//! The signals that this process gets.

use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::exit::{Exit, Failure};

/// Those that a command under a lock is passed. All others end this process, or stop it, as they would any other.
const HEARD: [Signal; 6] = [
    Signal::HUP,
    Signal::INT,
    Signal::QUIT,
    Signal::TERM,
    Signal::USR1,
    Signal::USR2,
];

/// The signals that come, from when this was made.
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

    /// Hears one more signal.
    pub(crate) fn hear(&self, number: Signal) -> Result<(), Failure> {
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
            // Never: one sender is here.
            None => std::future::pending().await,
        }
    }

    /// Completes when this process is to end, with its exit code.
    pub(crate) async fn end(&mut self) -> Exit {
        loop {
            let signal = self.next().await;
            if !matches!(signal, Signal::USR1 | Signal::USR2) {
                return exit_of(signal.as_raw());
            }
        }
    }
}

/// The exit code for a signal that ended a process, as a shell says it.
pub(crate) fn exit_of(signal: i32) -> Exit {
    Exit::of_child(u8::try_from(128 + signal).unwrap_or(u8::MAX))
}
