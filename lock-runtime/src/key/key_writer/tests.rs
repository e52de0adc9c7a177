use std::collections::HashMap;

use super::*;

fn part<P: KeyPart + ?Sized>(value: &P) -> String {
    let mut key = KeyWriter::new();
    key.part(value);
    key.finish().as_str().to_owned()
}

#[test]
fn text_is_verbatim_and_values_are_escaped() {
    let mut key = KeyWriter::new();
    key.text("a:/%{ ").part("a:/%{ ");
    assert_eq!(key.finish().as_str(), "a:/%{ a%3A%2F%25%7B%20");
}

#[test]
fn value_never_makes_a_key_end_like_another_record() {
    let key = |text: &str, value: &str| {
        let mut key = KeyWriter::new();
        key.text(text).part(value);
        key.finish().as_str().to_owned()
    };
    assert_eq!(key("{order}:", "f"), "{order}:%66");
    assert_eq!(key("{order}:", "w"), "{order}:%77");
    // Also an end that only a client with an empty prefix refuses: a key has one text for all clients.
    assert_eq!(key("{order}:", "audit"), "{order}:audi%74");
    assert_eq!(key("{order}:au", "dit"), "{order}:audi%74");
    assert_eq!(key("{order}:", "n"), "{order}:%6E");
    assert_eq!(key("{order}:", "audits"), "{order}:audits");
    // A key that cannot be mistaken for a record stays as it is.
    assert_eq!(key("{order}:", "g"), "{order}:g");
    assert_eq!(key("{order}:", "ff"), "{order}:ff");
    assert_eq!(key("{order}-", "f"), "{order}-f");
    assert_eq!(key("user:", "f"), "user:f");
    let mut text_after = KeyWriter::new();
    text_after.text("{order}:").part("f").text(":stock");
    assert_eq!(text_after.finish().as_str(), "{order}:f:stock");
    let mut text = KeyWriter::new();
    text.text("{order}:f");
    assert_eq!(text.finish().as_str(), "{order}:f", "the author's own");
}

#[test]
fn kept_bytes_and_everything_beyond_ascii_stay() {
    let kept = "AZaz09-_.@+é漢🦀";
    assert_eq!(part(kept), kept);
    assert_eq!(part("\0\x7f<>"), "%00%7F%3C%3E");
    assert_eq!(part("é:漢:"), "é%3A漢%3A");
}

#[test]
fn every_other_byte_is_escaped_in_upper_case() {
    // The macro crate's template checks rely on this list, and contain a copy of it.
    const KEPT: &str = "+-.0123456789@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
    for letter in (0..=0x7f_u8).map(char::from) {
        let expected = if KEPT.contains(letter) {
            letter.to_string()
        } else {
            format!("%{:02X}", u32::from(letter))
        };
        assert_eq!(part(&letter), expected);
    }
}

/// Values chosen to collide in any encoding that joins carelessly: separators, escapes of
/// separators, halves of escapes.
const AWKWARD: [&str; 16] = [
    "a", "b", "ab", ":", "a:", ":b", "a:b", "%", "%3A", "%3a", "3A", "%25", "%253A", "/", "é", "\0",
];

#[test]
fn pairs_of_values_never_collide() {
    for separators in [
        ["", ":", ""],
        ["x", "-:", "y"],
        ["{", "}:", ""],
        ["", "/", "-"],
    ] {
        let mut seen = HashMap::new();
        for left in AWKWARD {
            for right in AWKWARD {
                let mut key = KeyWriter::new();
                key.text(separators[0])
                    .part(left)
                    .text(separators[1])
                    .part(right)
                    .text(separators[2]);
                let text = key.finish().as_str().to_owned();
                if let Some(other) = seen.insert(text.clone(), (left, right)) {
                    panic!("{other:?} and {:?} are both `{text}`", (left, right));
                }
            }
        }
    }
}

#[test]
fn empty_value_is_reported_by_its_placeholder() {
    let mut key = KeyWriter::new();
    key.text("order:");
    key.placeholder("order.id", &"");
    assert_eq!(
        key.finish().problem(),
        Some(&KeyProblem::EmptyValue {
            placeholder: Some("order.id")
        })
    );

    let mut key = KeyWriter::new();
    key.placeholder("id", &"42");
    key.part(&String::new());
    assert_eq!(
        key.finish().problem(),
        Some(&KeyProblem::EmptyValue { placeholder: None })
    );
}

#[test]
fn value_cannot_write_a_separator() {
    struct Forger;
    impl KeyPart for Forger {
        fn write_to(&self, key: &mut KeyWriter) {
            key.text("1:").part(":2");
        }
    }
    assert_eq!(part(&Forger), "1%3A%3A2");
}

#[test]
fn formatting_needs_no_import_and_reports_a_broken_display() {
    mod outside {
        pub(super) struct Broken;
        impl std::fmt::Display for Broken {
            fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                Err(std::fmt::Error)
            }
        }
    }
    let mut key = KeyWriter::new();
    let shard = 4;
    write!(key, "{shard}:{}", shard + 1);
    assert_eq!(key.finish().as_str(), "4%3A5");

    let mut key = KeyWriter::new();
    write!(key, "{}", outside::Broken);
    assert_eq!(
        key.finish().problem(),
        Some(&KeyProblem::Unprintable { placeholder: None })
    );
}

#[test]
fn each_kind_of_value_has_its_text() {
    assert_eq!(part(&i128::MIN), i128::MIN.to_string());
    assert_eq!(part(&u128::MAX), u128::MAX.to_string());
    assert_eq!(part(&NonZero::new(-7_i32).unwrap()), "-7");
    assert_eq!(part(&true), "true");
    assert_eq!(part(&':'), "%3A");
    assert_eq!(part(&'漢'), "漢");
    assert_eq!(part(&IpAddr::from([127, 0, 0, 1])), "127.0.0.1");
    assert_eq!(part(&Ipv6Addr::LOCALHOST), "%3A%3A1");
    assert_eq!(
        part(&uuid::Uuid::from_u128(
            0x67e5_5044_10b1_426f_9247_bb68_0e5f_e0c8
        )),
        "67e55044-10b1-426f-9247-bb680e5fe0c8"
    );
}

#[test]
fn pointers_write_their_targets() {
    let text = String::from("a");
    assert_eq!(part(&&&text), "a");
    assert_eq!(part(&Box::<str>::from("a")), "a");
    assert_eq!(part(&Rc::<str>::from("a")), "a");
    assert_eq!(part(&Arc::new(7_u8)), "7");
    assert_eq!(part(&Cow::Borrowed("a")), "a");
    assert_eq!(part::<&mut str>(&String::from("a").as_mut_str()), "a");
    let object: Box<dyn KeyPart> = Box::new(7);
    assert_eq!(part(&object), "7");
}
