//! A cluster node with a slot that is being moved to another node.

use harness::{PATIENCE, RawLock, RedisServer, wait_until};

use super::{Locks, Record, Stage, commands, for_each_cell, steps};
use crate::scripts::transcript::{Place, Pooled};

const TARGET: &str = "b000000000000000000000000000000000000000";

/// The nodes of a cluster: the server itself, with all slots, and an unreachable one.
const NODES: &str = "\
a000000000000000000000000000000000000000 127.0.0.1:0@0 myself,master - 0 0 1 connected 0-16383
b000000000000000000000000000000000000000 127.0.0.1:1@2 master - 0 0 2 connected
vars currentEpoch 2 lastVoteEpoch 0
";

/// A node that has all slots.
pub(super) fn node_of_cluster() -> Place {
    let server = RedisServer::builder()
        .own_clock()
        .file("nodes.conf", NODES)
        .config("cluster-enabled", "yes")
        .start();
    let mut lock = RawLock::new(&server, "order:42");
    wait_until("a cluster", PATIENCE, || {
        let info: String = lock.command(&["CLUSTER", "INFO"]);
        info.contains("cluster_state:ok")
    });
    // No claim lapses, however slow the machine is.
    server.stop_clock();
    Place::Real(Pooled::apart(server))
}

/// Runs a command while the lock's slot is being moved. Returns whether the server itself refused it, as it may if a
/// record is missing.
pub(super) fn while_it_moves<T>(
    lock: &mut RawLock,
    records: &[String],
    command: impl FnOnce(&mut RawLock) -> Result<T, String>,
) -> Result<Option<T>, String> {
    let slot: i64 = lock.command(&["CLUSTER", "KEYSLOT", &records[0]]);
    let slot = slot.to_string();
    let words: Vec<&str> = ["EXISTS"]
        .into_iter()
        .chain(records.iter().map(String::as_str))
        .collect();
    let is_whole = lock.command::<usize>(&words) == records.len();
    let _: () = lock.command(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", TARGET]);
    let outcome = command(lock);
    let _: () = lock.command(&["CLUSTER", "SETSLOT", &slot, "STABLE"]);
    match outcome {
        Err(refusal)
            if !is_whole
                && ["Ask:", "TryAgain:"]
                    .iter()
                    .any(|code| refusal.contains(code)) =>
        {
            Ok(None)
        }
        outcome => outcome.map(Some),
    }
}

pub(super) fn play(locks: Locks, states: &str, losses: &str) {
    let mut stage = Stage::on(node_of_cluster(), locks);
    let mut admin = RawLock::new(&*stage.server, "admin");
    let mut refused = 0;
    let commands = commands(locks, false);
    for_each_cell(states, losses, &commands, |[state, lost, command]| {
        stage.begin();
        stage.prepare(steps(state).chain(steps(lost)))?;
        let before = stage.models.clone();
        let records = keys_of(command, &stage);
        let step = steps(command).next().expect("a command");
        let done = while_it_moves(&mut admin, &records, |_| stage.carry_out(step))?;
        if done.is_none() {
            refused += 1;
            stage.models = before;
        }
        stage.compare()
    });
    assert!(refused > 0, "no command was refused");
    stage.assert_no_more_messages();
}

/// The records that the script of a command names.
fn keys_of(command: &str, stage: &Stage) -> Vec<String> {
    let words: Vec<&str> = command.split(' ').filter(|word| *word != "all").collect();
    let (who, verb) = match &words[..] {
        ["revoke", ..] => (None, &[][..]),
        [who, verb @ ..] => (who.chars().next(), verb),
        [] => unreachable!("a command has words"),
    };
    let is_share = who.is_some_and(|who| stage.models[0].share(who).is_some());
    let all = [Record::Lock, Record::Fence, Record::Queue, Record::Shares];
    let records = match (verb, is_share) {
        (["take" | "reserve" | "delete", ..], _) | (["renew" | "release", ..], false) => &all[..1],
        (["renew" | "release", ..], true) => &[Record::Lock, Record::Shares],
        (["end", "w"], _) => &all,
        (["mint", ..], _) | (["acquire" | "try" | "end", ..], false) => &all[..3],
        _ => &all,
    };
    let locks = stage.all.locks.iter();
    let keys = locks.flat_map(|lock| records.iter().map(|record| record.key(lock)));
    keys.collect()
}
