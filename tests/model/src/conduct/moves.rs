//! Moves of the lock to another server, as its clients see them.
//!
//! # The rule
//!
//! - A command that a server redirects is sent to the target. After ASK the next command goes to the source again,
//!   after MOVED to the target.
//! - A client that notices that another server has taken over leaves the old server for good, whatever role that
//!   reports. The client's commands there may still arrive, but affect only the old server.
//! - After either of these, and after a lost connection, each lease is confirmed by a renewal at once. It restores a
//!   lease that the next server keeps for a shorter time, and shows that another one is lost.

use super::Verdict;
use crate::client::{Client, Phase};
use crate::configuration::Configuration;
use crate::network::{Request, Server};
use crate::seeded::Seeded;

impl Client {
    /// The source of a move has redirected a command, which is sent to the target.
    pub(super) fn redirected(&mut self, request: Request, has_moved: bool, rules: &Configuration) {
        if has_moved && self.connection.server == Server::Source {
            self.connection.server = Server::Target;
            self.doubt_leases(rules);
        }
        self.connection.up.push(Request {
            server: Server::Target,
            age: 0,
            ..request
        });
    }

    /// The client notices that another server has taken over, and connects to it.
    pub(crate) fn notice_takeover(&mut self, rules: &Configuration) -> Verdict {
        self.connection.has_noticed = true;
        if rules.seeded != Some(Seeded::RoleBelieved) {
            self.connection.server = Server::Target;
        }
        self.tear(rules)
    }

    /// The next server may lack the leases.
    pub(super) fn doubt_leases(&mut self, rules: &Configuration) {
        if !rules.confirms || rules.seeded == Some(Seeded::MoveUnconfirmed) {
            return;
        }
        for owner in &mut self.owners {
            if let Phase::Held(lease) = &mut owner.phase
                && lease.is_valid()
            {
                lease.holding.doubted();
            }
        }
    }
}
