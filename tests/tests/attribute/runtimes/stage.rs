//! The server behind the installed client. Statics are not dropped when a process ends. So the last
//! test stops the server, and a test that comes later starts a new one.

use std::sync::{Mutex, MutexGuard, PoisonError};

use harness::{Proxy, RedisServer, client};

static STAGE: Mutex<State> = Mutex::new(State {
    server: None,
    address: None,
    visitors: 0,
    gone: Vec::new(),
});

struct State {
    server: Option<RedisServer>,
    /// The address of the current server.
    address: Option<Proxy>,
    visitors: usize,
    /// The keys that ended runtimes have held.
    gone: Vec<String>,
}

/// A running test.
pub(crate) struct Visit(());

/// Dropped with a runtime, it records that its key must be free now.
pub(crate) struct Left(String);

/// Begins a test. The first one installs the client.
pub(crate) fn enter() -> Visit {
    let mut state = state();
    if state.server.is_none() {
        let server = RedisServer::start();
        match &state.address {
            Some(proxy) => {
                proxy.kill_connections();
                proxy.redirect(server.port());
            }
            None => {
                let proxy = Proxy::start(server.port());
                let installed = client(proxy.url()).install();
                installed.expect("it is the only one");
                state.address = Some(proxy);
            }
        }
        state.server = Some(server);
    }
    state.visitors += 1;
    Visit(())
}

/// The keys that ended runtimes have held and that were not checked since.
pub(crate) fn gone() -> Vec<String> {
    std::mem::take(&mut state().gone)
}

impl Left {
    pub(crate) fn with(key: &str) -> Left {
        Left(key.to_owned())
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let mut state = state();
        state.visitors -= 1;
        if state.visitors == 0 {
            state.server = None;
        }
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        state().gone.push(std::mem::take(&mut self.0));
    }
}

fn state() -> MutexGuard<'static, State> {
    // A failed test must not fail all others.
    STAGE.lock().unwrap_or_else(PoisonError::into_inner)
}
