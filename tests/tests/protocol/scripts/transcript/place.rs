//! Where transcripts are played: on the fake, or on a real server.

use std::ops::Deref;
use std::time::Duration;

use harness::{Form, Listener, ScriptServer};
use lock_fake::{Deletion, FakeServer};
use redis::ConnectionLike;

use super::pool::{Pooled, pooled};

pub(crate) enum Place {
    Fake(Fake),
    Real(Pooled),
}

impl Place {
    pub(crate) fn fake() -> Place {
        // Any time with a fraction of a millisecond.
        let server = FakeServer::new(1_700_000_000_123_456);
        server.state(|state| state.deletion = Deletion::DelIfEq);
        Place::Fake(Fake(server))
    }

    pub(crate) fn real() -> Place {
        Place::Real(pooled())
    }

    /// Where this run plays each transcript: on the fake, and on the real server in the long form, or if the run names
    /// one.
    pub(crate) fn all() -> impl Iterator<Item = Place> {
        let is_real =
            Form::of_this_run() == Form::Long || std::env::var_os("LOCK_REDIS_SERVER").is_some();
        let all = [Place::fake, Place::real];
        all.into_iter()
            .take(if is_real { 2 } else { 1 })
            .map(|place| place())
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Place::Fake(_) => "the fake",
            Place::Real(_) => "the real server",
        }
    }

    /// Nobody uses it again.
    pub(crate) fn spend(&self) {
        if let Place::Real(server) = self {
            server.is_spent.set(true);
        }
    }
}

impl Deref for Place {
    type Target = dyn ScriptServer;

    fn deref(&self) -> &(dyn ScriptServer + 'static) {
        match self {
            Place::Fake(fake) => fake,
            Place::Real(server) => &**server,
        }
    }
}

pub(crate) struct Fake(FakeServer);

impl ScriptServer for Fake {
    fn connect(&self) -> Box<dyn ConnectionLike + Send> {
        Box::new(self.0.connection())
    }

    fn listen(&self, command: &str, channel: &str) -> Listener {
        let mut inbox = self.0.listen(command, channel);
        Listener::new(move || inbox.next().expect("a push has arrived"))
    }

    fn time(&self) -> i64 {
        self.0.state(|state| state.now)
    }

    fn forward(&self, by: Duration) {
        self.0.forward(by);
    }

    fn back(&self, by: Duration) {
        self.0.back(by);
    }

    fn set_full(&self, is_full: bool) {
        self.0.set_full(is_full);
    }
}
