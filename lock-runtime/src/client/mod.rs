//! Clients, and the locks that are acquired from them.
//!
//! [`LockClient`] connects to the store that keeps the locks, [`Acquire`] asks for a lock, [`LockGuard`] is a held
//! lock. All three are handles of one [`Core`](core::Core).

mod acquire;
mod audit;
#[cfg(feature = "redis")]
mod beside_redis;
pub(crate) mod body_end;
mod builder;
pub(crate) mod campaign;
mod changing_credentials;
mod core;
mod guard;
mod held_locks;
mod holder_labels;
mod installed;
mod lock_client;
mod lock_order;
mod lock_watch;
mod locks;
mod operations;
mod revoking;
mod shutdown_report;
pub mod testing;
#[cfg(feature = "tls")]
mod tls;

pub use acquire::{Access, Acquire, CallOptions, OnBusy};
pub use audit::Audit;
pub use builder::LockClientBuilder;
pub use campaign::{Campaign, Campaigning, Standing, campaign};
pub use guard::LockGuard;
pub use held_locks::Claim;
pub use lock_client::LockClient;
pub use lock_watch::Watch;
pub use locks::Locks;
pub use shutdown_report::ShutdownReport;
