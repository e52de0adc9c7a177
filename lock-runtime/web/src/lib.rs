//! Web pages that show the locks of [`lock_runtime`], to nest in an axum service.
//!
//! They list all held locks, one lock with its holders and waiters, the locks of this process, and the audit of operators.
//! Everything is also available as JSON. The pages write nothing, unless you name [operators](LockWeb::operator), who can revoke
//! locks.
//!
//! ```
//! use axum::Router;
//! use lock_runtime::LockClient;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let client = LockClient::memory();
//! let app: Router = Router::new().nest_service("/locks", lock_web::router(client));
//! # let _ = app; }
//! ```
//!
//! `nest_service` serves `/locks`, `/locks/` and everything below. With `nest`, axum takes `/locks/` for another address, and answers
//! 404.
//!
//! Pages are rendered on the server and need no script. They fit a phone, and follow a dark or light system.
//!
//! # Security
//!
//! **Nest it behind your own authentication**: it has none. A visitor sees all keys of the client's prefix, which may name customers,
//! and labels, which name machines, processes and functions. It never shows an owner id, which would release a lock.
//!
//! Keys, labels and reasons come from other programs. They are escaped, including characters that would reorder or hide the text
//! around them. Each response forbids scripts, frames and third-party content (`Content-Security-Policy`), and must not be cached
//! (`Cache-Control: no-store`).
//!
//! Each request sends a bounded number of commands, and keeps a bounded part of the locks in memory. A `match` of more than 256
//! bytes or 4 `*` is refused (400), since it may block a server for long. A request from another site's page is refused (403),
//! but a link from there works. The number of requests is not bounded.
//!
//! # Addresses
//!
//! | address below the nesting path | JSON | query | fields |
//! |---|---|---|---|
//! | `/`, `/list` | `/api/locks` | `match`: a Redis pattern of at most 256 bytes and 4 `*`; `holder`: a text; `waiting=1`; `from`: the position where the last page ended | `locks`; `next`: the position where the page ended, `null` after the last |
//! | `/lock` | `/api/lock` | `key` | those of the lock |
//! | | `/api/runs` | `key` | `runs`: those of [`LockClient::runs`](lock_runtime::LockClient::runs), which the page of the lock shows |
//! | `/process` | `/api/process` | | `held`; `more`: how many further locks this process holds |
//! | `/audit` | `/api/audit` | `key` | `entries`, the newest first; `more`: whether older ones are left out |
//! | `/revoke` (POST) | | `key`, `reference`; a form with `reason` and `confirm` | |
//!
//! An unknown field or an invalid value is refused (400).
//!
//! A key is passed in the query, so it may contain slashes. Links are relative, so the nesting path does not matter. If a proxy
//! changes the last segment of that path, begin with `/list`.
//!
//! A lock, a held lock and an entry of the audit have the [fields](lock_runtime::inspect#as-json) of `lockctl --json`. All fields
//! are stable, and new ones may be added. Errors are `{"error": …}`.

mod base;
mod brief;
mod failure;
mod link;
mod listing;
mod lock_web;
mod operator;
mod pages;
mod plain;
mod responses;
mod routes;
mod site;

pub use lock_web::{LockWeb, router};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
