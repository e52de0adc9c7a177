//! A page that shows the locks of [`lock_runtime`], to nest in an axum service.
//!
//! It lists the locks that are held, shows one with its holders and those that wait for it, what this process holds, and what
//! operators did. All of it is also JSON. It writes nothing, unless an [operator](LockWeb::operator) is named: then a lock can
//! be taken from its holder.
//!
//! ```
//! use axum::Router;
//! use lock_runtime::LockClient;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let client = LockClient::memory();
//! let app: Router = Router::new().nest("/locks", lock_web::router(client));
//! # let _ = app; }
//! ```
//!
//! Pages are made on the server and have no script. They fit a phone, and follow a dark or light system.
//!
//! # Security
//!
//! **Nest it behind your own authentication**: it has none. A visitor who reaches it sees all keys of the client's prefix, which may
//! name customers, and labels, which name machines, processes and functions. It never shows what releases a lock.
//!
//! Keys, labels and reasons come from other programs. They are escaped, also what would reorder or hide the text around it.
//! Each answer forbids scripts, frames, and all that is not from the router itself (`Content-Security-Policy`), and is not
//! stored by browsers and proxies (`Cache-Control: no-store`).
//!
//! Each request asks the servers a bounded number of commands, and has a bounded part of the locks in memory. A `match` of more
//! than 256 bytes or 4 `*` is refused (400), since it may stop a server for long, and so is what a page of another site loads
//! (403): links from there work. It does not bound the number of requests.
//!
//! # Addresses
//!
//! | address below the nesting path | JSON | query |
//! |---|---|---|
//! | `/`, `/list` | `/api/locks` | `match`: a pattern of Redis, of at most 256 bytes and 4 `*`; `holder`: a text; `waiting=1`; `from`: where the last page ended |
//! | `/lock` | `/api/lock` | `key` |
//! | `/process` | `/api/process` | |
//! | `/audit` | `/api/audit` | `key` |
//! | `/revoke` (POST) | | `key`, `seen`; a form with `reason` and `confirm` |
//!
//! Another field, or a value that a field cannot have, is refused (400).
//!
//! An address with a query fits any key, also one with slashes. Links are relative, so the path of the nesting does not matter.
//! Where a proxy gives that path another last part, begin with `/list`.
//!
//! Fields of the JSON have the names that `lockctl --json` gives them, with times in milliseconds. They stay as they are; new
//! ones may come. Errors are `{"error": …}`.

mod base;
mod brief;
mod failure;
mod link;
mod listing;
mod lock_web;
mod operator;
mod pages;
mod plain;
mod report;
mod responses;
mod routes;
mod site;

pub use lock_web::{LockWeb, router};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
