//! Functions made by macros, and a scope without the prelude.

use super::check::{assert_locks, at_once, entered, inside, locks, paused};

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
    assert_locks!(at_once("outside:1"), made_outside(1), 1);
    assert_locks!("mixed:1", mixed(1).await, 1);
    assert_locks!(at_once("method:1"), Shop(1).made(), 1);
    assert_locks!(at_once("body"), body(), 1);
    assert_locks!(at_once("pattern:1:2"), pattern((1, 2)), 3);
    assert_locks!("whole:1", whole(1).await, 1);
    assert_locks!("item:1", item(1).await, 1);
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

mod without_a_prelude {
    //! No short name means anything here. Without a prelude the macros of the language remain, so it hides them.
    #![no_implicit_prelude]
    #![allow(unused_macros, reason = "nothing may use them")]

    use super::super::check::{inside, pausing};

    macro_rules! panic {
        () => {};
    }
    macro_rules! unreachable {
        () => {};
    }

    type Answer = ::core::result::Result<u8, ::lock_runtime::LockError>;

    #[::lock_runtime::distributed_lock(key = "bare:<id>", ttl = "1s", wait = "0s", max_hold = "1m")]
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
    assert_locks!("bare:1", without_a_prelude::asynchronous(1).await, 1);
    assert_locks!(
        at_once("bare blocking:1"),
        without_a_prelude::blocking(1),
        1
    );
    locks("bare skip", async || without_a_prelude::skipping().await).await;
}
