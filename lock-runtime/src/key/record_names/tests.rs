use super::*;
use crate::key::KeyWriter;

fn names(key: &str) -> Result<RecordNames, KeyProblem> {
    RecordNames::new("lock:", &LockKey::from(key))
}

fn written(names: &RecordNames) -> [String; 4] {
    RecordKind::ALL.map(|record| names.of(record).to_string())
}

/// The slot of a key as the cluster specification defines it: CRC16/XMODEM of the hash tag, or
/// of everything, modulo 16384.
fn slot(name: &str) -> u16 {
    let hashed = match name
        .split_once('{')
        .and_then(|(_, rest)| rest.split_once('}'))
    {
        Some((tag, _)) if !tag.is_empty() => tag,
        _ => name,
    };
    let crc = hashed.bytes().fold(0_u16, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(byte) << 8), |crc, _| {
            (crc << 1) ^ if crc & 0x8000 == 0 { 0 } else { 0x1021 }
        })
    });
    crc % 16384
}

fn assert_one_slot(names: &RecordNames) {
    let [lock, beside @ ..] = written(names).map(|name| slot(&name));
    assert!(beside.iter().all(|&slot| slot == lock), "{names:?}");
}

#[test]
fn slot_function_is_that_of_redis() {
    // Figures of the cluster specification and of `CLUSTER KEYSLOT`.
    assert_eq!(slot("123456789"), 0x31C3);
    assert_eq!(slot("foo"), 12182);
    assert_eq!(slot("{foo}.x"), 12182);
}

#[test]
fn name_without_a_tag_becomes_the_tag_of_the_records_beside_it() {
    let names = names("order:42").unwrap();
    assert_eq!(
        written(&names),
        [
            "lock:order:42",
            "{lock:order:42}:f",
            "{lock:order:42}:w",
            "{lock:order:42}:r"
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
            "lock:{order}:42:r"
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
    const PIECES: [&str; 13] = [
        "{", "}", "{", "}", ":", ":f", ":w", ":r", "a", "b", "é", "🦀", "{a}",
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

#[test]
fn tag_may_be_in_the_prefix() {
    let names = RecordNames::new("{shop}:", &LockKey::from("order:42")).unwrap();
    assert_eq!(names.of(RecordKind::Fence).to_string(), "{shop}:order:42:f");
    assert_eq!(slot(&names.lock), slot("shop"));
}

#[test]
fn lock_never_has_the_name_of_a_record_beside_another() {
    // Every accepted name, compared with the records beside every other.
    let keys = [
        "a",
        "a:f",
        "a:w",
        "{a}",
        "{a}:f",
        "{a}:w",
        "{lock:a}:f",
        "{lock:{a}:f",
        "a:f:f",
        "{a}b",
        "{a}b:w",
    ];
    for prefix in ["", "lock:", "{t}"] {
        let named: Vec<_> = keys
            .iter()
            .filter_map(|key| RecordNames::new(prefix, &LockKey::from(*key)).ok())
            .collect();
        for one in &named {
            for other in &named {
                let [_, beside @ ..] = written(other);
                assert!(!beside.contains(&one.lock.to_string()), "{one:?} {other:?}");
            }
        }
    }
    assert!(names("user:f").is_ok(), "a user may be called `f`");
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
    ] {
        assert_eq!(names(key), Err(problem), "{key}");
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
