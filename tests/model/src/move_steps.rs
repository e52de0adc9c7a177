//! The steps of a move, and how each server treats commands meanwhile.

use crate::client::Client;
use crate::conduct::Verdict;
use crate::configuration::Configuration;
use crate::moves::{Reception, Replica, Source};
use crate::network::{Request, Server};
use crate::server::{Command, Key, KeySet, Mode, Ticks, Token};
use crate::world::{Action, World};

impl World {
    /// How a server treats a command.
    pub(crate) fn reception(&self, server: Server, command: Command) -> Reception {
        let arrived = match (&self.source, server) {
            (Some(Source::Moved), Server::Source) => {
                return Reception::Redirects { has_moved: true };
            }
            (Some(Source::Moving(arrived)), _) => *arrived,
            _ => return Reception::Runs(self.mode),
        };
        let (named, existing) = (KeySet::named(command), KeySet::existing(&self.records));
        let here = match server {
            Server::Source => existing.without(arrived),
            Server::Target => existing.and(arrived),
        };
        let has_all = named.without(here).is_empty();
        match server {
            Server::Source if has_all => Reception::Runs(Mode::Migrating),
            Server::Source if named.and(here).is_empty() => {
                Reception::Redirects { has_moved: false }
            }
            // A single key need not exist.
            Server::Target if has_all || named.is_one() => Reception::Runs(self.mode),
            _ => Reception::Refuses,
        }
    }

    /// Runs `act` with this server's records in the place of the world's.
    pub(crate) fn on_server<T>(&mut self, server: Server, act: impl FnOnce(&mut World) -> T) -> T {
        self.swap_records(server);
        let result = act(self);
        self.swap_records(server);
        result
    }

    fn swap_records(&mut self, server: Server) {
        if server == Server::Source
            && let Some(Source::Primary { records, .. }) = &mut self.source
        {
            std::mem::swap(&mut self.records, records);
        }
    }

    /// Whether the clock of this server is behind the last token.
    pub(crate) fn is_behind(&self, server: Server, skew: Ticks) -> bool {
        match (&self.source, server) {
            (Some(Source::Primary { .. }), Server::Source) => false,
            (Some(Source::Moving(_)), Server::Target) => self.behind || skew > 0,
            _ => self.behind,
        }
    }

    /// The highest token that this server knows of, by its fence or its clock.
    pub(crate) fn known_to(&self, server: Server) -> Token {
        match (&self.source, server) {
            (Some(Source::Primary { .. }), Server::Source) => self.last,
            _ if self.behind => self.known.unwrap_or(self.last),
            _ => self.last,
        }
    }

    /// Whether this server's messages reach a client: through its connection there, or through the
    /// bus of a cluster.
    pub(crate) fn reaches(&self, server: Server, client: &Client) -> bool {
        let is_bus = matches!(self.source, Some(Source::Moving(_) | Source::Moved));
        client.subscribed && (is_bus || client.connection.server == server)
    }

    /// A replica gets the present records.
    pub(crate) fn replicate(&mut self, configuration: &Configuration) {
        let counts = configuration.skew > 0;
        self.replica = Some(Replica {
            records: self.records.clone(),
            last: if counts { self.last } else { 0 },
        });
    }

    /// The replica takes over, without the changes that it missed.
    pub(crate) fn fail_over(&mut self, configuration: &Configuration) -> Verdict {
        let replica = self.replica.take().expect("there is one");
        let records = std::mem::replace(&mut self.records, replica.records);
        self.known = (configuration.skew > 0).then_some(replica.last);
        self.brought_back = configuration.longest_brought_back();
        self.step_to_next_clock(configuration);
        if configuration.notice == 0 {
            return self.break_connections(configuration);
        }
        self.source = Some(Source::Primary {
            records,
            left: configuration.notice,
        });
        self.begin_move();
        Ok(())
    }

    /// A replica takes over that has every change.
    pub(crate) fn take_over(&mut self, configuration: &Configuration) -> Verdict {
        self.step_to_next_clock(configuration);
        self.break_connections(configuration)
    }

    /// Switches to the clock of the next server. Leases and heartbeats end at a time of day.
    fn step_to_next_clock(&mut self, configuration: &Configuration) {
        self.records.advance(-configuration.skew);
        self.records.forget_since_when();
        self.behind |= configuration.skew > 0;
    }

    /// The slot begins to move: all of its keys are on the source.
    pub(crate) fn begin_to_move_slot(&mut self) {
        self.source = Some(Source::Moving(KeySet::default()));
        self.begin_move();
    }

    /// The server of all connections becomes the source of a move.
    fn begin_move(&mut self) {
        for client in &mut self.clients {
            let connection = &mut client.connection;
            connection.server = Server::Source;
            for request in connection.requests_mut() {
                request.server = Server::Source;
            }
        }
    }

    /// The steps by which an operator moves a slot.
    pub(crate) fn steps_of_slot(&self, actions: &mut Vec<Action>) {
        let Some(Source::Moving(arrived)) = self.source else {
            return;
        };
        let staying = KeySet::existing(&self.records).without(arrived);
        let keys = KeySet::ALL.into_iter();
        let keys = keys.filter(|&key| !staying.and(KeySet::of(&[key])).is_empty());
        actions.extend(keys.map(Action::MoveKey));
        if staying.is_empty() {
            actions.push(Action::SettleSlot);
        }
    }

    /// A key arrives at the target. Lock and queue keep their remaining time, heartbeats their time
    /// of day.
    pub(crate) fn move_key(&mut self, key: Key, configuration: &Configuration) {
        if let Some(Source::Moving(arrived)) = &mut self.source {
            *arrived = arrived.or(KeySet::of(&[key]));
        }
        if key == Key::Queue {
            for entry in self.records.queue.entries_mut() {
                entry.live = entry.live.map(|live| (live + configuration.skew).max(0));
            }
        }
    }

    /// The target has the slot.
    pub(crate) fn settle_slot(&mut self, configuration: &Configuration) {
        self.source = Some(Source::Moved);
        self.behind |= configuration.skew > 0;
    }

    /// Whether a client may notice now that another server has taken over.
    pub(crate) fn may_notice(&self, client: &Client) -> bool {
        let is_replaced = matches!(self.source, Some(Source::Primary { .. }));
        let connection = &client.connection;
        is_replaced && connection.server == Server::Source && !connection.has_noticed
    }

    /// Whether a client has used up the time that it may take to notice.
    pub(crate) fn is_notice_due(&self) -> bool {
        let mut clients = self.clients.iter();
        matches!(self.source, Some(Source::Primary { left: ..=0, .. }))
            && clients.any(|client| client.alive && self.may_notice(client))
    }

    /// Time passes on a server that was replaced.
    pub(crate) fn tick_source(&mut self) {
        self.brought_back = (self.brought_back - 1).max(0);
        if let Some(Source::Primary { records, left }) = &mut self.source {
            records.advance(1);
            records.forget_since_when();
            *left = (*left - 1).max(-1);
        }
    }

    /// Forgets where deleted keys were, and a server that no client uses.
    pub(crate) fn forget_source(&mut self) {
        if let Some(Source::Moving(arrived)) = &mut self.source {
            *arrived = arrived.and(KeySet::existing(&self.records));
        }
        let uses = |client: &Client| {
            let connection = &client.connection;
            let is_to_source = |request: &Request| request.server == Server::Source;
            client.alive
                && (connection.server == Server::Source || connection.up.iter().any(is_to_source))
        };
        let is_left = matches!(self.source, Some(Source::Moved | Source::Primary { .. }))
            && !self.clients.iter().any(uses);
        if !is_left {
            return;
        }
        self.source = None;
        for client in &mut self.clients {
            let connection = &mut client.connection;
            client.subscribed &= connection.server == Server::Target;
            (connection.server, connection.has_noticed) = (Server::Target, false);
            connection
                .stray
                .retain(|(request, _)| request.server == Server::Target);
        }
    }
}
