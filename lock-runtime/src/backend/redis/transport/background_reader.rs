//! Reads a connection from the background.
//!
//! The background reads while commands come from senders without a reader of their own, and after readers have sent
//! nothing for a while. It also reads when a command has been pending for some time, since a blocked runtime does not
//! poll its reader task.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Instant;

use tokio::io::Interest;
use tokio::time::sleep;

use super::Transport;
use super::io::ReadBy;
use super::runtime_readers::TAKEOVER_DELAY;
use crate::backend::redis::socket::RegisteredSocket;

/// Reads whenever no other reader does, until the connection is closed.
pub(super) async fn run(transport: Arc<Transport>) {
    while !transport.lock().is_closed() {
        match transport.background_interest() {
            Some(_) => read(&transport).await,
            None => watch_readers(&transport).await,
        }
    }
}

/// Reads until other readers take over.
async fn read(transport: &Transport) {
    let socket = transport.lock().try_clone_socket();
    let Ok(socket) = socket.and_then(RegisteredSocket::new) else {
        // There was no file descriptor for the socket.
        transport.receive(ReadBy::Background);
        return sleep(TAKEOVER_DELAY).await;
    };
    // Another reader may have left bytes unwritten.
    transport.flush(ReadBy::Background);
    while let Some(interest) = transport.background_interest() {
        tokio::select! {
            biased;
            _ = poll_fn(|cx| socket.poll_read(cx, || { transport.receive(ReadBy::Background); })) => {}
            _ = poll_fn(|cx| socket.poll_write(cx, || flush_all(transport))), if interest.is_writable() => {}
            () = transport.background_notify.notified() => transport.flush_unless_held_back(),
        }
    }
}

/// Writes as much as the socket takes. Returns whether that was everything.
fn flush_all(transport: &Transport) -> bool {
    transport.flush(ReadBy::Background);
    let interest = transport.background_interest();
    !interest.is_some_and(Interest::is_writable)
}

/// Leaves reading to the other readers as long as they send commands and are not late.
async fn watch_readers(transport: &Transport) {
    let (sent_before, began) = (transport.lock().sent_by_readers(), Instant::now());
    tokio::select! {
        biased;
        () = transport.background_notify.notified() => {}
        () = sleep(TAKEOVER_DELAY) => {
            let is_late = began.elapsed() >= TAKEOVER_DELAY * 2;
            transport.take_over(sent_before, is_late);
        }
    }
}
