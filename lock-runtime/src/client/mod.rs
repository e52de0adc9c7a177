//! Clients, and the locks that are acquired from them.
//!
//! [`LockClient`] is where locks are, [`Acquire`] asks for one, [`LockGuard`] is one that is held. All three
//! are handles of one [`Core`](core::Core).

mod acquire;
pub(crate) mod body_end;
mod builder;
mod core;
mod guard;
mod holder_labels;
mod lock_client;
pub mod testing;
#[cfg(feature = "tls")]
mod tls;

pub use acquire::Acquire;
pub use builder::LockClientBuilder;
pub use guard::LockGuard;
pub use lock_client::LockClient;
