//! Functions made by macros, and scopes in which short names have unusual meanings.

use crate::check::{inside, locks, locks_blocking, pausing};

macro_rules! inside_of_the_macro {
    ($name:ident) => {
        #[lock_runtime::distributed_lock(key = "inside:<id>")]
        async fn $name(id: u8) -> Result<u8, lock_runtime::LockError> {
            pausing().await;
            Ok(id)
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
            pausing().await;
            Ok($id)
        }
    };
}

macro_rules! method {
    ($type:ident, $self:ident, $result:expr) => {
        impl $type {
            #[lock_runtime::distributed_lock(key = "method:<self.0>")]
            fn made(&$self) -> Result<u8, lock_runtime::LockError> {
                inside();
                Ok($result)
            }
        }
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
whole_item! {
    #[lock_runtime::distributed_lock(key = "whole:<id>")]
    async fn whole(id: u8) -> Result<u8, lock_runtime::LockError> {
        pausing().await;
        Ok(id)
    }
}
attribute_of_the_macro! {
    async fn item(id: u8) -> Result<u8, lock_runtime::LockError> {
        pausing().await;
        Ok(id)
    }
}

#[tokio::test]
async fn functions_made_by_macros() {
    let id = locks("inside:1", async || made_inside(1).await);
    assert_eq!(id.await.unwrap(), 1);
    let id = locks_blocking("outside:1", || made_outside(1));
    assert_eq!(id.unwrap(), 1);
    let id = locks("mixed:1", async || mixed(1).await);
    assert_eq!(id.await.unwrap(), 1);
    let id = locks_blocking("method:1", || Shop(1).made());
    assert_eq!(id.unwrap(), 1);
    let id = locks("whole:1", async || whole(1).await);
    assert_eq!(id.await.unwrap(), 1);
    let id = locks("item:1", async || item(1).await);
    assert_eq!(id.await.unwrap(), 1);
}

mod shadowed {
    //! Short names that generated code might use, with other meanings.
    #![allow(dead_code, unused_macros, non_camel_case_types)]

    use crate::check::{inside, pausing};

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

    use crate::check::{inside, pausing};

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
    let id = locks("shadowed:1", async || shadowed::asynchronous(1).await);
    assert_eq!(id.await.unwrap(), 1);
    let id = locks_blocking("shadowed blocking:1", || shadowed::blocking(1));
    assert_eq!(id.unwrap(), 1);
    let id = locks("bare:1", async || without_a_prelude::asynchronous(1).await);
    assert_eq!(id.await.unwrap(), 1);
    let id = locks_blocking("bare blocking:1", || without_a_prelude::blocking(1));
    assert_eq!(id.unwrap(), 1);
    locks("bare skip", async || without_a_prelude::skipping().await).await;
}
