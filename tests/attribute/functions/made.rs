//! Functions made by macros, and scopes in which short names have unusual meanings.

use super::check::{assert_locks, entered, inside, locks, paused};

macro_rules! inside_of_the_macro {
    ($name:ident) => {
        #[lock_runtime::distributed_lock(key = "inside:<id>", guard = held)]
        async fn $name(id: u8) -> Result<u8, lock_runtime::LockError> {
            assert_eq!(held.key(), "inside:1");
            paused(id).await
        }
    };
}

macro_rules! outside_of_the_macro {
    ($(#[$attribute:meta])* $name:ident($id:ident: $ty:ty) $body:block, $key:literal) => {
        $(#[$attribute])*
        #[lock_runtime::distributed_lock(key = $key)]
        fn $name($id: $ty) -> Result<$ty, lock_runtime::LockError> $body
    };
}

macro_rules! key_of_the_macro {
    ($name:ident, $id:ident, $ttl:expr) => {
        #[lock_runtime::distributed_lock(key = "mixed:<id>", ttl = $ttl)]
        async fn $name($id: u8) -> Result<u8, lock_runtime::LockError> {
            paused($id).await
        }
    };
}

macro_rules! method {
    ($type:ident, $self:ident, $result:expr) => {
        impl $type {
            #[lock_runtime::distributed_lock(key = "method:<self.0>")]
            fn made(&$self) -> Result<u8, lock_runtime::LockError> {
                entered($result)
            }
        }
    };
}

macro_rules! whole_body {
    ($name:ident, $body:block) => {
        #[lock_runtime::distributed_lock(key = "body")]
        fn $name() -> Result<u8, lock_runtime::LockError> $body
    };
}

macro_rules! pair {
    ($a:pat, $b:pat) => {
        ($a, $b)
    };
}

macro_rules! whole_item {
    ($item:item) => {
        $item
    };
}

macro_rules! attribute_of_the_macro {
    ($item:item) => {
        #[lock_runtime::distributed_lock(key = "item:<id>")]
        $item
    };
}

struct Shop(u8);

inside_of_the_macro!(made_inside);
outside_of_the_macro!(#[inline] made_outside(id: u8) { inside(); Ok(id) }, "outside:<id>");
key_of_the_macro!(mixed, id, "1s");
method!(Shop, self, self.0);
whole_body!(body, {
    inside();
    if Shop(1).0 == 1 {
        return Ok(1);
    }
    Ok(2)
});
whole_item! {
    #[lock_runtime::distributed_lock(key = "whole:<id>")]
    async fn whole(id: u8) -> Result<u8, lock_runtime::LockError> {
        paused(id).await
    }
}
attribute_of_the_macro! {
    async fn item(id: u8) -> Result<u8, lock_runtime::LockError> {
        paused(id).await
    }
}

#[lock_runtime::distributed_lock(key = "pattern:<a>:<b>")]
fn pattern(pair!(a, b): (u8, u8)) -> Result<u8, lock_runtime::LockError> {
    entered(a + b)
}

#[tokio::test]
async fn functions_made_by_macros() {
    assert_locks!("inside:1", made_inside(1).await, 1);
    assert_locks!("outside:1", made_outside(1), 1);
    assert_locks!("mixed:1", mixed(1).await, 1);
    assert_locks!("method:1", Shop(1).made(), 1);
    assert_locks!("body", body(), 1);
    assert_locks!("pattern:1:2", pattern((1, 2)), 3);
    assert_locks!("whole:1", whole(1).await, 1);
    assert_locks!("item:1", item(1).await, 1);
}

/// Arguments with the expansion's own names.
#[lock_runtime::distributed_lock(
    key = "<key>:<spec>:<asked>:<acquired>:<held>:<outcome>:<output>:<error>:<body>",
    guard = guard
)]
async fn same_names(
    key: u8,
    spec: u8,
    asked: u8,
    acquired: u8,
    held: u8,
    outcome: u8,
    output: u8,
    error: u8,
    body: u8,
) -> Result<u8, lock_runtime::LockError> {
    assert_eq!(guard.key(), "1:2:3:4:5:6:7:8:9");
    paused(key + spec + asked + acquired + held + outcome + output + error + body).await
}

mod items {
    //! Constants and statics have no hygiene: a variable of their name would be a pattern.
    #![allow(dead_code, non_upper_case_globals, non_camel_case_types)]

    use lock_runtime::{LockError, distributed_lock};

    use super::super::check::{inside, paused};

    static key: u8 = 1;
    static spec: u8 = 1;
    const acquire: u8 = 2;
    const body: u8 = 3;
    const outcome: u8 = 4;
    struct asked;
    struct acquired;
    struct held;
    struct output;
    struct error;
    struct is_text;

    #[distributed_lock(key = "items:<id>", on_busy = "skip")]
    pub(super) async fn asynchronous(id: u8) -> Result<Option<u8>, LockError> {
        paused(Some(id + key + body)).await
    }

    #[distributed_lock(key = String::from("items"), or_else = |_| outcome)]
    pub(super) fn synchronous() -> u8 {
        inside();
        key + body
    }
}

#[tokio::test]
async fn names_of_the_expansion_are_its_own() {
    assert_locks!(
        "1:2:3:4:5:6:7:8:9",
        same_names(1, 2, 3, 4, 5, 6, 7, 8, 9).await,
        45
    );
    assert_locks!("items:1", items::asynchronous(1).await, Some(5));
    assert_eq!(locks("items", async || items::synchronous()).await, 4);
}

mod renamed {
    pub(super) use lock_runtime as platform_locks;
}

#[lock_runtime::distributed_lock(key = "renamed", crate = self::renamed::platform_locks)]
async fn through_another_path() -> Result<u8, lock_runtime::LockError> {
    paused(1).await
}

#[tokio::test]
async fn runtime_crate_may_have_another_name() {
    assert_locks!("renamed", through_another_path().await, 1);
}

mod shadowed {
    //! Short names that generated code might use, with other meanings.
    #![allow(dead_code, unused_macros, non_camel_case_types)]

    use super::super::check::{inside, pausing};

    mod core {}
    mod std {}
    mod lock_runtime {}
    mod tokio {}
    struct Result;
    struct Option;
    struct Ok;
    struct Err;
    struct Some;
    struct None;
    struct Box;
    struct String;
    struct Future;
    struct Pin;
    struct Duration;
    trait From {}
    trait Into {}
    trait Drop {}
    trait Send {}
    macro_rules! format {
        () => {};
    }
    macro_rules! panic {
        () => {};
    }

    pub(super) type Answer = ::core::result::Result<u8, ::lock_runtime::LockError>;

    #[::lock_runtime::distributed_lock(key = "shadowed:<id>", ttl = "1s", wait = "0s")]
    pub(super) async fn asynchronous(id: u8) -> Answer {
        pausing().await;
        Answer::Ok(id)
    }

    #[::lock_runtime::distributed_lock(key = "shadowed blocking:<id>", on_busy = "error")]
    pub(super) fn blocking(id: u8) -> Answer {
        inside();
        Answer::Ok(id)
    }
}

mod without_a_prelude {
    #![no_implicit_prelude]

    use super::super::check::{inside, pausing};

    use super::shadowed::Answer;

    #[::lock_runtime::distributed_lock(key = "bare:<id>", ttl = "1s", max_hold = "1m")]
    pub(super) async fn asynchronous(id: u8) -> Answer {
        pausing().await;
        Answer::Ok(id)
    }

    #[::lock_runtime::distributed_lock(key = "bare blocking:<id>", or_else = Answer::Err)]
    pub(super) fn blocking(id: u8) -> Answer {
        inside();
        Answer::Ok(id)
    }

    #[::lock_runtime::distributed_lock(key = "bare skip", on_busy = "skip", or_else = |_| ())]
    pub(super) async fn skipping() {
        pausing().await;
    }
}

#[tokio::test]
async fn nothing_is_taken_from_the_surroundings() {
    assert_locks!("shadowed:1", shadowed::asynchronous(1).await, 1);
    assert_locks!("shadowed blocking:1", shadowed::blocking(1), 1);
    assert_locks!("bare:1", without_a_prelude::asynchronous(1).await, 1);
    assert_locks!("bare blocking:1", without_a_prelude::blocking(1), 1);
    locks("bare skip", async || without_a_prelude::skipping().await).await;
}
