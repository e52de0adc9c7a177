//! Functions made by macros, and names that might clash with the expansion.

use lock_runtime::{LockClient, LockError};

macro_rules! all_inside {
    ($name:ident) => {
        #[lock_runtime::distributed_lock(key = "order:<id>", client = locks, guard = lock)]
        async fn $name(locks: &LockClient, id: u64) -> Result<String, LockError> {
            Ok(format!("{} {id}", lock.key()))
        }
    };
}

macro_rules! name_outside {
    ($name:ident, $id:ident, $key:literal) => {
        #[lock_runtime::distributed_lock(key = $key, client = locks)]
        async fn $name(locks: &LockClient, $id: u64) -> Result<u64, LockError> {
            Ok($id)
        }
    };
}

macro_rules! key_inside {
    ($name:ident, $id:ident) => {
        #[lock_runtime::distributed_lock(key = "order:<id>", client = locks)]
        fn $name(locks: &LockClient, $id: u64) -> Result<u64, LockError> {
            Ok($id)
        }
    };
}

macro_rules! method {
    ($type:ident, $self:ident, $body:expr) => {
        impl $type {
            #[lock_runtime::distributed_lock(key = "shop:<self.id>", client = $self.locks)]
            fn made(&$self) -> Result<u8, LockError> {
                Ok($body)
            }
        }
    };
}

macro_rules! whole_body {
    ($name:ident, $locks:ident, $body:block) => {
        #[lock_runtime::distributed_lock(key = "block", client = $locks)]
        fn $name($locks: &LockClient) -> Result<u8, LockError> $body
    };
}

macro_rules! pair {
    ($a:pat, $b:pat) => {
        ($a, $b)
    };
}

#[lock_runtime::distributed_lock(key = "<a>:<b>", client = locks, guard = lock)]
fn pattern(locks: &LockClient, pair!(a, b): (u8, u8)) -> Result<String, LockError> {
    Ok(format!("{} {}", lock.key(), a + b))
}

struct Shop {
    locks: LockClient,
    id: u8,
}

whole_body!(block, locks, {
    if locks.lock("").try_acquire_blocking().is_ok() {
        return Ok(0);
    }
    Ok(5)
});
all_inside!(inside);
name_outside!(outside, id, "order:<id>");
key_inside!(mixed, id);
method!(Shop, self, self.id);

#[tokio::test]
async fn functions_made_by_macros() {
    let locks = LockClient::memory();
    assert_eq!(inside(&locks, 1).await.unwrap(), "order:1 1");
    assert_eq!(outside(&locks, 2).await.unwrap(), 2);
    assert_eq!(mixed(&locks, 3).unwrap(), 3);
    assert_eq!(block(&locks).unwrap(), 5);
    assert_eq!(pattern(&locks, (1, 2)).unwrap(), "1:2 3");
    assert_eq!(Shop { locks, id: 4 }.made().unwrap(), 4);
}

/// The expansion's own names, used in user code.
#[lock_runtime::distributed_lock(
    key = "<key>:<spec>:<asked>:<acquired>:<held>:<outcome>:<output>:<error>:<body>",
    client = locks,
    guard = guard
)]
#[allow(clippy::too_many_arguments)]
async fn same_names(
    locks: &LockClient,
    key: u8,
    spec: u8,
    asked: u8,
    acquired: u8,
    held: u8,
    outcome: u8,
    output: u8,
    error: u8,
    body: u8,
) -> Result<String, LockError> {
    let sum = key + spec + asked + acquired + held + outcome + output + error + body;
    Ok(format!("{} {sum}", guard.key()))
}

#[tokio::test]
async fn the_expansions_names_are_its_own() {
    let locks = LockClient::memory();
    let answer = same_names(&locks, 1, 2, 3, 4, 5, 6, 7, 8, 9).await.unwrap();
    assert_eq!(answer, "1:2:3:4:5:6:7:8:9 45");
}

mod items {
    //! Constants and statics have no hygiene: a variable of their name would be a pattern.
    #![allow(dead_code, non_upper_case_globals, non_camel_case_types)]

    use lock_runtime::{LockClient, LockError, distributed_lock};

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

    #[distributed_lock(key = "<id>", client = locks, on_busy = "skip")]
    pub(super) async fn asynchronous(locks: &LockClient, id: u8) -> Result<Option<u8>, LockError> {
        Ok(Some(id + key + body))
    }

    #[distributed_lock(key = String::from("k"), client = locks, or_else = |_| outcome)]
    pub(super) fn synchronous(locks: &LockClient) -> u8 {
        key + body
    }
}

#[tokio::test]
async fn the_users_items_are_no_patterns() {
    let locks = LockClient::memory();
    assert_eq!(items::asynchronous(&locks, 1).await.unwrap(), Some(5));
    assert_eq!(items::synchronous(&locks), 4);
}

mod shadowed {
    //! Every short name that generated code might use.
    #![allow(dead_code, non_camel_case_types)]

    pub(super) mod core {}
    pub(super) mod std {}
    pub(super) mod lock_runtime {}
    struct Result;
    struct Option;
    struct Ok;
    struct Err;
    struct Some;
    struct None;
    struct Future;
    struct Pin;
    struct String;
    trait Into {}
    trait From {}

    type Answer = ::core::result::Result<u8, ::lock_runtime::LockError>;

    #[::lock_runtime::distributed_lock(key = "<id>", ttl = "1s", client = locks)]
    pub(super) async fn asynchronous(locks: &::lock_runtime::LockClient, id: u8) -> Answer {
        Answer::Ok(id)
    }

    #[::lock_runtime::distributed_lock(key = "<id>", client = locks)]
    pub(super) fn synchronous(locks: &::lock_runtime::LockClient, id: u8) -> Answer {
        Answer::Ok(id)
    }
}

mod bare {
    #![no_implicit_prelude]

    type Answer = ::core::result::Result<u8, ::lock_runtime::LockError>;

    #[::lock_runtime::distributed_lock(key = "<id>", wait = "1s", client = locks)]
    pub(super) async fn asynchronous(locks: &::lock_runtime::LockClient, id: u8) -> Answer {
        Answer::Ok(id)
    }

    #[::lock_runtime::distributed_lock(key = ::std::string::ToString::to_string(&id), client = locks)]
    pub(super) fn synchronous(locks: &::lock_runtime::LockClient, id: u8) -> Answer {
        Answer::Ok(id)
    }
}

#[tokio::test]
async fn nothing_is_taken_from_the_surroundings() {
    let locks = LockClient::memory();
    assert_eq!(shadowed::asynchronous(&locks, 1).await.unwrap(), 1);
    assert_eq!(shadowed::synchronous(&locks, 1).unwrap(), 1);
    assert_eq!(bare::asynchronous(&locks, 1).await.unwrap(), 1);
    assert_eq!(bare::synchronous(&locks, 1).unwrap(), 1);
}

mod renamed {
    pub(super) use lock_runtime as platform_locks;
}

#[lock_runtime::distributed_lock(key = "renamed", client = locks, crate = crate::hygiene::renamed::platform_locks)]
async fn through_another_path(locks: &LockClient) -> Result<u8, LockError> {
    Ok(1)
}

#[tokio::test]
async fn the_runtime_crate_may_have_another_name() {
    assert_eq!(
        through_another_path(&LockClient::memory()).await.unwrap(),
        1
    );
}
