//! The text of each script, put together from the files in `lua`.
//!
//! Tests that call the scripts without a client include this file, so that they run what ships.

macro_rules! lua {
    ($($name:literal),+) => {
        concat!($(include_str!(concat!("lua/", $name, ".lua"))),+)
    };
}

// Without this, it would put a long list on a line for each name.
#[rustfmt::skip]
mod texts {
    pub(crate) const ACQUIRE: &str = lua!("limits", "take", "grant", "choose", "queue", "acquire");
    pub(crate) const RENEW: &str = lua!("renew");
    pub(crate) const RELEASE: &str = lua!("release");
    pub(crate) const END: &str = lua!("limits", "grant", "choose", "end");
    pub(crate) const MINT: &str = lua!("limits", "grant", "mint");
    pub(crate) const RESERVE: &str = lua!("reserve");
    pub(crate) const REWRITE: &str = lua!("rewrite");
    pub(crate) const RECORD_RUN: &str = lua!("record_run");
    pub(crate) const REVOKE: &str = lua!("limits", "grant", "share", "revoke");
    pub(crate) const TRIAL: &str = lua!("trial");

    pub(crate) const SHARE_ACQUIRE: &str = lua!("limits", "share_take", "grant", "queue", "share", "share_acquire");
    pub(crate) const SHARE_RENEW: &str = lua!("share_renew");
    pub(crate) const SHARE_RELEASE: &str = lua!("limits", "share_release");
    pub(crate) const SHARE_END: &str = lua!("limits", "grant", "share", "share_end");

    pub(crate) const KEYS_ACQUIRE: &str = lua!("limits", "grant", "choose", "queue", "keys_acquire");
    pub(crate) const KEYS_RENEW: &str = lua!("keys_renew");
    pub(crate) const KEYS_RELEASE: &str = lua!("keys_release");
    pub(crate) const KEYS_END: &str = lua!("limits", "grant", "choose", "keys_end");

    pub(crate) const QUORUM_ACQUIRE: &str =
        lua!("limits", "quorum_take", "grant", "choose", "queue", "quorum_node", "quorum_queue", "quorum_acquire");
    pub(crate) const QUORUM_YIELD: &str =
        lua!("limits", "grant", "choose", "queue", "quorum_node", "quorum_queue", "quorum_yield");
    pub(crate) const QUORUM_HOLD: &str = lua!("limits", "grant", "quorum_node", "quorum_hold");
    pub(crate) const QUORUM_END: &str = lua!("limits", "grant", "choose", "quorum_node", "quorum_end");
    pub(crate) const QUORUM_REVOKE: &str = lua!("limits", "grant", "choose", "quorum_node", "quorum_revoke");
    pub(crate) const QUORUM_MARK: &str = lua!("limits", "grant", "quorum_node", "quorum_mark");

    pub(crate) const REDISSON_ACQUIRE: &str = lua!("redisson_acquire");
    pub(crate) const REDISSON_RENEW: &str = lua!("redisson_renew");
    pub(crate) const REDISSON_RELEASE: &str = lua!("redisson_release");
    pub(crate) const REDISSON_REVOKE: &str = lua!("redisson_revoke");
    pub(crate) const REDISSON_TRIAL: &str = lua!("redisson_trial");
}
pub(crate) use texts::*;
