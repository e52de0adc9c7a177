//! What the page `lock_runtime::docs::security` promises, except for what is never shown: that is
//! in `errors`.

mod keys;
mod memory;
mod rights;

/// The page.
const PAGE: &str = include_str!("../../../../lock-runtime/src/docs/security.md");
const README: &str = include_str!("../../../../README.md");
