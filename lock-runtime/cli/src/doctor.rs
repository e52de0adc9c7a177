//! Whether servers are fit for locks.

pub(crate) mod clock;
pub(crate) mod finding;
pub(crate) mod group;
pub(crate) mod info;
pub(crate) mod records;
pub(crate) mod redisson;
pub(crate) mod rights;
pub(crate) mod sample;
pub(crate) mod settings;
pub(crate) mod summary;
pub(crate) mod transport;
