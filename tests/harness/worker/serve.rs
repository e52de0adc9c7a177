//! The main loop of a worker.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::time::Duration;
use std::{io, thread};

use lock_runtime::{LockClient, LockClientBuilder, LockRecord};
use redis::AsyncConnectionConfig;
use redis::aio::MultiplexedConnection;
use tokio::sync::mpsc;

use super::commands::{Commands, Next};
use super::locks::Locks;
use super::ours::Ours;
use super::plain::Plain;
use super::redisson::{Redisson, Version};
use crate::wait::PATIENCE;

/// Serves the commands on standard input, each answered with one line; times are in milliseconds.
///
/// `locks` is the URL of the locks, perhaps behind a proxy, and `resource` the URL of the server
/// with the resource that they protect. Options may follow the first, each after a space:
/// `replicas=N`, the number of replicas that a grant waits for; `ttl=MS`, the client's default;
/// `timeout=MS`, its command timeout; and `ANNOUNCED=PORT`, the real port of a cluster node. The
/// worker ends when its input ends, or on command.
///
/// A LOCK is `KEY TTL WAIT`, or `KEY+KEY… TTL WAIT` for several locks together. Their resource
/// belongs to the key that is first in the order of names.
///
/// - `mode plain|write|read|permits N [take M]`: sets how all later calls hold their locks,
///   initially `plain`: `ok`
/// - `acquire LOCK`: `held TOKEN`, or `failed KIND MESSAGE`
/// - `drop LOCK MICROS`: the same for an acquire that is dropped after this time: also `dropped`;
///   the lock is dropped as well if it was acquired
/// - `begin LOCK`: an acquire that is polled once, and not again before its `finish`: `begun`, or
///   like `acquire` if one poll sufficed. Several may be pending: the first is finished first.
///   `begin-fenced LOCK`: the same for a lock that comes with its token, so that its poll cannot go
///   on to request one
/// - `finish`: awaits it, and answers like `acquire`; `forget`: drops it: `forgotten`
/// - `begin-release`: `begun`, without waiting for it; `finish-release`: like `release`
/// - `stall TIME`: a body under the held lock that blocks for this time in its first poll, and then
///   awaits forever: `failed KIND MESSAGE`
/// - `valid`: `true` or `false`
/// - `renew`, `release`: `ok`, or `failed KIND MESSAGE`
/// - `downgrade`: turns the held lock into a reader's: like `acquire`
/// - `look`, then `write`: one visit to the resource under the held lock: `looked`; `written`, or
///   `stale` if a fenced resource refuses it. A visit under a share changes nothing in the resource
/// - `run LOCK [sleep TIME | block TIME | panic]`: a body that visits the resource and does that in
///   the middle: `written`, `stale`, `panicked`, or `failed KIND MESSAGE`; `run LOCK persist`:
///   visits it repeatedly, until it is dropped
/// - `campaign LOCK`: stands for the lock until SIGTERM, and visits the resource repeatedly while it
///   leads: `held TOKEN` each time that it does, `again KIND MESSAGE` each time that it stands again,
///   and `stopped`, or `failed KIND MESSAGE`. It keeps the process's signals from then on: end the
///   process by `exit`
/// - `run-alone …`: the same on its own current-thread runtime
/// - `abandon LOCK`: acquires on its own runtime, which is dropped with the guard in it
/// - `hammer LOCK TASKS TIME`: visits from many tasks, each under the lock: `hammered N`, and for
///   each kind of failure ` KIND=N`
/// - `hammer-until LOCK TASKS KEY`: the same until the resource has a key with this name
/// - `crowd LOCK CALLERS`: one visit each: `crowded N` if they were served in order
/// - `cycle LOCK TIMES`: acquires and releases the lock: `ok`, or `failed KIND MESSAGE`
/// - `many LOCK COUNT`: a hundred callers take that many locks: `ok`, or `failed KIND MESSAGE`;
///   `together LOCK COUNT`: the same for that many shares of one lock; `release-many`: releases all
///   of them
/// - `clock`: the process's wall clock, in seconds
/// - `idle`: `idle TASKS SOCKETS`, the resources that the process uses
/// - `shutdown`: shuts the client down and drops it: `ok`
/// - `leave`: drops its locks, and the process ends immediately without an answer
/// - `exit`, `abort`: ends the process in that way
pub async fn serve(locks: &str, resource: &str, kind: Kind) {
    let resource = redis::Client::open(resource).expect("the URL is well formed");
    // No fault reaches this server: only a stalled machine delays its answers.
    let patient = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(PATIENCE))
        .set_response_timeout(Some(PATIENCE));
    let resource = resource
        .get_multiplexed_async_connection_with_config(&patient)
        .await
        .expect("the server of the resource accepts connections");

    match kind {
        Kind::Ours | Kind::InRedissonsRecord => {
            let record = match kind {
                Kind::Ours => LockRecord::Native,
                _ => LockRecord::Redisson,
            };
            let client = client(locks).record(record).build();
            let client = Ours::new(client.expect("the URL is well formed"));
            obey(client, resource).await;
        }
        Kind::Plain => obey(Plain::new(locks), resource).await,
        Kind::Redisson(version) => obey(Redisson::new(locks, version), resource).await,
    }
}

/// A client for a URL with options after it.
fn client(locks: &str) -> LockClientBuilder {
    let mut words = locks.split(' ');
    let mut builder = LockClient::builder().url(words.next().expect("there is a URL"));
    let port = |text: &str| text.parse::<u16>().expect("a port is a number");
    let millis = |text: &str| Duration::from_millis(text.parse().expect("it is a number"));
    let mut ports = HashMap::new();
    for word in words {
        match word.split_once('=').expect("an option has a value") {
            ("replicas", count) => {
                builder = builder.wait_replicas(count.parse().expect("it is a number"));
            }
            ("ttl", ms) => builder = builder.ttl(millis(ms)),
            ("timeout", ms) => builder = builder.command_timeout(millis(ms)),
            (announced, real) => {
                ports.insert(port(announced), port(real));
            }
        }
    }
    if ports.is_empty() {
        return builder;
    }
    builder.address_map(move |host, port| {
        let found = ports.get(&port).copied();
        (host.to_owned(), found.unwrap_or(port))
    })
}

/// The lock client that a worker uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Ours,
    /// This project's client, with its locks in Redisson's record.
    InRedissonsRecord,
    /// A stand-in for Redisson.
    Redisson(Version),
    /// A `SET NX PX` without a fencing token: the negative control.
    Plain,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Ours,
        Self::Plain,
        Self::InRedissonsRecord,
        Self::Redisson(Version::V3_5),
        Self::Redisson(Version::V4_7),
        Self::Redisson(Version::Fair),
    ];

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Its name as an argument.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Plain => "plain",
            Self::InRedissonsRecord => "in-redissons-record",
            Self::Redisson(Version::V3_5) => "redisson-3.5",
            Self::Redisson(Version::V4_7) => "redisson-4.7",
            Self::Redisson(Version::Fair) => "redisson-fair",
        }
    }
}

async fn obey(locks: impl Locks, resource: MultiplexedConnection) {
    let mut commands = Commands::new(locks, resource);
    let mut lines = input();
    while let Some(line) = lines.recv().await {
        let answer = match commands.run(&line).await {
            Next::Answer(answer) => answer,
            Next::Leave => return,
        };
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{answer}")
            .and_then(|()| stdout.flush())
            .expect("the test reads");
    }
}

/// The lines of standard input. A separate thread reads them, since reading blocks.
fn input() -> mpsc::UnboundedReceiver<String> {
    let (sender, receiver) = mpsc::unbounded_channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
