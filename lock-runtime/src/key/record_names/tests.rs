use std::collections::{HashMap, HashSet};

use super::*;
use crate::key::{KeyWriter, slot_of};

fn names(key: &str) -> Result<RecordNames, KeyProblem> {
    RecordNames::new("lock:", &LockKey::from(key))
}

fn written(names: &RecordNames) -> [String; 5] {
    RecordKind::ALL.map(|record| names.of(record).to_string())
}

fn assert_one_slot(names: &RecordNames) {
    let [lock, beside @ ..] = written(names).map(|name| slot_of(&name));
    assert!(beside.iter().all(|&slot| slot == lock), "{names:?}");
}

#[test]
fn name_without_a_tag_becomes_the_tag_of_its_other_records() {
    let names = names("order:42").unwrap();
    assert_eq!(
        written(&names),
        [
            "lock:order:42",
            "{lock:order:42}:f",
            "{lock:order:42}:w",
            "{lock:order:42}:r",
            "{lock:order:42}:h"
        ]
    );
}

#[test]
fn name_with_a_tag_gets_the_suffix_appended() {
    let names = names("{order}:42").unwrap();
    assert_eq!(
        written(&names),
        [
            "lock:{order}:42",
            "lock:{order}:42:f",
            "lock:{order}:42:w",
            "lock:{order}:42:r",
            "lock:{order}:42:h"
        ]
    );
}

#[test]
fn records_of_a_lock_share_a_slot() {
    for key in [
        "order:42",
        "{order}:42",
        "a{b}c",
        "a{b}c}d",
        "{a}{b}",
        "a{b",
        "a{{b",
        "{a{b}",
        "é{漢}🦀",
        "}{a}",
    ] {
        let names = names(key).unwrap_or_else(|problem| panic!("{key}: {problem}"));
        assert_one_slot(&names);
    }
}

#[test]
fn random_names_share_a_slot_or_are_refused() {
    const PIECES: [&str; 14] = [
        "{", "}", "{", "}", ":", ":f", ":w", ":r", ":h", "a", "b", "é", "🦀", "{a}",
    ];
    let mut word = 1_u64;
    let mut below = |n: usize| {
        word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (word >> 33) as usize % n
    };
    let (mut tagged, mut plain) = (0, 0);
    for _ in 0..100_000 {
        let key: String = (0..=below(7))
            .map(|_| PIECES[below(PIECES.len())])
            .collect();
        let Ok(names) = names(&key) else { continue };
        assert_one_slot(&names);
        *if names.is_tagged {
            &mut tagged
        } else {
            &mut plain
        } += 1;
    }
    assert!(tagged > 10_000 && plain > 10_000, "{tagged} {plain}");
}

/// The owner of a record. A lock is identified by its name: two keys of two prefixes with the same name are one lock.
#[derive(Clone, Debug, PartialEq)]
enum Owner {
    Lock(String),
    Prefix(String),
}

/// Returns each key of up to five of these pieces, with each of the prefixes.
fn keys_with_prefixes() -> impl Iterator<Item = (&'static str, String)> {
    const PIECES: [&str; 10] = ["{", "}", "a", ":", ":f", ":w", ":r", ":h", ":n", ":audit"];
    const PREFIXES: [&str; 4] = ["", "a", "a:", "redisson_lock_queue:"];
    let keys = (0..=5).flat_map(|length| {
        (0..PIECES.len().pow(length)).map(move |mut number| {
            let mut key = String::new();
            for _ in 0..length {
                key.push_str(PIECES[number % PIECES.len()]);
                number /= PIECES.len();
            }
            key
        })
    });
    keys.flat_map(|key| PREFIXES.map(|prefix| (prefix, key.clone())))
}

#[test]
fn no_two_locks_share_a_record_or_a_channel() {
    let mut owners: HashMap<String, (Owner, &str)> = HashMap::new();
    let mut has = |name: String, owner: &Owner, record: &'static str| {
        let is = (owner.clone(), record);
        let was = owners.entry(name).or_insert_with(|| is.clone());
        assert_eq!(*was, is, "both have one name");
    };
    let mut refused = HashMap::new();
    let mut locks = HashSet::new();
    for (prefix, key) in keys_with_prefixes() {
        let common = Owner::Prefix(prefix.to_owned());
        has(CommonRecord::Marker.name(prefix), &common, "marker");
        has(CommonRecord::Audit.name(prefix), &common, "audit");
        let names = match RecordNames::new(prefix, &LockKey::from(&key)) {
            Ok(names) => names,
            Err(problem) => {
                *refused.entry(problem.to_string()).or_insert(0) += 1;
                continue;
            }
        };
        let lock = names.lock.to_string();
        if !locks.insert(lock.clone()) {
            continue;
        }
        let owner = Owner::Lock(lock);
        for record in RecordKind::ALL.into_iter().chain([RecordKind::FairQueue]) {
            let kind = match record {
                RecordKind::Lock => "lock",
                RecordKind::Fence => "fence",
                RecordKind::Queue => "queue",
                RecordKind::Shares => "shares",
                RecordKind::Runs => "runs",
                RecordKind::FairQueue => "fair queue",
            };
            has(names.of(record).to_string(), &owner, kind);
        }
        // Redisson's release publishes on a channel with the name of the queue. Ours have no brace.
        let queue = names.of(RecordKind::FairQueue).to_string();
        let channel = queue.replacen("_queue", "__channel", 1);
        assert!(channel.contains('{'), "{channel}");
        has(channel, &owner, "channel");
    }
    assert!(locks.len() > 50_000, "{}", locks.len());
    // Empty, empty tag, `}` without a tag, four suffixes, a tag alone, a common record or a fair queue.
    assert_eq!(refused.len(), 9, "{refused:#?}");
}

#[test]
fn names_like_records_are_locks_where_they_are_unambiguous() {
    for (prefix, key) in [
        ("lock:", "user:f"),
        ("", "user:audit"),
        ("lock:", "{a}"),
        ("lock:", "{a}:n"),
        ("lock:", "{a}:audit"),
        ("", "{a}:audits"),
        ("", "{a}b"),
        ("", "{a}{b}"),
        ("", "{a}:b:audit"),
        ("lock:", "redisson_lock_queue:{a}"),
    ] {
        assert!(
            RecordNames::new(prefix, &LockKey::from(key)).is_ok(),
            "{prefix} {key}"
        );
    }
}

#[test]
fn bad_keys_are_refused() {
    let longest = "x".repeat(MAX_KEY_LEN);
    assert!(names(&longest).is_ok());
    for (key, problem) in [
        ("", KeyProblem::Empty),
        (&*format!("{longest}x"), KeyProblem::TooLong { bytes: 513 }),
        ("order:{}", KeyProblem::EmptyTag),
        ("{}{a}", KeyProblem::EmptyTag),
        ("order}", KeyProblem::CloseWithoutTag),
        ("a}b{c", KeyProblem::CloseWithoutTag),
        ("{order}:f", KeyProblem::ReservedSuffix(":f")),
        ("{order}:w", KeyProblem::ReservedSuffix(":w")),
        ("{order}:h", KeyProblem::ReservedSuffix(":h")),
    ] {
        assert_eq!(names(key), Err(problem), "{key}");
    }
    for (key, problem) in [
        ("{a}", KeyProblem::TagAlone),
        ("{a{b}", KeyProblem::TagAlone),
        ("{lock:}:n", KeyProblem::ReservedName),
        ("{lock:}:audit", KeyProblem::ReservedName),
        ("redisson_lock_queue:{a}", KeyProblem::ReservedName),
    ] {
        let named = RecordNames::new("", &LockKey::from(key));
        assert_eq!(named, Err(problem), "{key}");
    }
}

#[test]
fn problem_of_a_written_key_is_reported_when_it_is_named() {
    let mut key = KeyWriter::new();
    key.text("order:");
    key.placeholder("id", &"");
    let problem = RecordNames::new("lock:", &key.finish()).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "the value of `<id>` in the key is empty"
    );

    let template = RecordNames::new("lock:", &LockKey::literal("order:<id>")).unwrap_err();
    assert_eq!(template, KeyProblem::Template("id".into()));
}

#[test]
fn names_are_found_by_their_text() {
    let mut locks = ByLock::default();
    for number in 0..100 {
        let name = LockName::new(&number.to_string());
        assert_eq!(locks.insert(name, number), None);
    }
    for number in 0..100 {
        let name = LockName::new(&number.to_string());
        assert_eq!(locks.get(&name), Some(&number));
    }
    assert_eq!(locks.remove(&LockName::new("another")), None);
}
