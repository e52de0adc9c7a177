//! `#[derive(LockKey)]` on structs of every shape: the keys that they are, and where such a key can be given.

use std::marker::PhantomData;

use lock_runtime::{
    KeyPart, LockClient, LockError, LockErrorKind, LockKey, distributed_lock, testing,
};

const REGION: &str = "north";

struct Tenant {
    name: String,
    ports: [u16; 2],
}

#[derive(LockKey)]
#[lock_key("{<tenant.name>}:invoice:<id>")]
struct InvoiceKey<'a> {
    tenant: &'a Tenant,
    id: u64,
}

#[derive(LockKey, Clone)]
#[lock_key("<crate::options::lock_key::REGION>:<REGION>/<0>:<1.1>:<*2>")]
struct Numbered<'a>(char, (u8, u8), &'a str);

#[derive(LockKey)]
#[lock_key("nightly")]
struct Nightly;

/// One key type for every kind of record.
#[derive(LockKey)]
#[lock_key("<Self::KIND>:<id>:<r#type.trim_matches('>')>")]
struct RecordKey<T, const N: usize>
where
    T: Clone,
{
    id: T,
    r#type: &'static str,
    _of: PhantomData<[u8; N]>,
}

impl<T: Clone, const N: usize> RecordKey<T, N> {
    const KIND: &'static str = "record";
}

/// An argument of a field's method is the field, not a reference to it.
#[derive(LockKey)]
#[lock_key("<tenant.ports[at]>:<names.get(at).unwrap()>")]
struct Indexed {
    tenant: Tenant,
    names: Vec<String>,
    at: usize,
}

/// A field of the macro, a field of its caller, and a template of either.
macro_rules! key {
    ($name:ident, $field:ident: $type:ty, $template:literal) => {
        #[derive(LockKey)]
        #[lock_key($template)]
        struct $name {
            $field: $type,
        }
    };
    ($name:ident, $type:ty) => {
        #[derive(LockKey)]
        #[lock_key("own:<id>")]
        struct $name {
            id: $type,
        }
    };
}

key!(ByCaller, id: u8, "caller:<id>");
key!(ByMacro, &'static str);

mod elsewhere {
    /// Like a crate that re-exports `lock_runtime`.
    pub(super) mod locks {
        pub(crate) use lock_runtime::*;
    }

    #[derive(locks::LockKey)]
    #[lock_key("there:<0>", crate = crate::options::lock_key::elsewhere::locks)]
    pub(super) struct There(pub(super) u8);
}

fn acme() -> Tenant {
    Tenant {
        name: "a:cme".to_owned(),
        ports: [80, 443],
    }
}

fn text(key: impl Into<LockKey>) -> String {
    key.into().as_str().to_owned()
}

#[test]
fn declared_key_is_its_template_with_the_fields() {
    let tenant = acme();
    let invoice = InvoiceKey {
        tenant: &tenant,
        id: 7,
    };
    assert_eq!(text(&invoice), "{a%3Acme}:invoice:7");
    assert_eq!(text(invoice), "{a%3Acme}:invoice:7");
    assert_eq!(text(Numbered('x', (1, 2), "y z")), "north:north/x:2:y%20z");
    assert_eq!(text(Nightly), "nightly");
    let record = RecordKey::<_, 3> {
        id: "7".to_owned(),
        r#type: ">t",
        _of: PhantomData,
    };
    assert_eq!(text(record), "record:7:t");
    let indexed = Indexed {
        tenant: acme(),
        names: vec!["a".to_owned(), "b".to_owned()],
        at: 1,
    };
    assert_eq!(text(indexed), "443:b");
    assert_eq!(text(ByCaller { id: 7 }), "caller:7");
    assert_eq!(text(ByMacro { id: "m" }), "own:m");
    assert_eq!(text(elsewhere::There(1)), "there:1");
}

#[test]
fn declared_key_inside_a_function_is_a_key() {
    #[derive(KeyPart)]
    struct Id(u8);

    #[derive(LockKey)]
    #[lock_key("local:<0>")]
    struct Local(Id);

    assert_eq!(text(Local(Id(7))), "local:7");
}

#[distributed_lock(key = InvoiceKey { tenant, id }, wait = "0s", token = token, client = locks)]
async fn pay(locks: &LockClient, tenant: &Tenant, id: u64) -> Result<u64, LockError> {
    Ok(token.get())
}

#[distributed_lock(keys = [InvoiceKey { tenant, id }, Nightly], wait = "0s", guard = held, client = locks)]
fn book(locks: &LockClient, tenant: &Tenant, id: u64) -> Result<usize, LockError> {
    Ok(held.keys().count())
}

#[distributed_lock(keys = ids.iter().map(|id| InvoiceKey { tenant, id: *id }), guard = held, client = locks)]
fn close(locks: &LockClient, tenant: &Tenant, ids: &[u64]) -> Result<usize, LockError> {
    Ok(held.keys().count())
}

#[tokio::test]
async fn declared_key_is_taken_wherever_a_key_is() {
    let (locks, tenant) = (LockClient::memory(), acme());
    let key = || InvoiceKey {
        tenant: &tenant,
        id: 7,
    };
    let elsewhere = testing::occupy(&locks, key(), "api-2").unwrap();
    assert!(pay(&locks, &tenant, 7).await.unwrap_err().is_busy());
    assert!(book(&locks, &tenant, 7).unwrap_err().is_busy());
    let by_hand = locks.lock(key()).try_acquire().await.unwrap();
    assert!(by_hand.is_none());
    assert_eq!(locks.inspect(&key()).await.unwrap().holders.len(), 1);
    pay(&locks, &tenant, 8).await.unwrap();
    drop(elsewhere);
    assert_eq!(book(&locks, &tenant, 7).unwrap(), 2);
    assert_eq!(close(&locks, &tenant, &[1, 2, 1]).unwrap(), 2);
    let both = locks.lock_all([&key(), &key()]).acquire().await.unwrap();
    assert!(both.keys().eq(["{a%3Acme}:invoice:7"]));
}

#[test]
fn field_without_a_value_is_refused_by_its_name() {
    let tenant = Tenant {
        name: String::new(),
        ports: [0; 2],
    };
    let error = book(&LockClient::memory(), &tenant, 7).unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::InvalidKey);
    let text = error.to_string();
    assert!(
        text.contains("the value of `<tenant.name>` in the key is empty"),
        "{text}"
    );
}
