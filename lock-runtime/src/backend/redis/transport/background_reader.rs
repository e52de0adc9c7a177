//! The background's reading of a connection.
//!
//! The background reads while commands come from senders without a reader of their own, and when no reader has
//! sent for a while. It also reads when a command has been pending for a while, since a runtime may be blocked and
//! its reader task not be polled.

use std::future::poll_fn;
use std::sync::Arc;

use tokio::io::Interest;
use tokio::time::sleep;

use super::registered_socket::RegisteredSocket;
use super::roles::ReadBy;
use super::runtime_readers::TAKEOVER_DELAY;
use super::shared_io::SharedIo;

/// Reads whenever that is left to the background, until the connection is closed.
pub(super) async fn run(shared: Arc<SharedIo>) {
    while !shared.is_closed() {
        match shared.background_interest() {
            Some(_) => read(&shared).await,
            None => watch_readers(&shared).await,
        }
    }
}

/// Reads until that is left to other readers.
async fn read(shared: &SharedIo) {
    let Ok(socket) = shared.try_clone_socket().and_then(RegisteredSocket::new) else {
        // No file descriptor is left.
        shared.receive(ReadBy::Background);
        return sleep(TAKEOVER_DELAY).await;
    };
    // Another reader may have left bytes unwritten.
    shared.flush(ReadBy::Background);
    while let Some(interest) = shared.background_interest() {
        tokio::select! {
            biased;
            _ = poll_fn(|cx| socket.poll_read(cx, || { shared.receive(ReadBy::Background); })) => {}
            _ = poll_fn(|cx| socket.poll_write(cx, || flush_all(shared))), if interest.is_writable() => {}
            () = shared.background_notify.notified() => { shared.flush(ReadBy::Background); }
        }
    }
}

/// Writes as much as the socket takes. Whether that was all.
fn flush_all(shared: &SharedIo) -> bool {
    shared.flush(ReadBy::Background);
    let interest = shared.background_interest();
    !interest.is_some_and(Interest::is_writable)
}

/// Leaves reading to the readers as long as they send and are not late.
async fn watch_readers(shared: &SharedIo) {
    let sent_before = shared.sent_by_readers();
    tokio::select! {
        biased;
        () = shared.background_notify.notified() => {}
        () = sleep(TAKEOVER_DELAY) => shared.take_over(sent_before),
    }
}
