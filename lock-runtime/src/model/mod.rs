//! Pure parts: no runtime, no Redis, no clock is read here; time is an argument.

pub(crate) mod key;
pub(crate) mod lease;
pub(crate) mod moment;
pub(crate) mod owner;
pub(crate) mod record;
pub(crate) mod token;
