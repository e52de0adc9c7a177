//! Compares the decoder with the client library's parser, which takes only complete values.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Generates the encodings of values of all kinds, with nested values.
fn value() -> impl Strategy<Value = Vec<u8>> {
    let line = "[ -~äß\r]{0,12}".prop_map(|text| text.replace("\r\n", ""));
    let number = || any::<i64>().prop_map(|number| number.to_string());
    let bytes = || vec(any::<u8>(), 0..40);
    let with = |kind: &'static str, text: String| format!("{kind}{text}\r\n").into_bytes();
    let block = |kind: &str, text: &[u8]| {
        let mut block = format!("{kind}{}\r\n", text.len()).into_bytes();
        block.extend_from_slice(text);
        block.extend_from_slice(b"\r\n");
        block
    };
    let code = "(ERR|NOSCRIPT|READONLY|WRONGTYPE|[A-Z]{1,8})( [ -~]{0,20})?";
    let leaf = prop_oneof![
        Just(b"+OK\r\n".to_vec()),
        Just(b"$-1\r\n".to_vec()),
        Just(b"*-1\r\n".to_vec()),
        Just(b"~-1\r\n".to_vec()),
        Just(b"_\r\n".to_vec()),
        Just(b">0\r\n".to_vec()),
        Just(b"#t\r\n".to_vec()),
        Just(b"#f\r\n".to_vec()),
        line.prop_map(move |text| with("+", text)),
        number().prop_map(move |number| with(":", number)),
        number().prop_map(move |number| with("(", number)),
        any::<f64>().prop_map(move |number| with(",", number.to_string())),
        code.prop_map(move |text| with("-", text)),
        code.prop_map(move |text| block("!", text.as_bytes())),
        "(txt|mkd|[a-z]{3}):[ -~]{0,12}".prop_map(move |text| block("=", text.as_bytes())),
        bytes().prop_map(move |text| block("$", &text)),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        let several = |kind: &'static str, each: usize| {
            vec(inner.clone(), 0..5).prop_map(move |values| {
                let count = values.len() / each;
                let values = &values[..count * each];
                [format!("{kind}{count}\r\n").into_bytes(), values.concat()].concat()
            })
        };
        let kind = "(message|subscribe|invalidate|ssubscribe|[a-z]{1,12})";
        let push = (kind, any::<bool>(), vec(inner.clone(), 0..4));
        let push = push.prop_map(|(kind, simple, values)| {
            let kind = if simple {
                format!("+{kind}\r\n")
            } else {
                format!("${}\r\n{kind}\r\n", kind.len())
            };
            let head = format!(">{}\r\n{kind}", values.len() + 1);
            [head.into_bytes(), values.concat()].concat()
        });
        let attributed = (vec((inner.clone(), inner.clone()), 0..3), inner.clone());
        let attributed = attributed.prop_map(|(pairs, data)| {
            let mut text = format!("|{}\r\n", pairs.len()).into_bytes();
            for (key, value) in pairs {
                text.extend(key);
                text.extend(value);
            }
            text.extend(data);
            text
        });
        prop_oneof![
            several("*", 1),
            several("~", 1),
            several("%", 2),
            push,
            attributed
        ]
    })
}

/// Decodes a value, and returns its length, too.
fn decoded(bytes: &[u8]) -> Option<(Value, usize)> {
    decode(bytes).expect("valid RESP3")
}

/// Returns a complete value as the client library parses it, without attributes.
fn parsed(text: &[u8]) -> redis::RedisResult<Value> {
    redis::parse_redis_value(text).map(without_attributes)
}

fn without_attributes(value: Value) -> Value {
    let all = |values: Vec<Value>| values.into_iter().map(without_attributes).collect();
    match value {
        Value::Attribute { data, .. } => without_attributes(*data),
        Value::Array(values) => Value::Array(all(values)),
        Value::Set(values) => Value::Set(all(values)),
        Value::Push { kind, data } => Value::Push {
            kind,
            data: all(data),
        },
        Value::Map(pairs) => {
            let both = |(key, value)| (without_attributes(key), without_attributes(value));
            Value::Map(pairs.into_iter().map(both).collect())
        }
        value => value,
    }
}

/// Returns the text to compare, since NaN is not equal to itself.
fn shown(value: &Value) -> String {
    format!("{value:?}")
}

proptest! {
    #[test]
    fn value_is_decoded_as_the_client_library_parses_it(text in value(), rest in vec(any::<u8>(), 0..8)) {
        let expected = parsed(&text).unwrap();
        let followed = [&text[..], &rest].concat();
        let (value, length) = decoded(&followed).expect("a complete value");
        prop_assert_eq!(length, text.len());
        prop_assert_eq!(shown(&value), shown(&expected));
    }

    #[test]
    fn value_cut_at_any_byte_is_incomplete(text in value()) {
        for end in 0..text.len() {
            prop_assert!(decoded(&text[..end]).is_none(), "cut at {}", end);
        }
    }

    /// The pieces have any length, and the values include pushes.
    #[test]
    fn stream_in_pieces_is_decoded_in_order(
        texts in vec(value(), 1..8),
        pieces in vec(1_usize..40, 1..200),
    ) {
        let (stream, mut values, mut input) = (texts.concat(), Vec::new(), Vec::new());
        let mut rest = &stream[..];
        let mut pieces = pieces.iter().cycle();
        while !rest.is_empty() {
            let (piece, later) = rest.split_at((*pieces.next().unwrap()).min(rest.len()));
            rest = later;
            input.extend_from_slice(piece);
            while let Some((value, length)) = decoded(&input) {
                values.push(shown(&value));
                input.drain(..length);
            }
        }
        prop_assert!(input.is_empty());
        let expected: Vec<_> = texts
            .iter()
            .map(|text| shown(&parsed(text).unwrap()))
            .collect();
        prop_assert_eq!(values, expected);
    }

    /// Malformed bytes must not make the decoder panic, either.
    #[test]
    fn damaged_value_is_refused_or_decoded_as_the_client_library_parses_it(
        mut text in value(),
        place in any::<prop::sample::Index>(),
        byte in prop_oneof![any::<u8>(), prop::sample::select(b"+-:$*%~|>_,#(!=\r\n0129".to_vec())],
    ) {
        *place.get_mut(&mut text) = byte;
        if let Ok(Some((value, length))) = decode(&text) {
            let expected = parsed(&text[..length]).map(|value| shown(&value));
            prop_assert_eq!(expected.ok(), Some(shown(&value)));
        }
    }
}

#[test]
fn attributes_before_an_answer_are_skipped() {
    let attributes = "|1\r\n+key-popularity\r\n%1\r\n$1\r\na\r\n,0.19\r\n";
    for (answer, value) in [
        ("+OK\r\n", Value::Okay),
        (":1\r\n", Value::Int(1)),
        ("_\r\n", Value::Nil),
    ] {
        let text = format!("{attributes}{answer}");
        assert_eq!(decoded(text.as_bytes()), Some((value, text.len())));
    }
}

#[test]
fn nesting_limit_is_the_client_librarys() {
    for depth in [98, 99, 100, 101] {
        let text = [b"*1\r\n".repeat(depth), b":1\r\n".to_vec()].concat();
        let is_decoded = decode(&text).is_ok();
        assert_eq!(
            is_decoded,
            redis::parse_redis_value(&text).is_ok(),
            "{depth}"
        );
    }
}

#[test]
fn impossible_length_is_refused() {
    for text in [
        "%-1\r\n",
        "|-1\r\n",
        "=-1\r\n",
        "!-1\r\n",
        "$9223372036854775807\r\n",
        ":\r\n",
        "*x\r\n",
        ">1\r\n:1\r\n",
        "$1\r\nxyz",
        "?",
    ] {
        assert!(decode(text.as_bytes()).is_err(), "{text:?}");
    }
    // The decoder reserves no memory for values that have not arrived.
    assert!(decoded(b"*9223372036854775807\r\n").is_none());
    assert!(
        decode(&[b'+'; MAX_LENGTH]).is_err(),
        "a line without an end"
    );
}
