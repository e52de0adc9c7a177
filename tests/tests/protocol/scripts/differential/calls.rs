//! Calls of each script that ships, in states that follow from earlier ones, with losses and damages in between.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use lock_fake::{Deletion, FakeServer, Value, coverage};

use super::{Command, Deed, Draws, commands, words};
use crate::scripts::sources;

/// The scripts, by the names under which a long run must see them answered.
const SCRIPTS: &[(&str, &str)] = &[
    ("acquire", sources::ACQUIRE),
    ("renew", sources::RENEW),
    ("release", sources::RELEASE),
    ("end", sources::END),
    ("mint", sources::MINT),
    ("reserve", sources::RESERVE),
    ("rewrite", sources::REWRITE),
    ("record_run", sources::RECORD_RUN),
    ("revoke", sources::REVOKE),
    ("trial", sources::TRIAL),
    ("share_acquire", sources::SHARE_ACQUIRE),
    ("share_renew", sources::SHARE_RENEW),
    ("share_release", sources::SHARE_RELEASE),
    ("share_end", sources::SHARE_END),
    ("keys_acquire", sources::KEYS_ACQUIRE),
    ("keys_renew", sources::KEYS_RENEW),
    ("keys_release", sources::KEYS_RELEASE),
    ("keys_end", sources::KEYS_END),
    ("quorum_acquire", sources::QUORUM_ACQUIRE),
    ("quorum_yield", sources::QUORUM_YIELD),
    ("quorum_hold", sources::QUORUM_HOLD),
    ("quorum_end", sources::QUORUM_END),
    ("quorum_revoke", sources::QUORUM_REVOKE),
    ("quorum_mark", sources::QUORUM_MARK),
    ("redisson_acquire", sources::REDISSON_ACQUIRE),
    ("redisson_renew", sources::REDISSON_RENEW),
    ("redisson_release", sources::REDISSON_RELEASE),
    ("redisson_revoke", sources::REDISSON_REVOKE),
    ("redisson_trial", sources::REDISSON_TRIAL),
];

/// Those that a long run sees answered: all.
pub(super) const ALL: &[&str] = &{
    let mut names = [""; SCRIPTS.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = SCRIPTS[at].0;
        at += 1;
    }
    names
};

/// The lines of the scripts that random calls reach too rarely, or never. Transcripts run each.
const IN_TRANSCRIPTS: &[&str] = &[
    "begin_phase(choice, new_token(fence), remaining)",
    "enqueue(entry, stamp)",
    "if other ~= member then",
    "local token = new_token(fence)",
    "redis.pcall('PUBLISH', channel .. ':' .. first, '0')",
    "removed[#removed + 1] = other",
    "return nil, redis.error_reply('LOCKFENCE the fence is not a number below 2^53 - 32')",
    "return nil, redis.error_reply('LOCKFENCE the proposed token is not a number below 2^53 - 32')",
    "return redis.error_reply('LOCKFENCE the token is not below 2^53 - 32')",
    "return redis.error_reply('LOCKQUEUEFULL too many waiters')",
    "return waits(entry, true, grant(head, CLAIM_MS, token, remaining))",
    "return { redis.call('PTTL', K), kind, redis.call('GET', K) }",
    "stamp = now",
    "sum = sum + take_of(other)",
    "token = proposed",
];

/// The lines that have run in none of the scripts, but for those that are left to transcripts.
pub(super) fn lines_not_run() -> BTreeSet<&'static str> {
    let run = |(_, source): &(_, &'static str)| {
        let missing = coverage::lines_not_run(source);
        let missing: BTreeSet<usize> = missing.into_iter().map(|(number, _)| number).collect();
        let lines = (1..).zip(source.lines());
        let run = lines.filter(move |(number, _)| !missing.contains(number));
        run.map(|(_, line)| line.trim())
    };
    let run: BTreeSet<&str> = SCRIPTS.iter().flat_map(run).collect();
    let all = SCRIPTS.iter().flat_map(|(_, source)| source.lines());
    let mut all: BTreeSet<&str> = all.map(str::trim).collect();
    all.retain(|line| !run.contains(line));
    for line in IN_TRANSCRIPTS {
        all.remove(line);
    }
    all
}

/// Those that others call more often, so that locks are held and waited for.
const FREQUENT: &[&str] = &[
    "acquire",
    "end",
    "share_acquire",
    "quorum_acquire",
    "keys_acquire",
    "redisson_acquire",
];

/// K, F, Q and R of two locks, the marker of a quorum's node, a record and a queue of Redisson's, and a run history.
pub(super) const RECORDS: &[&str] = &[
    "lock:1",
    "{lock:1}:f",
    "{lock:1}:w",
    "{lock:1}:r",
    "lock:2",
    "{lock:2}:f",
    "{lock:2}:w",
    "{lock:2}:r",
    "{lock:}:n",
    "order:42",
    "redisson_lock_queue:{order:42}",
    "{lock:1}:h",
];

static DIGESTS: LazyLock<BTreeMap<&str, String>> = LazyLock::new(|| {
    let digest = |&(name, source)| (name, redis::Script::new(source).get_hash().to_owned());
    SCRIPTS.iter().map(digest).collect()
});

pub(super) fn draw(draws: &mut Draws, server: &FakeServer) -> Deed {
    let record = draws.of(RECORDS);
    match draws.below(24) {
        0..3 => commands::passes(draws),
        3 => Deed::Sends(vec![words(&["DEL", record])], ""),
        4 => match draws.below(4) {
            0 => Deed::Sends(
                vec![words(&["DEL", record]), words(&["RPUSH", record, "x"])],
                "",
            ),
            1 => Deed::Sends(vec![words(&["SCRIPT", "FLUSH"])], ""),
            _ => {
                let bytes = draws.of(&["0", "1"]);
                Deed::Sends(vec![words(&["CONFIG", "SET", "maxmemory", bytes])], "")
            }
        },
        5 => Deed::Sends(vec![take(draws)], ""),
        6 => Deed::Sends(vec![words(&["SET", "{lock:}:n", "boot-1 1000"])], ""),
        7 => Deed::Sends(delete(server).into_iter().collect(), ""),
        kind => {
            let name = draws.of(if kind < 14 { FREQUENT } else { ALL });
            Deed::Sends(vec![call(name, draws, server)], name)
        }
    }
}

/// The plain command that takes a lock without a token.
fn take(draws: &mut Draws) -> Command {
    let value = format!("{} 0001600000000000 host", draws.of(OWNERS).repeat(22));
    words(&["SET", "lock:1", &value, "NX", "PX", "10000"])
}

const OWNERS: &[&str] = &["A", "B", "C", "D"];

/// The value of the first lock.
fn value(server: &FakeServer) -> Option<String> {
    server.state(|state| match &state.keys.get(&b"lock:1"[..])?.value {
        Value::String(text) => Some(String::from_utf8_lossy(text).into_owned()),
        _ => None,
    })
}

/// The command that deletes the first lock by its value, if there is both.
fn delete(server: &FakeServer) -> Option<Command> {
    let value = value(server)?;
    match server.state(|state| state.deletion) {
        Deletion::Absent => None,
        Deletion::DelIfEq => Some(words(&["DELIFEQ", "lock:1", &value])),
        Deletion::DelEx => Some(words(&["DELEX", "lock:1", "IFEQ", &value])),
    }
}

fn call(name: &'static str, draws: &mut Draws, server: &FakeServer) -> Command {
    let (who, next) = (draws.of(OWNERS), draws.of(OWNERS));
    let owner = who.repeat(22);
    let entry = |who: &str| format!("{} host-{who}", who.repeat(22));
    let (entry, next) = (entry(who), entry(next));
    let (take, limit) = draws.of(&[(1, 0), (1, 2), (2, 3)]);
    let tagged = format!("{owner} \x1f{take}/{limit}\x1fhost-{who}");
    let member = match take {
        1 => owner.clone(),
        take => format!("{owner}*{take}"),
    };
    let field = format!("{owner}:47");
    let ttl = draws.of(&["10000", "20000", "3000", "-10000"]);
    let live = ttl.trim_start_matches('-');
    let now = server.state(|state| state.now);
    let stamp = (now - draws.of(&[0, 1_000, 2_000_000])).to_string();
    // The token of the first lock's holder.
    let token = value(server).and_then(|value| value.get(23..39).map(str::to_owned));
    let token = token.unwrap_or_else(|| "1".to_owned());
    let ahead = (now + 1_000_000).to_string();
    let proposal = match draws.below(4) {
        0 => "0".to_owned(),
        1 => token.clone(),
        2 => format!("={token}"),
        _ => ahead,
    };
    let granted_at = (now - draws.of(&[0, 3_000_000])).to_string();
    let (boot, delay) = (
        draws.of(&["boot-1", "boot-1", "boot-2"]),
        draws.of(&["1000", "1000", "0"]),
    );
    let (k, f, q, r) = (RECORDS[0], RECORDS[1], RECORDS[2], RECORDS[3]);
    let m = RECORDS[8];
    let (plain, all) = ([k, f, q], [k, f, q, r]);
    let two = [&RECORDS[..3], &RECORDS[4..7]].concat();
    let (both, node) = ([RECORDS[0], RECORDS[4]], [k, f, q, m]);
    let (order, fair) = (RECORDS[9], [RECORDS[9], RECORDS[10]]);
    let kind = draws.of(&["exclusive", "shares", "quorum"]);
    let (keys, arguments): (&[&str], Vec<&str>) = match name {
        "acquire" if draws.below(4) == 0 => (&all, vec![&entry, ttl]),
        "acquire" => (&plain, vec![&entry, ttl]),
        "renew" => (&plain[..1], vec![&owner, live]),
        "release" => (&plain[..1], vec![&owner]),
        "end" if draws.below(3) == 0 => (&plain, vec![&entry, &next, live]),
        "end" => (&plain, vec![&entry]),
        "mint" if draws.below(3) == 0 => (&plain, vec![&owner]),
        "mint" => (&plain, vec![&owner, &granted_at]),
        "reserve" => (&plain[..1], vec![&owner, live]),
        "rewrite" => (&plain[..2], vec![&owner, live]),
        "record_run" => (&RECORDS[11..], vec!["4", "owner", &owner, "run", "1"]),
        "revoke" => {
            let arguments = [[&*token, "", "-1"], ["0", &owner, "-2"], ["0", "x", "1"]];
            let mut arguments = draws.of(&arguments).to_vec();
            arguments.push("notice");
            (&all, arguments)
        }
        "trial" => (&all, vec![kind]),
        "share_acquire" => match draws.below(4) {
            0 => (&all, vec![&tagged, "-10000", &granted_at]),
            _ => (&all, vec![&tagged, ttl]),
        },
        "share_renew" => (&[k, r], vec![&member, live]),
        "share_release" => (&[k, r], vec![&member]),
        "share_end" => (&all, vec![draws.of(&[&*entry, &*tagged])]),
        "keys_acquire" => (&two, vec![&entry, ttl]),
        "keys_renew" => (&both, vec![&owner, live]),
        "keys_release" => (&both, vec![&owner]),
        "keys_end" => (&two, vec![&entry]),
        "quorum_acquire" => (&node, vec![&entry, ttl, &stamp, &proposal, boot, delay]),
        "quorum_yield" => (&node, vec![&entry, &token, &stamp, boot, delay]),
        "quorum_hold" => (&node, vec![&entry, live, &token, boot, delay]),
        "quorum_end" => (&node, vec![&entry, &proposal, boot, delay]),
        "quorum_revoke" => (&node, vec![&owner, "-1", &token, boot, delay, "notice"]),
        "quorum_mark" => (
            &[m],
            vec![
                boot,
                delay,
                draws.of(&["one", "two"]),
                draws.of(&["", "one"]),
                "300",
            ],
        ),
        "redisson_acquire" | "redisson_renew" => (&[order], vec![&field, live]),
        "redisson_release" => (&fair, vec![&field]),
        "redisson_revoke" => (&fair, vec![&field, "1"]),
        "redisson_trial" => (&[order], vec!["redisson"]),
        other => panic!("no script {other}"),
    };
    let source = SCRIPTS
        .iter()
        .find(|(of, _)| *of == name)
        .expect("it is listed")
        .1;
    // Most clients send the digest first.
    let by_digest = draws.below(2) == 0;
    let (verb, script) = if by_digest {
        ("EVALSHA", &*DIGESTS[name])
    } else {
        ("EVAL", source)
    };
    let count = keys.len().to_string();
    words(&[&[verb, script, &count][..], keys, &arguments].concat())
}
