use super::super::key_writer::KeyWriter;
use super::*;

fn names(key: &str) -> Result<RecordNames, KeyProblem> {
    RecordNames::new("lock:", &LockKey::from(key))
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

#[test]
fn the_slot_function_is_that_of_redis() {
    // Figures of the cluster specification and of `CLUSTER KEYSLOT`.
    assert_eq!(slot("123456789"), 0x31C3);
    assert_eq!(slot("foo"), 12182);
    assert_eq!(slot("{foo}.x"), 12182);
}

#[test]
fn names_are_looked_up_by_their_text() {
    let lock = |key: &str| names(key).unwrap().lock;
    let mut locks = ByLock::default();
    for number in 0..100 {
        assert_eq!(locks.insert(lock(&number.to_string()), number), None);
    }
    for number in 0..100 {
        assert_eq!(locks.get(&lock(&number.to_string())), Some(&number));
    }
    assert_eq!(locks.remove(&lock("another")), None);
}

#[test]
fn an_untagged_lock_is_wrapped_by_its_neighbours() {
    let names = names("order:42").unwrap();
    assert_eq!(&*names.lock, "lock:order:42");
    assert_eq!(names.fence().to_string(), "{lock:order:42}:f");
    assert_eq!(names.queue().to_string(), "{lock:order:42}:w");
}

#[test]
fn a_tagged_lock_is_appended_to() {
    let names = names("{order}:42").unwrap();
    assert_eq!(&*names.lock, "lock:{order}:42");
    assert_eq!(names.fence().to_string(), "lock:{order}:42:f");
    assert_eq!(names.queue().to_string(), "lock:{order}:42:w");
}

#[test]
fn the_three_records_share_a_slot() {
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
        assert_eq!(slot(&names.lock), slot(&names.fence().to_string()), "{key}");
        assert_eq!(slot(&names.lock), slot(&names.queue().to_string()), "{key}");
    }
}

#[test]
fn random_names_share_a_slot_or_are_refused() {
    const PIECES: [&str; 12] = [
        "{", "}", "{", "}", ":", ":f", ":w", "a", "b", "é", "🦀", "{a}",
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
        assert_eq!(slot(&names.lock), slot(&names.fence().to_string()), "{key}");
        assert_eq!(slot(&names.lock), slot(&names.queue().to_string()), "{key}");
        *if names.tagged {
            &mut tagged
        } else {
            &mut plain
        } += 1;
    }
    assert!(tagged > 10_000 && plain > 10_000, "{tagged} {plain}");
}

#[test]
fn a_prefix_may_bring_the_tag() {
    let names = RecordNames::new("{shop}:", &LockKey::from("order:42")).unwrap();
    assert_eq!(names.fence().to_string(), "{shop}:order:42:f");
    assert_eq!(slot(&names.lock), slot("shop"));
}

#[test]
fn no_lock_is_named_like_another_locks_record() {
    // Every name that `names` accepts, against every record of every other.
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
                assert_ne!(*one.lock, *other.fence().to_string());
                assert_ne!(*one.lock, *other.queue().to_string());
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
fn a_problem_of_the_writing_is_reported_here() {
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
