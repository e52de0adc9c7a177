//! The configurations that the short form explores: together they take some seconds. The long form
//! checks that the list is complete.

/// The most states of a small configuration.
pub(crate) const MOST: usize = 90_000;

/// The configurations with at most that many states, by the names of their tests.
#[rustfmt::skip]
pub(crate) const NAMES: &[&str] = &[
    "torn_mixed_ttls", "clock", "foreign_holder", "eternal_foreign_holder", "deleted", "deletes_doubled",
    "deletes_deleted", "readers_renewal", "readers_of_mixed_ttls", "shares_lost", "shares_doubled", "permits_doubled",
    "shares_unsubscribed", "shares_shutdown", "shares_evicted", "shares_deleted", "shares_clock", "shares_migration",
    "shares_foreign_holder", "downgrade_writers", "downgrade_deleted", "reserve", "reserve_reader", "reserve_renewal",
    "reserve_doubled", "reserve_crash", "reserve_shutdown", "reserve_deleted", "reserve_revoked", "takes_doubled",
    "takes_clock_behind", "takes_evicted", "takes_out_of_memory", "takes_deleted", "takes_revoked",
    "several_opposite_orders", "several_renewal", "several_giving_up", "several_crash", "several_deleted", "quorum_a_break",
];
