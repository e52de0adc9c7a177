//! Templates and key expressions produce the documented keys.

use std::borrow::Cow;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;

use lock_runtime::{
    KeyPart, KeyWriter, LockClient, LockError, LockErrorKind, LockKey, distributed_lock,
};

type Key = Result<String, LockError>;

const REGION: &str = "north";

struct Sku(u32);

impl KeyPart for Sku {
    fn write_to(&self, key: &mut KeyWriter) {
        write!(key, "sku:{}", self.0);
    }
}

struct Order<'a> {
    id: u64,
    pair: (u8, Option<char>),
    lines: Vec<&'a str>,
}

impl Order<'_> {
    fn line(&self, at: usize) -> &str {
        self.lines[at]
    }
}

/// A function whose body returns its key.
macro_rules! keyed {
    ($name:ident, $key:literal, ($($argument:pat => $type:ty),*)) => {
        #[distributed_lock(key = $key, guard = lock, client = locks)]
        fn $name(locks: &LockClient, $($argument: $type),*) -> Key {
            Ok(lock.key().to_owned())
        }
    };
}

#[distributed_lock(key = "order:<order.id>/<order.pair.0>:<order.lines[1]>:<order.line(0)>", guard = lock, client = locks)]
fn chain(locks: &LockClient, order: &Order<'_>) -> Key {
    let _ = &order.pair.1;
    Ok(lock.key().to_owned())
}

#[distributed_lock(key = "<REGION>:<*id>:<crate::keys::REGION>", guard = lock, client = locks)]
fn roots(locks: &LockClient, id: &u64) -> Key {
    let _ = id;
    Ok(lock.key().to_owned())
}

#[distributed_lock(key = "{<tenant>}<<x>>:<id>", guard = lock, client = locks)]
fn literal_brackets(locks: &LockClient, tenant: &str, id: u8) -> Key {
    let _ = (tenant, id);
    Ok(lock.key().to_owned())
}

#[distributed_lock(key = r#"a"<id>\n"#, guard = lock, client = locks)]
fn raw_literal(locks: &LockClient, id: u8) -> Key {
    let _ = id;
    Ok(lock.key().to_owned())
}

#[distributed_lock(key = "\u{6f}rder\t:<id>", guard = lock, client = locks)]
fn escaped_literal(locks: &LockClient, id: u8) -> Key {
    let _ = id;
    Ok(lock.key().to_owned())
}

#[distributed_lock(key = "<a>:<b>:<c>:<d>:<e>:<f>:<g>", guard = lock, client = locks)]
#[allow(clippy::too_many_arguments)]
fn kinds(
    locks: &LockClient,
    a: i8,
    b: bool,
    c: &Arc<str>,
    d: Cow<'_, str>,
    e: IpAddr,
    f: NonZeroU32,
    g: &Sku,
) -> Key {
    let _ = (a, b, c, d, e, f, g);
    Ok(lock.key().to_owned())
}

#[test]
fn templates() {
    let locks = LockClient::memory();
    let order = Order {
        id: 42,
        pair: (7, None),
        lines: vec!["a b", "c"],
    };
    assert_eq!(chain(&locks, &order).unwrap(), "order:42/7:c:a%20b");
    assert_eq!(roots(&locks, &3).unwrap(), "north:3:north");
    assert_eq!(literal_brackets(&locks, "t:1", 5).unwrap(), "{t%3A1}<x>:5");
    assert_eq!(raw_literal(&locks, 5).unwrap(), "a\"5\\n");
    assert_eq!(escaped_literal(&locks, 5).unwrap(), "order\t:5");
}

#[test]
fn every_kind_of_value() {
    let key = kinds(
        &LockClient::memory(),
        -1,
        true,
        &Arc::from("é"),
        Cow::Borrowed("x/y"),
        IpAddr::from([10, 0, 0, 1]),
        NonZeroU32::MIN,
        &Sku(9),
    );
    assert_eq!(key.unwrap(), "-1:true:é:x%2Fy:10.0.0.1:1:sku%3A9");
}

#[test]
fn a_literal_through_macro_rules_is_a_template() {
    keyed!(by_macro, "order:<id>", (id => u64));
    assert_eq!(by_macro(&LockClient::memory(), 42).unwrap(), "order:42");
}

#[test]
fn an_empty_value_locks_nothing() {
    #[distributed_lock(key = "user:<name>", client = locks)]
    fn touch(locks: &LockClient, name: &str, ran: &mut bool) -> Result<(), LockError> {
        *ran = true;
        Ok(())
    }

    let mut ran = false;
    let error = touch(&LockClient::memory(), "", &mut ran).unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::InvalidKey);
    assert!(error.to_string().contains("`<name>`"), "{error}");
    assert!(!ran);
}

#[distributed_lock(key = key, guard = lock, client = locks)]
fn by_text(locks: &LockClient, key: &str) -> Key {
    Ok(lock.key().to_owned())
}

#[distributed_lock(key = key, guard = lock, client = locks)]
fn by_string(locks: &LockClient, key: String) -> Key {
    Ok(lock.key().to_owned())
}

#[distributed_lock(key = LockKey::from(key), guard = lock, client = locks)]
fn by_key(locks: &LockClient, key: &str) -> Key {
    Ok(lock.key().to_owned())
}

#[distributed_lock(key = key, guard = lock, client = locks)]
fn by_anything<K: Into<LockKey> + Clone>(locks: &LockClient, key: K) -> Key {
    Ok(lock.key().to_owned())
}

#[distributed_lock(key = name.to_lowercase().as_str(), guard = lock, client = locks)]
fn by_temporary(locks: &LockClient, name: &str) -> Key {
    Ok(lock.key().to_owned())
}

#[distributed_lock(key = Order { id, pair: (0, None), lines: vec![] }.id.to_string(), guard = lock, client = locks)]
fn by_literal(locks: &LockClient, id: u64) -> Key {
    Ok(lock.key().to_owned())
}

#[distributed_lock(key = (key), guard = lock, client = locks)]
fn by_parenthesised(locks: &LockClient, key: String) -> Key {
    Ok(lock.key().to_owned())
}

#[distributed_lock(key = ("order:<id>"), guard = lock, client = locks)]
fn parenthesised_template(locks: &LockClient, id: u8) -> Key {
    Ok(lock.key().to_owned())
}

#[distributed_lock(key = r##"<name.trim_matches('>')>:<name.replace('"', r#"(">"#)>"##, guard = lock, client = locks)]
fn literals(locks: &LockClient, name: &str) -> Key {
    Ok(lock.key().to_owned())
}

#[test]
fn literals_in_placeholders() {
    let key = literals(&LockClient::memory(), ">a\"").unwrap();
    assert_eq!(key, "a%22:%3Ea%28%22%3E");
}

#[test]
fn key_expressions() {
    let locks = LockClient::memory();
    assert_eq!(by_text(&locks, "order:42").unwrap(), "order:42");
    assert_eq!(by_string(&locks, "order:42".into()).unwrap(), "order:42");
    assert_eq!(by_key(&locks, "order:42").unwrap(), "order:42");
    assert_eq!(by_temporary(&locks, "ORDER").unwrap(), "order");
    assert_eq!(by_literal(&locks, 42).unwrap(), "42");
    let parenthesised = by_parenthesised(&locks, "order:42".into());
    assert_eq!(parenthesised.unwrap(), "order:42");
    assert_eq!(parenthesised_template(&locks, 42).unwrap(), "order:42");
    assert_eq!(
        by_anything(&locks, String::from("order:42")).unwrap(),
        "order:42"
    );
}

#[test]
fn text_that_reads_like_a_template_is_refused_and_data_is_not() {
    let locks = LockClient::memory();
    let error = by_text(&locks, "order:<id>").unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::InvalidKey);
    assert!(error.to_string().contains("`<id>`"), "{error}");
    assert_eq!(
        by_string(&locks, "order:<id>".into()).unwrap(),
        "order:<id>"
    );
    assert_eq!(by_key(&locks, "order:<id>").unwrap(), "order:<id>");
}
