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

/// Asserts which key a function with these arguments locks.
macro_rules! assert_key {
    ([$($key:tt)+], ($($argument:ident: $type:ty = $value:expr),*) => $expected:expr) => {{
        #[distributed_lock(key = $($key)+, guard = lock, client = locks)]
        #[allow(clippy::too_many_arguments, reason = "each is a kind of value")]
        fn keyed(locks: &LockClient, $($argument: $type),*) -> Key {
            Ok(lock.key().to_owned())
        }
        assert_eq!(keyed(&LockClient::memory(), $($value),*).unwrap(), $expected);
    }};
}

#[test]
fn template_writes_the_values_it_names() {
    let order = Order {
        id: 42,
        pair: (7, None),
        lines: vec!["a b", "c"],
    };
    assert!(order.pair.1.is_none());
    assert_key!(
        ["order:<order.id>/<order.pair.0>:<order.lines[1]>:<order.line(0)>"],
        (order: &Order<'_> = &order) => "order:42/7:c:a%20b"
    );
    assert_key!(["<REGION>:<*id>:<crate::options::keys::REGION>"], (id: &u64 = &3) => "north:3:north");
    assert_key!(
        ["{<tenant>}<<x>>:<id>"],
        (tenant: &str = "t:1", id: u8 = 5) => "{t%3A1}<x>:5"
    );
    assert_key!(["größe:<größe>/日本"], (größe: u8 = 1) => "größe:1/日本");
    assert_key!([r#"a"<id>\n"#], (id: u8 = 5) => "a\"5\\n");
    assert_key!(["\u{6f}rder\t:<\u{69}d>"], (id: u8 = 5) => "order\t:5");
    assert_key!(["long:\
                  <id>"], (id: u8 = 5) => "long:5");
    assert_key!(["<<<id>>>:{tag}"], (id: u8 = 5) => "<5>:{tag}");
    assert_key!([("order:<id>")], (id: u8 = 42) => "order:42");
    assert_key!(
        [r##"<name.trim_matches('>')>:<name.replace('"', r#"(">"#)>"##],
        (name: &str = ">a\"") => "a%22:%3Ea%28%22%3E"
    );
}

#[test]
fn every_kind_of_value_has_a_text() {
    assert_key!(
        ["<a>:<b>:<c>:<d>:<e>:<f>:<g>"],
        (
            a: i8 = -1,
            b: bool = true,
            c: &Arc<str> = &Arc::from("é"),
            d: Cow<'_, str> = Cow::Borrowed("x/y"),
            e: IpAddr = IpAddr::from([10, 0, 0, 1]),
            f: NonZeroU32 = NonZeroU32::MIN,
            g: &Sku = &Sku(9)
        ) => "-1:true:é:x%2Fy:10.0.0.1:1:sku%3A9"
    );
}

#[test]
fn other_value_is_an_expression() {
    assert_key!([key], (key: &str = "order:42") => "order:42");
    assert_key!([key], (key: String = "order:42".into()) => "order:42");
    assert_key!([(key)], (key: String = "order:42".into()) => "order:42");
    assert_key!([LockKey::from(key)], (key: &str = "order:42") => "order:42");
    assert_key!([name.to_lowercase().as_str()], (name: &str = "ORDER") => "order");
    assert_key!(
        [Order { id, pair: (0, None), lines: vec![] }.id.to_string()],
        (id: u64 = 42) => "42"
    );

    #[distributed_lock(key = key, guard = lock, client = locks)]
    fn generic<K: Into<LockKey> + Clone>(locks: &LockClient, key: K) -> Key {
        Ok(lock.key().to_owned())
    }
    let key = generic(&LockClient::memory(), String::from("order:42"));
    assert_eq!(key.unwrap(), "order:42");
}

#[test]
fn text_like_a_template_is_refused_and_data_is_not() {
    #[distributed_lock(key = key, client = locks)]
    fn by_text(locks: &LockClient, key: &str) -> Result<(), LockError> {
        panic!("the body ran")
    }

    let error = by_text(&LockClient::memory(), "order:<id>").unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::InvalidKey);
    assert!(error.to_string().contains("`<id>`"), "{error}");
    assert_key!([key], (key: String = "order:<id>".into()) => "order:<id>");
    assert_key!([LockKey::from(key)], (key: &str = "order:<id>") => "order:<id>");
}
