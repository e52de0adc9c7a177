//! `#[derive(KeyPart)]` on types of every shape: the parts that they write, and how these are escaped.

use std::borrow::Cow;
use std::collections::HashSet;
use std::marker::PhantomData;

use lock_runtime::{KeyPart, KeyWriter, LockClient, LockError, distributed_lock};

fn written(value: &dyn KeyPart) -> String {
    let mut key = KeyWriter::new();
    key.part(&value);
    key.finish().as_str().to_owned()
}

#[derive(KeyPart)]
struct OrderId(u64);

#[derive(KeyPart)]
struct Named {
    r#type: String,
}

#[derive(KeyPart)]
struct Borrowed<'a>(Cow<'a, str>);

/// One id type for every kind of record, as many services have it.
#[derive(KeyPart)]
struct Id<T> {
    number: u64,
    _of: PhantomData<T>,
}

#[derive(KeyPart)]
struct Tagged<T>(T)
where
    T: Clone;

#[derive(KeyPart)]
struct Boxed<T: ?Sized>(Box<T>);

trait Shop {
    type Number;
}

#[derive(KeyPart)]
struct NumberIn<S: Shop>(S::Number);

struct Here;

impl Shop for Here {
    type Number = u8;
}

#[derive(KeyPart)]
#[allow(non_camel_case_types, dead_code)]
enum Region {
    North,
    #[key_part(rename = "the:south")]
    South,
    r#type,
    East = 7,
}

/// A `PhantomData<T>` and a `u64` by a macro, and a field whose type is its argument.
macro_rules! id {
    ($name:ident, $inner:ty) => {
        #[derive(KeyPart)]
        struct $name($inner, PhantomData<fn()>);
    };
}

id!(ByMacro, &'static str);

mod elsewhere {
    /// Like a crate that re-exports `lock_runtime`.
    pub(super) mod locks {
        pub(crate) use lock_runtime::*;
    }

    #[derive(locks::KeyPart)]
    #[key_part(crate = crate::options::key_part::elsewhere::locks)]
    pub(super) struct There(pub(super) char);
}

#[test]
fn newtype_writes_its_field() {
    assert_eq!(written(&OrderId(42)), "42");
    assert_eq!(
        written(&Named {
            r#type: "a b".to_owned()
        }),
        "a%20b"
    );
    assert_eq!(written(&Borrowed("x:y".into())), "x%3Ay");
    assert_eq!(
        written(&Id::<Here> {
            number: 7,
            _of: PhantomData
        }),
        "7"
    );
    assert_eq!(written(&Tagged(OrderId(3).0)), "3");
    assert_eq!(written(&Boxed::<str>("é".into())), "é");
    assert_eq!(written(&NumberIn::<Here>(9)), "9");
    assert_eq!(written(&ByMacro("m", PhantomData)), "m");
    assert_eq!(written(&elsewhere::There('t')), "t");
}

#[test]
fn variant_writes_its_text_escaped() {
    let texts =
        [Region::North, Region::South, Region::r#type, Region::East].map(|region| written(&region));
    assert_eq!(texts, ["North", "the%3Asouth", "type", "East"]);
    assert_eq!(HashSet::from(texts).len(), 4);
}

#[test]
fn derived_values_fill_a_template() {
    #[distributed_lock(key = "<region>:<id>:<*other>", guard = lock, client = locks)]
    fn ship(
        locks: &LockClient,
        region: Region,
        id: OrderId,
        other: &Borrowed<'_>,
    ) -> Result<String, LockError> {
        Ok(lock.key().to_owned())
    }

    let locks = LockClient::memory();
    let other = Borrowed("a:b".into());
    let key = ship(&locks, Region::South, OrderId(1), &other).unwrap();
    assert_eq!(key, "the%3Asouth:1:a%3Ab");
}
