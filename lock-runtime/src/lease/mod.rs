//! One granted lock: its deadline, its renewals, its owner.

pub(crate) mod fencing_token;
#[allow(
    clippy::module_inception,
    reason = "a file has the name of its main type"
)]
mod lease;
mod lease_ref;
mod loss_reason;
mod mode;
pub(crate) mod owner_id;
pub(crate) mod record;
mod request;
pub(crate) mod revoked_by;
pub(crate) mod schedule;
mod share;

pub(crate) use lease::Lease;
pub(crate) use lease_ref::LeaseRef;
pub(crate) use loss_reason::LossReason;
pub(crate) use mode::Mode;
pub(crate) use request::Request;
pub(crate) use share::Share;
