//! One granted lock: its deadline, its renewals, its owner.

pub(crate) mod fencing_token;
#[allow(
    clippy::module_inception,
    reason = "a file has the name of its main type"
)]
mod lease;
mod loss_reason;
pub(crate) mod owner_id;
pub(crate) mod record;
mod request;
pub(crate) mod run_record;
pub(crate) mod schedule;
mod share;

pub(crate) use lease::{Lease, LeaseRef};
pub(crate) use loss_reason::{LossReason, RevocationNumber, RevokedBy};
pub(crate) use request::{Mode, Request};
pub(crate) use share::Share;
