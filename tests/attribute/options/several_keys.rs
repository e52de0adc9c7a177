//! `keys`: which locks a call holds together.

use lock_runtime::{LockClient, LockError, LockErrorKind, LockKey, distributed_lock};

use super::held;

type Keys = Result<Vec<String>, LockError>;

const FIXED: [&str; 2] = ["b", "a"];

/// Asserts which keys a function with these arguments locks, in the order of the guard, and that each of
/// them is held.
macro_rules! assert_keys {
    ([$($keys:tt)+], ($($argument:ident: $type:ty = $value:expr),*) => $expected:expr) => {{
        #[distributed_lock(keys = $($keys)+, guard = lock, client = locks)]
        fn keyed(locks: &LockClient, $($argument: $type),*) -> Keys {
            let keys: Vec<_> = lock.keys().map(str::to_owned).collect();
            assert!(keys.iter().all(|key| held(locks, key)), "{keys:?}");
            Ok(keys)
        }
        let locks = LockClient::memory();
        let keys = keyed(&locks, $($value),*).unwrap();
        assert_eq!(keys, $expected);
        assert!(!keys.iter().any(|key| held(&locks, key)), "{keys:?} after the call");
    }};
}

fn names() -> Vec<String> {
    ["b", "a", "b"].map(str::to_owned).into()
}

#[test]
fn keys_are_templates_and_expressions_or_a_single_expression() {
    for (from, to, keys) in [
        (1, 2, &["account:1", "account:2"][..]),
        (2, 1, &["account:1", "account:2"]),
        (1, 1, &["account:1"]),
    ] {
        assert_keys!(
            [["account:<from>", "account:<to>"], mode = "write"],
            (from: u8 = from, to: u8 = to) => keys
        );
    }
    assert_keys!(
        [["{<tenant>}:<id>", "{<tenant>}<<x>>", format!("report-{}", id % 100)]],
        (tenant: &str = "a:b", id: u32 = 142) => ["report-42", "{a%3Ab}:142", "{a%3Ab}<x>"]
    );
    assert_keys!([["order:<id>"]], (id: u32 = 7) => ["order:7"]);
    assert_keys!(
        [[first, (second), LockKey::from(third), third.to_uppercase().as_str()]],
        (first: String = "c".into(), second: LockKey = "b".into(), third: &str = "a")
            => ["A", "a", "b", "c"]
    );
    assert_keys!(
        [ids.iter().map(|id| format!("order:{id}"))],
        (ids: &[u32] = &[2, 1, 2]) => ["order:1", "order:2"]
    );
    assert_keys!([&names], (names: Vec<String> = names()) => ["a", "b"]);
    assert_keys!(
        [names],
        (names: Vec<LockKey> = names().into_iter().map(LockKey::from).collect()) => ["a", "b"]
    );
    assert_keys!([FIXED], () => ["a", "b"]);
    assert_keys!([names.split(',')], (names: &str = "b,a") => ["a", "b"]);
}

#[test]
fn keys_of_a_macro_are_read_like_others() {
    macro_rules! made {
        ([$($key:tt),*], $id:ident => $expected:expr) => {
            assert_keys!([[$($key),*]], ($id: u8 = 7) => $expected)
        };
        ($first:literal, $id:ident => $expected:expr) => {
            assert_keys!([[$first, "b:<id>", "c:<id>"]], ($id: u8 = 7) => $expected)
        };
        (whole $keys:expr, $id:ident => $expected:expr) => {
            assert_keys!([$keys], ($id: u8 = 7) => $expected)
        };
    }
    made!(["a:<id>", "b:<id>"], id => ["a:7", "b:7"]);
    made!("a:<id>", id => ["a:7", "b:7", "c:7"]);
    made!(whole ["a:<id>", "b"], id => ["a:7", "b"]);
}

#[distributed_lock(keys = ids, client = locks)]
async fn listed<I>(locks: &LockClient, ids: I) -> Result<(), LockError>
where
    I: IntoIterator<Item: Into<LockKey>>,
{
    Ok(())
}

#[tokio::test]
async fn text_like_a_template_is_refused_and_data_is_not() {
    #[distributed_lock(keys = ["ledger", key], client = locks)]
    async fn element(locks: &LockClient, key: &str) -> Result<(), LockError> {
        panic!("the body ran")
    }

    #[distributed_lock(keys = names.split(','), client = locks)]
    async fn texts(locks: &LockClient, names: &str) -> Result<(), LockError> {
        panic!("the body ran")
    }

    let locks = &LockClient::memory();
    for refused in [
        element(locks, "a:<id>").await,
        texts(locks, "b,a:<id>").await,
    ] {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::InvalidKey);
        assert!(error.to_string().contains("`<id>`"), "{error}");
    }
    listed(locks, ["a:<id>".to_owned()]).await.unwrap();
}

#[test]
fn empty_value_in_any_key_acquires_no_lock() {
    #[distributed_lock(keys = ["user:<one>", "user:<other>"], client = locks)]
    fn touch(locks: &LockClient, one: &str, other: &str) -> Result<(), LockError> {
        panic!("the body ran")
    }

    let locks = LockClient::memory();
    for (one, other, name) in [("", "eve", "`<one>`"), ("eve", "", "`<other>`")] {
        let error = touch(&locks, one, other).unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::InvalidKey);
        assert!(error.to_string().contains(name), "{error}");
    }
}
